# The page of --report, made from web/ by esbuild. tools/setup installs Node.js and what web/package-lock.json
# pins; nothing is fetched here.
set(web_folder ${CMAKE_SOURCE_DIR}/web)
find_program(NODE NAMES node nodejs)
if(NOT NODE)
  message(FATAL_ERROR "node is missing, which makes the page of --report from web/. "
                      "Install Debian's nodejs and npm (tools/setup build does), then configure again.")
endif()
if(NOT EXISTS ${web_folder}/node_modules/esbuild/package.json OR NOT EXISTS ${web_folder}/node_modules/echarts/package.json)
  message(FATAL_ERROR "The packages in web/package-lock.json are not installed. Run 'tools/setup build', "
                      "or with npm: npm ci --ignore-scripts --prefix web. Then configure again.")
endif()

#   build_page(<file>)  ->  a rule that makes it
function(build_page output)
  file(GLOB sources CONFIGURE_DEPENDS ${web_folder}/src/*)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${NODE} ${web_folder}/build.mjs ${output}
    DEPENDS ${sources} ${web_folder}/build.mjs ${web_folder}/package-lock.json
    COMMENT "Bundling the page of --report"
    VERBATIM)
endfunction()

# Puts every file below a folder into the binary, as a table of (path, text) sorted by path:
#   embed_files(<target> <name> <folder>)  ->  #include "embedded_<name>.h", infold::embedded::<name>()
function(embed_files target name folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*)
  list(SORT files)
  set(out ${CMAKE_BINARY_DIR}/embedded)
  set(absolute "")
  foreach(file IN LISTS files)
    list(APPEND absolute ${folder}/${file})
  endforeach()
  add_custom_command(
    OUTPUT ${out}/embedded_${name}.cpp ${out}/embedded_${name}.h
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DFOLDER=${folder} -DOUT=${out} "-DFILES=${files}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    DEPENDS ${absolute} ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out}/embedded_${name}.cpp)
  target_include_directories(${target} PRIVATE ${out})
endfunction()

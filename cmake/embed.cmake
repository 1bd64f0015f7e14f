# Puts files into the binary, as a table of (path, text) in the order of their paths:
#   embed_files(<target> <name> <folder>)
# ->  #include "embedded_<name>.h", infold::embedded::<name>()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/embedded/embedded_file.h CONTENT "#pragma once
#include <string_view>
namespace infold::embedded {
struct File { std::string_view path; std::string_view text; };
}  // namespace infold::embedded
" @ONLY)

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
  # Each has constants of the same names, so none shares a translation unit with another.
  set_source_files_properties(${out}/embedded_${name}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${out}/embedded_${name}.cpp)
  target_include_directories(${target} PRIVATE ${out})
endfunction()

# A room is a library of the files in src/<room>/ and its folders. Its headers are reached as "<room>/file.h" through a
# folder that holds this room alone, so a room can include only itself and the rooms it was given:
# an include of a lower room does not compile.
function(add_room room)
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.cpp)
  if(INFOLD_FUZZ)
    keep_what_readers_need(${room} sources)
  endif()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/rooms/${room})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${room} ${CMAKE_BINARY_DIR}/rooms/${room}/${room} SYMBOLIC)
  if(sources)
    add_library(room_${room} STATIC ${sources})
    set(scope PUBLIC)
    if(NOT INFOLD_FUZZ)
      precompile_for_room(${room})
    endif()
  else()
    add_library(room_${room} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(room_${room} ${scope} ${CMAKE_BINARY_DIR}/rooms/${room})
  foreach(above IN LISTS ARG_USES)
    if(above)
      target_link_libraries(room_${room} ${scope} room_${above})
    endif()
  endforeach()
endfunction()

# What nearly every file includes, compiled once for all rooms. Files still name all they use: clang-tidy and the fuzzer's build
# go without it.
function(precompile_for_room room)
  set(common <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view> <tuple> <utility>
      <variant> <vector> <fmt/format.h>)
  if(room STREQUAL "sim")
    target_precompile_headers(room_${room} PRIVATE ${common})
  elseif(room STREQUAL "cli")
    target_precompile_headers(room_${room} PRIVATE ${common} <CLI/CLI.hpp>)  # half of what a command takes to compile
  else()
    target_precompile_headers(room_${room} REUSE_FROM room_sim)
  endif()
endfunction()

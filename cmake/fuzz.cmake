# What the readers of files need of the rooms with many files; the other rooms are taken whole. The fuzzer is built with clang
# and sanitizers, in CI too, and the rest would double the time that takes. An entry is a file or a whole folder. When linking
# fuzz-reader misses something, its file belongs here.
set(fuzz_coll algo program)
set(fuzz_work check graph kernel order)
set(fuzz_train graph graph_attention graph_layers layers shape)
set(fuzz_study check prepared_system campaign/command_run campaign/sweep)

function(keep_what_readers_need room sources)
  if(NOT DEFINED fuzz_${room})
    return()
  endif()
  set(kept "")
  foreach(name IN LISTS fuzz_${room})
    set(path ${CMAKE_SOURCE_DIR}/src/${room}/${name})
    if(IS_DIRECTORY ${path})
      file(GLOB files CONFIGURE_DEPENDS ${path}/*.cpp)
      list(APPEND kept ${files})
    else()
      list(APPEND kept ${path}.cpp)
    endif()
  endforeach()
  set(${sources} ${kept} PARENT_SCOPE)
endfunction()

# What the readers of files need of the rooms with many files; the other rooms are taken whole. The fuzzer is built with clang
# and sanitizers, in CI too, and the rest would double the time that takes. When linking fuzz-reader misses something, its file
# belongs here.
set(fuzz_coll algorithms ccube checker contributions direct halving_doubling hierarchical inc_pull inc_push levels nvls program ring
    ring_search rings step_check tree trees two_shot)
set(fuzz_train graph graph_layers layers shape)
set(fuzz_study check sweep)

function(keep_what_readers_need room sources)
  if(NOT DEFINED fuzz_${room})
    return()
  endif()
  list(TRANSFORM fuzz_${room} PREPEND ${CMAKE_SOURCE_DIR}/src/${room}/)
  list(TRANSFORM fuzz_${room} APPEND .cpp)
  set(${sources} ${fuzz_${room}} PARENT_SCOPE)
endfunction()

# Messages of a .proto file as a library, made by protoc:
#   add_messages(<target> <file.proto>)  ->  #include "<file>.pb.h"
find_package(Protobuf)
if(NOT Protobuf_FOUND OR NOT TARGET protobuf::protoc)
  message(FATAL_ERROR "protoc or its library is missing, which --trace is written with. Install Debian's "
                      "protobuf-compiler and libprotobuf-dev (tools/setup build does), then configure again.")
endif()

function(add_messages target file)
  get_filename_component(name ${file} NAME_WE)
  get_filename_component(folder ${file} DIRECTORY)
  set(out ${CMAKE_BINARY_DIR}/messages)
  file(MAKE_DIRECTORY ${out})
  add_custom_command(
    OUTPUT ${out}/${name}.pb.cc ${out}/${name}.pb.h
    COMMAND protobuf::protoc --cpp_out=${out} --proto_path=${folder} ${file}
    DEPENDS ${file}
    VERBATIM)
  add_library(${target} STATIC ${out}/${name}.pb.cc ${out}/${name}.pb.h)
  target_compile_options(${target} PRIVATE -w)  # not ours to mend
  target_include_directories(${target} SYSTEM INTERFACE ${out})
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf-lite)
endfunction()

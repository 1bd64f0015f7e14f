# Run by embed.cmake: writes embedded_<NAME>.h and .cpp from the FILES below FOLDER. All of them share embedded_file.h.
file(WRITE ${OUT}/embedded_${NAME}.h "#pragma once
#include <span>
#include \"embedded_file.h\"
namespace infold::embedded {
std::span<const File> ${NAME}();
}  // namespace infold::embedded
")
# An array knows its length; counting that of a long literal is more than a compiler will do.
set(texts "")
set(rows "")
set(count 0)
foreach(file IN LISTS FILES)
  file(READ ${FOLDER}/${file} text)
  string(APPEND texts "constexpr char kText${count}[] = R\"infold(${text})infold\";\n")
  string(APPEND rows "    {\"${file}\", {kText${count}, sizeof(kText${count}) - 1}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUT}/embedded_${NAME}.cpp "#include \"embedded_${NAME}.h\"
namespace infold::embedded {
namespace {
${texts}constexpr File kFiles[] = {
${rows}};
}  // namespace
std::span<const File> ${NAME}() { return kFiles; }
}  // namespace infold::embedded
")

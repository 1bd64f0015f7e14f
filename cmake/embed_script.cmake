# Run by embed.cmake: writes embedded_<NAME>.h and .cpp from the FILES below FOLDER.
file(WRITE ${OUT}/embedded_${NAME}.h "#pragma once
#include <span>
#include <string_view>
namespace infold::embedded {
struct File { std::string_view path; std::string_view text; };
std::span<const File> ${NAME}();
}  // namespace infold::embedded
")
set(rows "")
foreach(file IN LISTS FILES)
  file(READ ${FOLDER}/${file} text)
  string(APPEND rows "    {\"${file}\", R\"infold(${text})infold\"},\n")
endforeach()
file(WRITE ${OUT}/embedded_${NAME}.cpp "#include \"embedded_${NAME}.h\"
namespace infold::embedded {
namespace {
constexpr File kFiles[] = {
${rows}};
}  // namespace
std::span<const File> ${NAME}() { return kFiles; }
}  // namespace infold::embedded
")

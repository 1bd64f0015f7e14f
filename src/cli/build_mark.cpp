// FNV-1a over bytes, which is enough to tell builds apart where there is no attacker.
#include "cli/build_mark.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <fstream>

#include "cli/app.h"
#include "config/program_file.h"
#include "config/yaml/source.h"

namespace infold::cli {

namespace {

class Mark {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) {
      hash_ ^= static_cast<unsigned char>(c);
      hash_ *= 1099511628211U;
    }
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 14695981039346656037U;
};

}  // namespace

std::string build_mark(const std::set<std::string>& files) {
  Mark program;
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::array<char, 65536> buffer{};
  while (self.read(buffer.data(), buffer.size()) || self.gcount() > 0)
    program.add({buffer.data(), static_cast<std::size_t>(self.gcount())});
  std::string text = fmt::format("{} ({})", kVersion, program.text());
  if (files.empty()) return text;
  Mark contents;
  for (const std::string& file : files) {
    const auto source = config::read_source(file, config::kLargestProgram);
    contents.add(file);
    if (source) contents.add(source->text);
  }
  return text + fmt::format(", files {}", contents.text());
}

}  // namespace infold::cli

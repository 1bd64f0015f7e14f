// Fuzzes a reader of files, which INFOLD_READER names: any bytes must be taken, or refused with one line,
// without a crash, a hang or a leak. An input is a file as a user would have it.
#include "support/format_readers.h"

#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace {

/// Readers take files: one of our own in memory, gone when we are.
class Scratch {
 public:
  Scratch() : path_("/dev/shm/infold-fuzz-" + std::to_string(getpid()) + ".yaml") {}
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& write(const std::uint8_t* data, std::size_t size) {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    return path_;
  }

 private:
  std::string path_;
};

const infold::config::NamedReader& chosen() {
  const char* name = std::getenv("INFOLD_READER");
  for (const auto& reader : infold::config::kReaders) {
    if (name != nullptr && reader.name == name) return reader;
  }
  for (const auto& reader : infold::formats::kFormatReaders) {
    if (name != nullptr && reader.name == name) return reader;
  }
  std::cerr << "fuzz-reader: INFOLD_READER must be one of";
  for (const auto& reader : infold::config::kReaders) std::cerr << ' ' << reader.name;
  for (const auto& reader : infold::formats::kFormatReaders) std::cerr << ' ' << reader.name;
  std::cerr << '\n';
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const infold::config::NamedReader& reader = chosen();
  static Scratch scratch;
  const std::string refusal = reader.refusal(scratch.write(data, size));
  if (!infold::config::is_one_line(refusal)) {
    std::cerr << "fuzz-reader: not one line a terminal can show: " << refusal << '\n';
    std::abort();
  }
  return 0;
}

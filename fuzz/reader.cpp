// Fuzzes a reader of files, which INFOLD_READER names: any bytes must be taken or refused, without a crash, a
// hang or a leak. An input is a file as a user would have it.
#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "config/catalog.h"
#include "config/program_file.h"
#include "config/study_file.h"
#include "config/sweep_file.h"
#include "config/tuning_file.h"
#include "config/validation_file.h"
#include "study/check.h"

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

using Reader = void (*)(const std::string& path);
const std::map<std::string, Reader> kReaders = {
    {"gpu", [](const std::string& path) { (void)infold::config::load_gpu(path); }},
    {"model", [](const std::string& path) { (void)infold::config::load_model(path); }},
    {"program", [](const std::string& path) { (void)infold::config::load_program(path); }},
    {"study", [](const std::string& path) { (void)infold::config::load_study(path); }},
    {"sweep", [](const std::string& path) { (void)infold::config::load_sweep(path); }},
    {"system",
     [](const std::string& path) { (void)infold::config::load_system(path, infold::study::check); }},
    {"tuning", [](const std::string& path) { (void)infold::config::load_tuning(path); }},
    {"validation", [](const std::string& path) { (void)infold::config::load_validation(path); }},
};

Reader chosen() {
  const char* name = std::getenv("INFOLD_READER");
  const auto found = kReaders.find(name == nullptr ? "" : name);
  if (found != kReaders.end()) return found->second;
  std::cerr << "fuzz-reader: INFOLD_READER must be one of";
  for (const auto& [known, reader] : kReaders) std::cerr << ' ' << known;
  std::cerr << '\n';
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Reader reader = chosen();
  static Scratch scratch;
  reader(scratch.write(data, size));
  return 0;
}

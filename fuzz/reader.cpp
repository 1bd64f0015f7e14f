// Fuzzes the readers of files: any bytes must be taken or refused, without a crash, a hang or a leak. The
// first byte picks the reader, so that one corpus serves all.
#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "config/catalog.h"
#include "config/program_file.h"
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
    for (std::size_t i = 0; i < size; ++i) out.put(static_cast<char>(data[i]));
    return path_;
  }

 private:
  std::string path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infold;
  static Scratch scratch;
  if (size == 0) return 0;
  const std::string& path = scratch.write(data + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      (void)config::load_system(path, study::check);
      break;
    case 1:
      (void)config::load_gpu(path);
      break;
    case 2:
      (void)config::load_model(path);
      break;
    case 3:
      (void)config::load_program(path);
      break;
    case 4:
      (void)config::load_tuning(path);
      break;
    default:
      (void)config::load_validation(path);
      break;
  }
  return 0;
}

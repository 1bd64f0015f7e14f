// The standard library follows links only to files that exist, so the last links are followed here.
#include "sim/file_behind.h"

#include <system_error>

namespace infold::sim {

std::filesystem::path file_behind(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // the limit of the operating system
  std::filesystem::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error) break;  // it is not a link
    at = at.parent_path() / target;
  }
  std::filesystem::path file = std::filesystem::weakly_canonical(at, error);
  return error ? path : file;
}

}  // namespace infold::sim

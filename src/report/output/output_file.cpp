// Writes files by way of a temporary file in the same folder.
#include "report/output/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "sim/file_behind.h"

namespace infold::report {

namespace {

sim::Failure because(const std::string& path) {
  return sim::fail(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

/// Whether standard output goes to this file, in which case it would be lost with the file that is replaced.
bool is_standard_stream(const std::filesystem::path& path) {
  struct stat file {};
  struct stat stream {};
  if (stat(path.c_str(), &file) != 0) return false;
  for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
    if (fstat(number, &stream) == 0 && stream.st_dev == file.st_dev && stream.st_ino == file.st_ino)
      return true;
  }
  return false;
}

/// Lets others read it like any file of this user; a temporary file is private at first.
void use_default_rights(int file) {
  const mode_t mask = umask(0);
  umask(mask);
  // If the rights cannot be set, it is still a file of the user.
  [[maybe_unused]] const int done = fchmod(file, 0666 & ~mask);
}

/// The path of a file that has no name yet.
std::string way_to(int file) {
  return fmt::format("/proc/self/fd/{}", file);
}

/// Opens a file without a name in the folder of `target`, so that nothing of it is left behind, whatever ends
/// the program. Returns -1 if the file system has no such files, or if it could not be given a name later.
int open_nameless(const std::filesystem::path& target) {
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const int file = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0 && access(way_to(file).c_str(), F_OK) != 0) {
    close(file);
    return -1;
  }
  return file;
}

/// Gives the file a name beside its place, because only a file with a name can replace another. Returns an
/// empty string if that does not work.
std::string name_beside(int file, const std::string& path) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    std::string name = fmt::format("{}.{:06}", path, (getpid() * 131 + i) % 1'000'000);
    if (linkat(AT_FDCWD, way_to(file).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

}  // namespace

sim::Result<OutputFile> OutputFile::open(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) return sim::fail("cannot write a file without a name");
  std::error_code error;
  // A link stays, and the file that it leads to is replaced.
  const fs::path target = sim::file_behind(path);
  const fs::file_status status = fs::status(target, error);
  if (status.type() == fs::file_type::none)
    return sim::fail(fmt::format("cannot write {}: {}", path, error.message()));
  if (fs::is_directory(status)) return sim::fail(fmt::format("cannot write {}: it is a folder", path));
  // Putting a file in the place of a device would take the device away.
  if (fs::exists(status) && !fs::is_regular_file(status))
    return sim::fail(fmt::format("cannot write {}: it is not a file", path));
  if (is_standard_stream(target))
    return sim::fail(fmt::format("cannot write {}: other output goes there", path));
  if (fs::exists(status) && access(target.c_str(), W_OK) != 0) return because(path);
  if (const int file = open_nameless(target); file >= 0) {
    use_default_rights(file);
    return OutputFile(file, {}, target.string());
  }
  std::string temporary = fmt::format("{}.XXXXXX", target.string());
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return because(path);
  use_default_rights(file);
  return OutputFile(file, std::move(temporary), target.string());
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      temporary_(std::exchange(other.temporary_, {})),
      path_(std::move(other.path_)) {}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

sim::Status OutputFile::commit(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return because(path_);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (temporary_.empty()) temporary_ = name_beside(file_, path_);
  if (temporary_.empty()) return because(path_);
  if (close(std::exchange(file_, -1)) != 0) return because(path_);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return because(path_);
  temporary_.clear();
  return {};
}

}  // namespace infold::report

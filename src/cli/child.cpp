// Fork, exec and two pipes.
#include "cli/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>

#include "cli/app.h"
#include "cli/interrupt.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has no header for it

namespace infold::cli {

namespace {

/// Milliseconds after which to see whether somebody wants us to stop.
constexpr int kLookAround = 100;
constexpr std::size_t kLargestOutput = std::size_t{64} << 20;

/// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

/// False at its end. What is too long is read and dropped, so that the child does not hang.
bool read_some(Descriptor& from, std::string& to) {
  std::array<char, 65536> buffer;  // NOLINT(*-member-init): read() fills it
  const ssize_t n = ::read(from.get(), buffer.data(), buffer.size());
  if (n < 0) return errno == EINTR;
  if (n > 0 && to.size() < kLargestOutput) to.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0;
}

}  // namespace

std::vector<std::string> words_of(std::string_view command) {
  std::istringstream in{std::string(command)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

ChildResult run_child(const std::vector<std::string>& words) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return {kFailed, "", "no pipe"};
  Descriptor out_read(out[0]);
  Descriptor out_write(out[1]);
  if (::pipe2(err.data(), O_CLOEXEC) != 0) return {kFailed, "", "no pipe"};
  Descriptor err_read(err[0]);
  Descriptor err_write(err[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out_write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err_write.get(), STDERR_FILENO);
  std::vector<std::string> copies = words;
  std::string name = "infold";
  std::vector<char*> arguments{name.data()};
  for (std::string& w : copies) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {kFailed, "", "infold can not start itself"};
  out_write.close();
  err_write.close();

  ChildResult result;
  bool out_open = true;
  bool err_open = true;
  bool told = false;  // to stop
  while (out_open || err_open) {
    std::array<pollfd, 2> fds{
        {{out_open ? out_read.get() : -1, POLLIN, 0}, {err_open ? err_read.get() : -1, POLLIN, 0}}};
    const int ready = ::poll(fds.data(), fds.size(), kLookAround);
    if (interrupted() && !told) {
      ::kill(pid, SIGTERM);
      told = true;
    }
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    if (fds[0].revents != 0) out_open = read_some(out_read, result.out);
    if (fds[1].revents != 0) err_open = read_some(err_read, result.err);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit = WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(kFailed);
  return result;
}

}  // namespace infold::cli

// Fork, exec and two pipes.
#include "cli/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/named_files.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has no header for it

namespace infold::cli {

namespace {

/// Milliseconds between checks whether the run must stop.
constexpr int kLookAround = 100;
constexpr std::size_t kLargestOutput = std::size_t{64} << 20;

/// A file descriptor that closes itself.
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

/// Returns false at the end of the stream. Output beyond the limit is read and dropped, so that the child
/// does not block.
bool read_some(Descriptor& from, std::string& to) {
  std::array<char, 65536> buffer;  // NOLINT(*-member-init): read() fills it
  const ssize_t n = ::read(from.get(), buffer.data(), buffer.size());
  if (n < 0) return errno == EINTR;
  if (n > 0 && to.size() < kLargestOutput) to.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0;
}

/// Runs in the child, where locks of other threads may be held forever: only system calls are allowed.
[[noreturn]] void become(char* const* arguments, pid_t parent, int out, int err) {
  // A parent that is killed cannot end its children itself.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent && ::dup2(out, STDOUT_FILENO) >= 0 && ::dup2(err, STDERR_FILENO) >= 0)
    ::execve("/proc/self/exe", arguments, environ);
  ::_exit(kFailed);
}

/// The first line that a child wrote to standard error, without the program's name. Lines of progress do not
/// count.
std::string complaint_in(std::string_view err) {
  constexpr std::string_view kOwn = "infold: ";
  while (err.starts_with("# ")) {
    const std::size_t end = err.find('\n');
    err = end == std::string_view::npos ? std::string_view{} : err.substr(end + 1);
  }
  std::string line(err.substr(0, err.find('\n')));
  return line.starts_with(kOwn) ? line.substr(kOwn.size()) : line;
}

study::CommandRun::End end_of(int exit, int signal) {
  using End = study::CommandRun::End;
  if (signal == SIGKILL || signal == SIGTERM || signal == SIGINT || exit == kInterrupted)
    return End::kStopped;
  if (exit == kDone) return End::kDone;
  return exit == kBadInput ? End::kRefused : End::kFailed;
}

study::CommandRun not_started(const std::string& why) {
  return {.end = study::CommandRun::End::kStopped, .exit = kFailed, .out = {}, .complaint = why};
}

}  // namespace

sim::Status check_command(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 4> kMay = {"bench", "train", "compare", "explain"};
  if (words.empty() || std::ranges::find(kMay, words.front()) == kMay.end()) {
    return sim::fail(fmt::format("a file may run {}, not '{}'", fmt::join(kMay, ", "),
                                 words.empty() ? "" : words.front()));
  }
  for (const std::string_view writes : kOutputs) {
    const auto is = [&](const std::string& w) {
      return w == writes || w.starts_with(fmt::format("{}=", writes));
    };
    if (std::ranges::any_of(words, is))
      return sim::fail(fmt::format("{} writes a file, a command in a file may not", writes));
  }
  return check_words(words);
}

study::CommandRun run_child(const std::vector<std::string>& words) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return not_started("no pipe");
  Descriptor out_read(out[0]);
  Descriptor out_write(out[1]);
  if (::pipe2(err.data(), O_CLOEXEC) != 0) return not_started("no pipe");
  Descriptor err_read(err[0]);
  Descriptor err_write(err[1]);

  std::vector<std::string> copies = words;
  std::string name = "infold";
  std::vector<char*> arguments{name.data()};
  for (std::string& w : copies) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return not_started("infold cannot start itself");
  if (pid == 0) become(arguments.data(), parent, out_write.get(), err_write.get());
  out_write.close();
  err_write.close();

  study::CommandRun result;
  std::string complaints;
  bool out_open = true;
  bool err_open = true;
  bool told = false;  // whether it was told to stop
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
    if (fds[1].revents != 0) err_open = read_some(err_read, complaints);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit = WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(kFailed);
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.end = end_of(result.exit, result.signal);
  result.complaint = complaint_in(complaints);
  return result;
}

}  // namespace infold::cli

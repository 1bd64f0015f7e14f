// Draws the progress line.
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "cli/systems.h"

namespace infold::cli {

namespace {

std::string duration(double seconds) {
  const std::int64_t s = std::lround(seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

}  // namespace

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0), next_(Clock::now() + std::chrono::seconds(1)) {}

void Progress::show(const std::string& what, double share) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  share = std::clamp(share, 0.0, 1.0);
  if (share < last_) {
    begun_ = now;
    first_ = share;
  }
  last_ = share;
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(share * kWidth);
  complain(fmt::format("\r\033[K{} [{:=<{}}{: <{}}] {:.{}f} %", what, "", filled, "", kWidth - filled,
                       share * 100, share < 0.1 ? 2 : 0));
  // The first moments of a run say little about the rest.
  const std::chrono::duration<double> spent = now - begun_;
  if (share > first_ && spent > std::chrono::seconds(2))
    complain(fmt::format(", {} left", duration(spent.count() / (share - first_) * (1 - share))));
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  complain("\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace infold::cli

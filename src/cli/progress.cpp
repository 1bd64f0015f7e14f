// Draws the progress line.
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "cli/options/systems.h"

namespace infold::cli {

namespace {

/// Shares of many parts at the same time are sums, which rounding can make smaller by this much.
constexpr double kRounding = 1e-9;

std::string duration(double seconds) {
  const std::int64_t s = std::lround(seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

}  // namespace

Progress::Progress()
    : terminal_(isatty(STDERR_FILENO) != 0),
      drawer_([this](const std::stop_token& stop) { keep_drawing(stop); }) {}

Progress::~Progress() {
  clear();
}

void Progress::show(const std::string& what, double share) {
  const std::lock_guard lock(mutex_);
  share = std::clamp(share, 0.0, 1.0);
  if (!busy_ || !known_ || share < share_ - kRounding) {
    begun_ = Clock::now();
    first_ = share;
  }
  busy_ = true;
  known_ = true;
  share_ = share;
  what_ = what;
}

void Progress::show(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (!busy_ || known_) begun_ = Clock::now();
  busy_ = true;
  known_ = false;
  what_ = what;
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  busy_ = false;
  if (drawn_) {
    complain("\r\033[K");
    std::fflush(stderr);
  }
  drawn_ = false;
}

void Progress::keep_drawing(const std::stop_token& stop) {
  const auto often = terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10'000);
  std::unique_lock lock(mutex_);
  // A task that is over within a second needs no line.
  wake_.wait_for(lock, stop, terminal_ ? std::chrono::milliseconds(1000) : often, [] { return false; });
  while (!stop.stop_requested()) {
    if (busy_) draw_line(Clock::now());
    wake_.wait_for(lock, stop, often, [] { return false; });
  }
}

std::string Progress::left(Clock::time_point now) const {
  // The first moments of a run say little about the rest.
  const std::chrono::duration<double> spent = now - begun_;
  if (share_ <= first_ || spent < std::chrono::seconds(2)) return {};
  return fmt::format(", {} left", duration(spent.count() / (share_ - first_) * (1 - share_)));
}

void Progress::draw_line(Clock::time_point now) {
  const std::string spent = duration(std::chrono::duration<double>(now - begun_).count());
  if (!known_) {
    complain(terminal_ ? fmt::format("\r\033[K{}: for {}", what_, spent)
                       : fmt::format("# {}: under way for {}\n", what_, spent));
    std::fflush(stderr);
    drawn_ = terminal_;
    return;
  }
  const std::string percent = fmt::format("{:.{}f} %", share_ * 100, share_ < 0.1 ? 2 : 0);
  if (!terminal_) {
    complain(fmt::format("# {}: {} after {}{}\n", what_, percent, spent, left(now)));
    return;
  }
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(share_ * kWidth);
  complain(fmt::format("\r\033[K{} [{:=<{}}{: <{}}] {}{}", what_, "", filled, "", kWidth - filled, percent,
                       left(now)));
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace infold::cli

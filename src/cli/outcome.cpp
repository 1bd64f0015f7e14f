// A deadlock in words.
#include "cli/outcome.h"

namespace infold::cli {

int report_deadlock(const std::string& label, const study::Deadlock& deadlock) {
  constexpr std::size_t kMost = 40;
  fmt::print(stderr, "infold: {}{}nothing can happen any more and work is unfinished\n", label,
             label.empty() ? "" : ": ");
  for (std::size_t i = 0; i < deadlock.waiting.size() && i < kMost; ++i)
    fmt::print(stderr, "  {}\n", deadlock.waiting[i]);
  if (deadlock.waiting.size() > kMost)
    fmt::print(stderr, "  ... and {} more\n", deadlock.waiting.size() - kMost);
  return kFailed;
}

}  // namespace infold::cli

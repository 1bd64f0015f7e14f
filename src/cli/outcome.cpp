// Describes a deadlock in words.
#include "cli/outcome.h"

#include <fmt/format.h>

#include "cli/systems.h"

namespace infold::cli {

int report_deadlock(const std::string& label, const study::Deadlock& deadlock) {
  constexpr std::size_t kMost = 40;
  complain(fmt::format("infold: {}{}nothing can happen any more and work is unfinished\n", label,
                       label.empty() ? "" : ": "));
  for (std::size_t i = 0; i < deadlock.waiting.size() && i < kMost; ++i)
    complain(fmt::format("  {}\n", deadlock.waiting[i]));
  if (deadlock.waiting.size() > kMost)
    complain(fmt::format("  ... and {} more\n", deadlock.waiting.size() - kMost));
  return kFailed;
}

}  // namespace infold::cli

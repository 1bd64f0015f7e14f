// Errors in words.
#include "cli/outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/app.h"
#include "cli/systems.h"

namespace infold::cli {

namespace {

/// What was typed may hold anything, and is repeated in messages.
int complain_in_one_line(std::string line) {
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  complain(line + '\n');
  return kBadInput;
}

int report_deadlock(const sim::Error& error, const std::string& label) {
  constexpr std::size_t kMost = 40;
  const std::vector<std::string>& waiting = error.details;
  complain(fmt::format("infold: {}{}{}\n", label, label.empty() ? "" : ": ", error.message));
  for (std::size_t i = 0; i < waiting.size() && i < kMost; ++i) complain(fmt::format("  {}\n", waiting[i]));
  if (waiting.size() > kMost) complain(fmt::format("  ... and {} more\n", waiting.size() - kMost));
  return kFailed;
}

}  // namespace

int bad_input(const std::string& message) {
  return complain_in_one_line(fmt::format("infold: {}", message));
}

int failure(const sim::Error& error, const std::string& label) {
  switch (error.kind) {
    case sim::Error::Kind::kInterrupted:
      return kInterrupted;
    case sim::Error::Kind::kDeadlock:
      return report_deadlock(error, label);
    case sim::Error::Kind::kInput:
      break;
  }
  if (!error.place.file.empty()) return complain_in_one_line(to_string(error));
  return bad_input(label.empty() ? error.message : fmt::format("{}: {}", label, error.message));
}

}  // namespace infold::cli

// Turns errors into text.
#include "cli/outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/app.h"
#include "cli/options/systems.h"

namespace infold::cli {

namespace {

int complain_in_one_line(const std::string& line) {
  complain(printable(line) + '\n');
  return kBadInput;
}

int report_deadlock(const sim::Error& error, const std::string& label) {
  constexpr std::size_t kMost = 40;
  const std::vector<std::string>& waiting = error.details;
  complain_in_one_line(fmt::format("infold: {}{}{}", label, label.empty() ? "" : ": ", error.message));
  for (std::size_t i = 0; i < waiting.size() && i < kMost; ++i)
    complain_in_one_line(fmt::format("  {}", waiting[i]));
  if (waiting.size() > kMost) complain(fmt::format("  ... and {} more\n", waiting.size() - kMost));
  return kFailed;
}

}  // namespace

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return text;
}

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

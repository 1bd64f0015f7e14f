// Turns the end of a command into what the store keeps.
#include "study/campaign/point_run.h"

#include <fmt/format.h>

#include <utility>

namespace infold::study {

std::vector<std::string> words_of_point(std::vector<std::string> words) {
  // Points already run side by side, so each uses one thread.
  if (words.front() == "compare" || words.front() == "explain") words.insert(words.end(), {"--threads", "1"});
  return words_for_result(std::move(words));
}

std::optional<PointResult> result_of_point(const CommandRun& run, const OneLineJson& one_line) {
  if (run.end == CommandRun::End::kStopped) return std::nullopt;
  PointResult result;
  result.result = one_line(run.out).value_or("");
  if (run.end == CommandRun::End::kDone && !result.result.empty()) return result;
  result.status = run.end == CommandRun::End::kRefused ? PointStatus::kRefused : PointStatus::kFailed;
  result.message = run.complaint;
  if (run.signal != 0) result.message = fmt::format("ended by signal {}: {}", run.signal, result.message);
  if (result.message.empty()) result.message = fmt::format("exit code {}", run.exit);
  return result;
}

}  // namespace infold::study

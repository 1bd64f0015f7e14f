// Formatting of the ladder of fidelity.
#include "report/campaign/ladder_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/rounding.h"

namespace infold::report {

std::string ladder_text(std::span<const study::LadderRow> rows) {
  std::string text = fmt::format("{:<18} {:>10} {:>8} {:>11} {:>9} {:>11} {:>8}\n", "case", "step ms",
                                 "error", "slow-down %", "points", "exposed ms", "error");
  std::size_t good = 0;
  std::string failures;
  for (const study::LadderRow& r : rows) {
    if (!r.failed.empty()) {
      failures += fmt::format("{}: {}\n", r.what.id, r.failed);
      continue;
    }
    good += r.within() ? 1 : 0;
    text += fmt::format("{:<18} {:>10.3f} {:>+6.2f} % {:>11.2f} {:>+9.2f} {:>11.3f} {:>+6.1f} %  {}\n",
                        r.what.id, r.step_ms.burst, r.step_ms.error() * 100, r.slowdown.burst * 100,
                        (r.slowdown.composed - r.slowdown.burst) * 100, r.exposed_ms.burst,
                        r.exposed_ms.error() * 100, r.within() ? "within" : "MISSED");
  }
  return text + fmt::format(
                    "\n{} of {} composed steps are within 2 % of the step in bursts, 2 points of backward's "
                    "slow-down and 10 % of exposed communication.\n{}",
                    good, rows.size(), failures);
}

std::string ladder_json(std::span<const study::LadderRow> rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const study::LadderRow& r : rows) {
    nlohmann::ordered_json j{{"id", r.what.id}, {"command", r.what.run}};
    if (!r.failed.empty()) {
      j["failed"] = r.failed;
    } else {
      const auto levels = [&](const char* name, const study::LadderLevels& l) {
        j[name] = {
            {"burst", rounded(l.burst)}, {"composed", rounded(l.composed)}, {"error", rounded(l.error())}};
      };
      levels("step_ms", r.step_ms);
      levels("backward_slowdown", r.slowdown);
      levels("exposed_comm_ms", r.exposed_ms);
    }
    j["within"] = r.within();
    all.push_back(std::move(j));
  }
  const nlohmann::ordered_json json{{"schema", 1}, {"command", "validate"}, {"ladder", all}};
  return json.dump(1) + "\n";
}

}  // namespace infold::report

// One point of a sweep as a command, and its result.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/campaign/command_run.h"
#include "study/campaign/sweep_store.h"

namespace infold::study {

/// Puts JSON on one line; returns nothing if the text is not JSON.
using OneLineJson = std::function<std::optional<std::string>(std::string_view text)>;

/// The words of a point as they are run beside other points.
std::vector<std::string> words_of_point(std::vector<std::string> words);

/// The result of a point's command; nothing if it was stopped on the way.
std::optional<PointResult> result_of_point(const CommandRun& run, const OneLineJson& one_line);

}  // namespace infold::study

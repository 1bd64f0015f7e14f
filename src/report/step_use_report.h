// Tables of what communication and kernels cost in a step, which trained and replayed steps share. Used in
// this room only.
#pragma once

#include <string>
#include <vector>

#include "report/json.h"
#include "study/step/step_use.h"

namespace infold::report {

std::string communication_lines(const std::vector<study::CommunicationUse>& uses);
std::string kernel_lines(const std::vector<study::KernelUse>& uses);
Json communication_json(const std::vector<study::CommunicationUse>& uses);
Json kernels_json(const std::vector<study::KernelUse>& uses);

}  // namespace infold::report

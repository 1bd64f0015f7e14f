// A line, and an object, for each communicator and each class of kernels.
#include "report/step_use_report.h"

#include <fmt/format.h>

#include "report/rounding.h"

namespace infold::report {

std::string communication_lines(const std::vector<study::CommunicationUse>& uses) {
  std::string text = fmt::format("  {:<18} {:<15} {:<10} {:>5} {:>6} {:>10} {:>11} {:>11}\n", "communicator",
                                 "collective", "algorithm", "ranks", "calls", "MB", "busy ms", "exposed ms");
  for (const study::CommunicationUse& c : uses) {
    text += fmt::format("  {:<18} {:<15} {:<10} {:>5} {:>6} {:>10.1f} {:>11.3f} {:>11.3f}\n", c.communicator,
                        sim::name_of(c.what), fmt::format("{}", fmt::join(c.algorithms, ",")), c.ranks,
                        c.calls, static_cast<double>(c.bytes.count()) * 1e-6, ms(c.busy), ms(c.exposed));
  }
  return text;
}

std::string kernel_lines(const std::vector<study::KernelUse>& uses) {
  std::string text = fmt::format("  {:<14} {:>8} {:>12} {:>12} {:>8}\n", "kernels", "number", "alone ms",
                                 "beside ms", "slower");
  for (const study::KernelUse& k : uses) {
    text += fmt::format("  {:<14} {:>8} {:>12.3f} {:>12.3f} {:>+7.1f} %\n", sim::name_of(k.what), k.kernels,
                        ms(k.alone), ms(k.beside), k.slowdown() * 100);
  }
  return text;
}

Json communication_json(const std::vector<study::CommunicationUse>& uses) {
  Json all = Json::array();
  for (const study::CommunicationUse& c : uses) {
    all.push_back({{"name", c.communicator},
                   {"collective", sim::name_of(c.what)},
                   {"algo", fmt::format("{}", fmt::join(c.algorithms, ","))},
                   {"ranks", c.ranks},
                   {"calls", c.calls},
                   {"bytes", c.bytes.count()},
                   {"busy_ms", ms(c.busy)},
                   {"exposed_ms", ms(c.exposed)},
                   {"exposed_forward_ms", ms(c.exposed_in_forward)},
                   {"exposed_backward_ms", ms(c.exposed_in_backward)}});
  }
  return all;
}

Json kernels_json(const std::vector<study::KernelUse>& uses) {
  Json all = Json::array();
  for (const study::KernelUse& k : uses) {
    all.push_back({{"class", sim::name_of(k.what)},
                   {"kernels", k.kernels},
                   {"alone_ms", ms(k.alone)},
                   {"beside_ms", ms(k.beside)},
                   {"slowdown", rounded(k.slowdown())},
                   {"slowdown_while_communicating", rounded(k.slowdown_beside())}});
  }
  return all;
}

}  // namespace infold::report

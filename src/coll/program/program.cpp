// Names of steps, as messages print them.
#include "coll/program/program.h"

#include <fmt/format.h>

namespace infold::coll {

namespace {
void append(std::string& name, const char* word) {
  if (!name.empty()) name += '-';
  name += word;
}
}  // namespace

std::string name_of(const Step& s) {
  switch (s.net) {
    case NetOp::kNone:
      break;
    case NetOp::kMeet:
      return "meet";
    case NetOp::kReduceWrite:
      return "reduce-write";
    case NetOp::kLoadReduce: {
      const char* what = s.who == NetWho::kAll ? "load-reduce-multicast" : "load-reduce";
      return s.stage > sim::Bytes{} ? std::string("staged-") + what : what;
    }
    case NetOp::kMulticast:
      return s.stage > sim::Bytes{} ? "staged-multicast" : "multicast";
  }
  std::string name;
  if (s.only_flags()) {
    if (s.receives()) append(name, "wait");
    if (s.sends()) append(name, "signal");
    return name.empty() ? "nothing" : name;
  }
  if (s.receives()) append(name, "recv");
  if (s.loads() > 1) append(name, "reduce");
  if (s.writes_output && (s.sends() || !s.receives())) append(name, "copy");
  if (s.sends()) append(name, s.lands ? "put" : "send");
  return name;
}

std::string place_of(int rank, int channel, const std::vector<Step>& steps, std::size_t step) {
  return fmt::format("rank {} channel {} step {} of {} ({})", rank, channel, step + 1, steps.size(),
                     name_of(steps[step]));
}

}  // namespace infold::coll

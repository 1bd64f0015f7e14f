// Names of steps, for people.
#include "coll/program.h"

namespace infold::coll {

std::string_view name_of(const Step& s) {
  if (!s.receives()) {
    if (!s.sends()) return "copy";
    return s.writes_output ? "copy-send" : "send";
  }
  if (s.uses_input) {
    if (!s.sends()) return "recv-reduce";
    return s.writes_output ? "recv-reduce-copy-send" : "recv-reduce-send";
  }
  if (!s.sends()) return "recv";
  return s.writes_output ? "recv-copy-send" : "recv-send";
}

}  // namespace infold::coll

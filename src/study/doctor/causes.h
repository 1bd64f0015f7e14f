// Why a machine may be slower than it should: each cause is a change of the machine or of the library's
// settings, in one or several degrees. What a cause costs is simulated and nowhere stated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coll/program/protocol.h"
#include "sim/units.h"
#include "study/system_spec.h"

namespace infold::study {

/// One degree of a cause. A member that is not set leaves things as they are.
struct CauseVariant {
  std::string label;                       ///< "4 channels"
  std::optional<SystemSpec> machine = {};  ///< the machine or its library's settings are these
  std::string_view only = {};              ///< the library runs this algorithm alone
  std::string_view never = {};             ///< the library does not run this algorithm
  std::optional<coll::Protocol> protocol = {};
  sim::Time late = {};  ///< the last rank comes this late
};

struct LossCause {
  std::string_view id;     ///< "fewer-channels"
  std::string_view about;  ///< "the library runs fewer channels than it should"
  std::string_view check;  ///< what to look at on the machine
  /// Causes of one kind may leave the same log and call for the same check; empty: it is of a kind of its
  /// own.
  std::string_view kin;
  std::vector<CauseVariant> variants;
};

/// The causes that this machine can have.
std::vector<LossCause> causes_of(const SystemSpec& system);

}  // namespace infold::study

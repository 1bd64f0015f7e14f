// The option --env: what the environment variables of NCCL mean for a command line.
#pragma once

#include <string>
#include <vector>

#include "formats/nccl_environment.h"
#include "sim/result.h"
#include "study/doctor/curves.h"

namespace CLI {
class App;
}

namespace infold::cli {

/// As typed: "NCCL_ALGO=Ring NCCL_PROTO=LL", or a file like nccl.conf; several add up.
struct EnvironmentArguments {
  std::vector<std::string> typed;
};
void add_environment_argument(CLI::App& command, EnvironmentArguments& args);

/// What a command line says of algorithms and protocols.
struct LibraryWords {
  std::string& algorithms;
  bool algorithms_typed;
  std::string& protocols;
  bool protocols_typed;
};

struct Environment {
  std::vector<std::string> sets;  ///< before those of --set, which win
  formats::NcclEnvironment variables;

  bool reducing_switches = false;  ///< of all systems

  /// Puts what the variables leave to the library in place of what a command line leaves open. `several`: the
  /// command runs a list one by one. Refuses variables that contradict what was typed.
  sim::Status restrict(coll::Collective collective, bool several, LibraryWords& words) const;
  study::AllowedChoice allowed() const;
};

/// Reads the variables, says on standard error which have no effect, and asks the systems what their values
/// mean there. Nothing is said or changed without --env.
sim::Result<Environment> read_environment(const EnvironmentArguments& args, const std::string& systems);

}  // namespace infold::cli

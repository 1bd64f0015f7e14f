// A system as its YAML file describes it: a machine and the collectives library on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coll/program/tuning.h"
#include "gpu/machine_spec.h"

namespace infold::study {

/// How a system gets over a part of its fabric that fails while a collective runs
/// (study/collective/fault_run.h).
struct FaultSpec {
  static constexpr std::string_view kAbout =
      "What it takes to begin a collective again when a part of the fabric fails.";
  sim::Time notice = sim::Time::us(100);
  sim::Time reroute = sim::Time::us(1'000);

  template <class V>
  void visit(V& v) {
    v.field("notice", notice, sim::between(sim::Time{}, sim::Time::us(1'000'000)),
            "from the failure to every rank's having given up the collective (an assumption: not published)");
    v.field("reroute", reroute, sim::between(sim::Time{}, sim::Time::us(100'000'000)),
            "from then until addresses are spread over what is left (an assumption: not published)");
  }
};

struct SystemSpec {
  static constexpr std::string_view kAbout = "A multi-GPU machine and the collectives library on it.";
  std::string name;
  std::string summary;
  std::vector<std::string> sources;
  gpu::MachineSpec machine;
  coll::Tuning coll;
  FaultSpec fault;

  template <class V>
  void visit(V& v) {
    machine.visit(v);  // its fields stand at the top: gpus, gpu, fabric
    v.group("coll", coll);
    v.group("fault", fault);
  }
};

}  // namespace infold::study

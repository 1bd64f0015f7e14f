// A system as its YAML file describes it: a machine and the collectives library on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coll/tuning.h"
#include "gpu/machine_spec.h"

namespace infold::study {

struct SystemSpec {
  static constexpr std::string_view kAbout = "A multi-GPU machine and the collectives library on it.";
  std::string name;
  std::string summary;
  std::vector<std::string> sources;
  gpu::MachineSpec machine;
  coll::Tuning coll;

  template <class V>
  void visit(V& v) {
    machine.visit(v);  // its fields stand at the top: gpus, gpu, fabric
    v.group("coll", coll);
  }
};

}  // namespace infold::study

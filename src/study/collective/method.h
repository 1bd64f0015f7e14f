// A way to reduce: an algorithm and who carries it out. Written "ring", or "ring@dma" where it is not the
// SMs.
#pragma once

#include <string>

#include "coll/algo/algorithms.h"
#include "coll/program/engine.h"
#include "sim/params.h"

namespace infold::study {

struct Method {
  const coll::Algorithm* algorithm = nullptr;  ///< null: chosen for each size
  coll::Engine engine = coll::Engine::kSm;
  bool operator==(const Method&) const = default;
};

inline std::string name_of(const Method& m) {
  std::string name(m.algorithm == nullptr ? "auto" : m.algorithm->name);
  if (m.engine != coll::Engine::kSm) name.append("@").append(sim::name_of(m.engine));
  return name;
}

}  // namespace infold::study

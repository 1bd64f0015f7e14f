// A way to reduce: an algorithm and the engine that carries it out. It is written "ring", or "ring@dma" if
// the engine is not the SMs. Or a program that a user wrote, which has a name of its own and says its engine.
#pragma once

#include <string>

#include "coll/algo/algorithms.h"
#include "coll/program/fit.h"
#include "coll/program/names.h"
#include "sim/params.h"

namespace infold::study {

struct Method {
  const coll::Algorithm* algorithm =
      nullptr;  ///< null means that it is chosen for each size, unless there is a program
  coll::Engine engine = coll::Engine::kSm;
  const coll::OwnProgram* program = nullptr;  ///< must outlive it
  bool operator==(const Method&) const = default;
};

inline bool in_network(const Method& m) {
  if (m.program != nullptr) return m.program->program.in_network();
  return m.algorithm != nullptr && m.algorithm->in_network;
}

inline std::string name_of(const Method& m) {
  if (m.program != nullptr) return m.program->name;
  std::string name(m.algorithm == nullptr ? "auto" : m.algorithm->name);
  if (m.engine != coll::Engine::kSm) name.append("@").append(sim::name_of(m.engine));
  return name;
}

}  // namespace infold::study

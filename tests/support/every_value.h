// All values of an enum that has names, so that a new one is tried wherever the others are. Room: sim.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/params.h"
#include "sim/random.h"

namespace infold::support {

template <sim::NamedEnum E>
std::vector<E> every_value() {
  std::vector<E> all;
  for (const auto& n : names_of(E{})) all.push_back(n.value);
  return all;
}

template <sim::NamedEnum E>
E any_value(sim::Random& random) {
  const std::vector<E> all = every_value<E>();
  return all[random.below(all.size())];
}

/// The name as a part of a test's name: "switch_planes".
template <sim::NamedEnum E>
std::string identifier(E value) {
  std::string name(sim::name_of(value));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace infold::support

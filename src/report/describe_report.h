// Lists of available names, and tables of parameters, as text and as JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/yaml/describe.h"
#include "inc/unit_area.h"

namespace infold::report {

/// A name and what it is, e.g. a preset or an algorithm.
struct Entry {
  std::string name;
  std::string about;
};
std::string list_text(const std::vector<Entry>& entries);
std::string list_json(const std::string& what, const std::vector<Entry>& entries);

/// What `infold describe` prints about a system, a GPU or a component.
struct Description {
  std::string kind;
  std::string name;
  std::string about;
  std::vector<std::string> sources;
  std::vector<std::string> parts;
  std::vector<config::Parameter> parameters;
  /// What the reduction unit of a port costs, by bytes of its table; empty for everything else.
  std::vector<std::pair<sim::Bytes, inc::UnitArea>> areas = {};
  std::string areas_of = {};  ///< what the areas are those of, in words
};
std::string description_text(const Description& d);
std::string description_json(const Description& d);

}  // namespace infold::report

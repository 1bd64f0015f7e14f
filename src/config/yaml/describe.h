// Describes what can be set, for `infold describe`. Everything comes from the visit() of the specs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/gpu_spec.h"
#include "study/system_spec.h"

namespace infold::config {

struct Choice {
  std::string name;
  std::string meaning;
};

struct Parameter {
  std::string path;   ///< as --set takes it
  std::string type;   ///< "integer", "time", "size", ...
  std::string value;  ///< in canonical units
  std::string min;    ///< empty when there is no range
  std::string max;
  std::string meaning;
  std::vector<Choice> choices;  ///< choices of an enum
};

/// A spec and its parts, e.g. "hbm" with its parameters at their defaults.
struct Component {
  std::string name;
  std::string path;  ///< "gpu.hbm"; empty for the system
  std::string also;  ///< another name for it; most have none
  std::string about;
  std::vector<Parameter> parameters;    ///< its own, with full paths
  std::vector<std::string> components;  ///< names of the groups inside it
};

/// Every parameter of a system or GPU with its value there; the paths of a GPU begin with "gpu.".
std::vector<Parameter> parameters(const study::SystemSpec& spec);
std::vector<Parameter> parameters(const gpu::GpuSpec& spec);
/// The settings of a library by themselves, without a path in front of their names.
std::vector<Parameter> parameters(const coll::Tuning& spec);

/// All components, outermost first: system, gpu, sm, l2, hbm, copy, fabric, link, packet, switch, inc, coll.
std::vector<Component> components();

/// One of the components, or nothing; `suggestion_for_component` then helps with the message.
std::optional<Component> find_component(std::string_view name);
std::string suggestion_for_component(std::string_view name);

}  // namespace infold::config

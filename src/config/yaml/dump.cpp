// A visitor that writes block-style YAML; the indentation is the depth of groups.
#include "config/yaml/dump.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/yaml/field_text.h"
#include "config/yaml/units.h"
#include "net/topology/topology_parameters.h"
#include "sim/params.h"

namespace infold::config {
namespace {

/// In double quotes, so that no text can be mistaken for another type.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

class Dumper {
 public:
  template <class T>
  void field(std::string_view name, T& value, const sim::Range<T>& /*range*/, std::string_view /*meaning*/) {
    line(name, format(value));
  }
  void field(std::string_view name, std::vector<int>& value, const sim::Range<int>& /*range*/,
             std::string_view /*meaning*/) {
    line(name, format(value));
  }
  template <sim::NamedEnum E>
  void field(std::string_view name, E& value, std::string_view /*meaning*/) {
    line(name, sim::name_of(value));
  }
  void field(std::string_view name, bool& value, std::string_view /*meaning*/) { line(name, format(value)); }
  void field(std::string_view name, std::string& value, std::string_view /*meaning*/) {
    line(name, in_quotes(value));
  }

  template <class Spec>
  void group(std::string_view name, Spec& spec) {
    text_ += fmt::format("{:{}}{}:\n", "", indent_, name);
    indent_ += 2;
    if constexpr (std::is_same_v<Spec, gpu::GpuSpec>) head(spec);
    if constexpr (std::is_same_v<Spec, net::FabricSpec>) topology_ = spec.topology;
    spec.visit(*this);
    if constexpr (std::is_same_v<Spec, net::FabricSpec>) topology_.reset();
    indent_ -= 2;
  }

  /// What a file contains besides its parameters.
  template <class Spec>
  void head(const Spec& spec) {
    if (!spec.name.empty()) line("name", in_quotes(spec.name));
    if (!spec.summary.empty()) line("summary", in_quotes(spec.summary));
    if (spec.sources.empty()) return;
    text_ += fmt::format("{:{}}sources:\n", "", indent_);
    for (const std::string& source : spec.sources)
      text_ += fmt::format("{:{}}- {}\n", "", indent_ + 2, in_quotes(source));
  }

  /// A file that writes what its topology has no use for would be refused.
  void line(std::string_view name, std::string_view value) {
    if (topology_ && !net::uses(*topology_, name)) return;
    text_ += fmt::format("{:{}}{}: {}\n", "", indent_, name, value);
  }

  const std::string& text() const { return text_; }

 private:
  std::size_t indent_ = 0;
  std::optional<net::Topology> topology_;  // inside the fabric
  std::string text_;
};

/// By value, because visit() hands out mutable references.
template <class Spec>
std::string dump(Spec spec, std::string_view kind) {
  Dumper dumper;
  dumper.line("kind", kind);
  dumper.head(spec);
  spec.visit(dumper);
  return dumper.text();
}

}  // namespace

std::string to_yaml(const study::SystemSpec& spec) {
  return dump(spec, "system");
}
std::string to_yaml(const gpu::GpuSpec& spec) {
  return dump(spec, "gpu");
}

}  // namespace infold::config

// The visitor that reads a YAML map into a spec. Only the keys that are given are set, so reading a file over
// a spec that a base filled is a deep merge, and there is no key that visit() does not name.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/yaml/field_text.h"
#include "config/yaml/position.h"
#include "config/yaml/yaml_tree.h"
#include "gpu/gpu_spec.h"
#include "sim/params.h"

namespace infold::config {

/// The state that is shared while one file is read.
struct ReadContext {
  std::string file;
  std::vector<sim::Error> problems;
  std::map<std::string, Position, std::less<>> keys;  ///< dotted path of each key in the file
  /// Reads the value of `gpu:`, which may be a name instead of a map.
  std::function<void(const YamlNode& node, gpu::GpuSpec& spec, const std::string& path)> read_gpu;
  /// Computes a whole number that is written as an expression; empty if only plain numbers are allowed.
  std::function<sim::Result<std::int64_t>(std::string_view text)> evaluate;

  void complain(Position where, std::string message) {
    problems.push_back(at(file, where, std::move(message)));
  }
  /// The first problem in the order of the file, if there is one.
  sim::Status status() const;
};

class MapReader {
 public:
  /// `path` is "" for the top of a file. Reports an error when `map` is not a map.
  MapReader(const YamlNode& map, std::string path, ReadContext& reading);

  template <class T>
  void field(std::string_view name, T& value, const sim::Range<T>& range, std::string_view /*meaning*/) {
    const YamlNode* node = scalar(name);
    if (node == nullptr) return;
    if constexpr (std::is_same_v<T, int>) {
      if (reading_.evaluate) return report(*node, evaluated(name, node->text, value, range));
    }
    report(*node, assign(name, node->text, Dialect::kFile, value, range));
  }
  void field(std::string_view name, std::vector<int>& value, const sim::Range<int>& range,
             std::string_view meaning);

  template <class T>
  requires(sim::NamedEnum<T> || std::is_same_v<T, bool> ||
           std::is_same_v<T, std::string>) void field(std::string_view name, T& value,
                                                      std::string_view /*meaning*/) {
    if (const YamlNode* node = scalar(name)) report(*node, assign(name, node->text, value));
  }

  template <class Spec>
  void group(std::string_view name, Spec& spec) {
    const YamlNode* node = take(name);
    if (node == nullptr) return;
    const std::string inner = path_of(name);
    if constexpr (std::is_same_v<Spec, gpu::GpuSpec>) {
      if (reading_.read_gpu) return reading_.read_gpu(*node, spec, inner);
    }
    MapReader reader(*node, inner, reading_);
    spec.visit(reader);
    reader.finish();
  }

  /// Text of bounded length that is not a parameter (name, summary).
  void words(std::string_view name, std::size_t longest, std::string& value);
  /// One text or a list of them.
  void word_list(std::string_view name, std::size_t longest, std::vector<std::string>& value);
  /// The node of a key that the caller reads itself; null when it is not given.
  const YamlNode* take(std::string_view name);
  /// Like take, and reports an error unless the node is a scalar.
  const YamlNode* scalar(std::string_view name);
  /// Like take, and reports an error unless the node is a map.
  const YamlNode* map(std::string_view name);
  /// What is being read, for messages.
  const std::string& file() const { return reading_.file; }

  /// Refuses the keys that were not read. Call it last.
  void finish();

 private:
  std::string path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
  }
  sim::Status evaluated(std::string_view name, std::string_view text, int& value,
                        const sim::Range<int>& range);
  void report(const YamlNode& node, const sim::Status& assigned) {
    if (!assigned) reading_.complain(node.at, assigned.error().message);
  }

  const YamlNode& map_;
  std::string path_;
  ReadContext& reading_;
  std::vector<std::string_view> known_;
};

/// Reports each key that a map lacks; a node that is not a map has been reported before.
void need(const YamlNode& map, std::initializer_list<std::string_view> keys, ReadContext& reading);

}  // namespace infold::config

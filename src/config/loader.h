// Loads one system, GPU or model with everything it builds on. Used by the catalog only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/catalog.h"
#include "config/yaml/position.h"
#include "config/yaml/reader.h"
#include "config/yaml/source.h"
#include "config/yaml/yaml_tree.h"

namespace infold::config {

/// A source whose text has been read and is a map with a valid `kind`.
struct OpenFile {
  Source source;
  YamlNode root;
  FileKind kind;
};

sim::Result<OpenFile> open_file(Source source);

class Loader {
 public:
  explicit Loader(Validate validate) : validate_(std::move(validate)) {}

  sim::Result<study::SystemSpec> system(const OpenFile& file);
  sim::Result<gpu::GpuSpec> gpu(const OpenFile& file);
  sim::Result<train::Model> model(const OpenFile& file);

  /// The files that were read, as messages name them; presets are not files.
  const std::vector<std::string>& files() const { return files_; }

 private:
  template <class Spec>
  sim::Status fill(const OpenFile& file, Spec& spec, ReadContext& reading);
  template <class Spec>
  void read_head(MapReader& reader, const OpenFile& file, Spec& spec, ReadContext& reading);
  template <class Spec>
  sim::Status read_over(const OpenFile& from, const YamlNode& reference, std::string_view key, Spec& spec);
  void read_gpu_node(const OpenFile& file, const YamlNode& node, gpu::GpuSpec& spec, const std::string& path,
                     ReadContext& reading);
  sim::Status validated(const OpenFile& file, const study::SystemSpec& spec,
                        const ReadContext& reading) const;

  Validate validate_;
  std::vector<std::string> chain_ids_;  ///< the files being read, each named by the one before
  std::vector<std::string> chain_shown_;
  std::vector<std::string> files_;
};

}  // namespace infold::config

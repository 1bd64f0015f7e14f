// A base is read into the spec first, then the file over it. The chain of files being read is kept in order
// to refuse cycles and long chains.
#include "config/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "config/model_draft.h"
#include "config/unused_parameters.h"
#include "config/yaml/limits.h"
#include "config/yaml/suggest.h"

namespace infold::config {
namespace {

constexpr std::size_t kLongestChain = 16;
constexpr std::size_t kLongestSummary = 300;
constexpr std::size_t kLongestSource = 500;
constexpr std::string_view kUnnamedGpu = "unnamed-gpu";

template <class Spec>
constexpr FileKind kKindOf = FileKind::kSystem;
template <>
constexpr FileKind kKindOf<gpu::GpuSpec> = FileKind::kGpu;
template <>
constexpr FileKind kKindOf<ModelDraft> = FileKind::kModel;

bool is_name(std::string_view text) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+";
  return !text.empty() && text.size() <= kLongestName &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

sim::Result<OpenFile> open_file(Source source) {
  sim::Result<YamlNode> parsed = parse_yaml(source.text, source.shown);
  if (!parsed) return sim::fail_as(std::move(parsed));
  YamlNode& root = *parsed;
  if (root.kind != YamlNode::Kind::kMap) {
    return sim::fail(
        at(source.shown, root.at, fmt::format("expected a map (key: value), not {}", kind_text(root.kind))));
  }
  const YamlNode* kind = root.find("kind");
  if (kind == nullptr)
    return sim::fail(
        at(source.shown, {1, 1}, "missing key 'kind' (write 'kind: system', 'kind: gpu' or 'kind: model')"));
  std::vector<std::string_view> known;
  for (const FileKind k : kFileKinds) {
    if (kind->text == kind_name(k)) return OpenFile{std::move(source), std::move(root), k};
    known.push_back(kind_name(k));
  }
  std::string hint = did_you_mean(kind->text, known);
  if (hint.empty()) hint = fmt::format(" (one of {})", fmt::join(known, ", "));
  if (kind->kind != YamlNode::Kind::kScalar)
    return sim::fail(
        at(source.shown, kind->key_at, fmt::format("kind: expected one of {}", fmt::join(known, ", "))));
  return sim::fail(
      at(source.shown, kind->at, fmt::format("kind: unknown value {}{}", quote(kind->text), hint)));
}

namespace {
/// Reports the keys of the file itself that its topology has no use for.
void complain_of_unused(const net::FabricSpec& fabric, ReadContext& reading) {
  for (const auto& [path, where] : reading.keys) {
    if (auto used = check_used(fabric, path); !used) reading.complain(where, used.error().message);
  }
}
}  // namespace

/// Reads the preset or file that `reference` names into the spec.
template <class Spec>
sim::Status Loader::read_over(const OpenFile& from, const YamlNode& reference, std::string_view key,
                              Spec& spec) {
  const auto refuse = [&](std::string_view why) {
    return sim::fail(
        at(from.source.shown, reference.at, fmt::format("{} {}: {}", key, quote(reference.text), why)));
  };
  auto found = find_source(kKindOf<Spec>, reference.text, &from.source);
  if (!found) {
    const std::string& why = found.error().message;
    if (is_file_reference(reference.text)) return refuse(why);
    return sim::fail(at(from.source.shown, reference.at, fmt::format("{}: {}", key, why)));
  }
  const auto seen = std::find(chain_ids_.begin(), chain_ids_.end(), found->id);
  if (seen != chain_ids_.end()) {
    const std::vector<std::string> cycle(chain_shown_.begin() + (seen - chain_ids_.begin()),
                                         chain_shown_.end());
    return refuse(fmt::format("bases form a cycle: {} -> {}", fmt::join(cycle, " -> "), cycle.front()));
  }
  if (chain_ids_.size() >= kLongestChain)
    return refuse(fmt::format("more than {} files build on each other", kLongestChain));
  sim::Result<OpenFile> opened = open_file(std::move(*found));
  if (!opened) return sim::fail_as(std::move(opened));
  const OpenFile& file = *opened;
  if (file.kind != kKindOf<Spec>) {
    return refuse(fmt::format("it is a {}, not a {}", kind_name(file.kind), kind_name(kKindOf<Spec>)));
  }
  ReadContext reading;
  return fill(file, spec, reading);
}

/// Reads what every file may have besides its parameters, the base first.
template <class Spec>
void Loader::read_head(MapReader& reader, const OpenFile& file, Spec& spec, ReadContext& reading) {
  if (const YamlNode* base = reader.scalar("base")) {
    auto read = read_over(file, *base, "base", spec);
    if (!read) reading.problems.push_back(std::move(read.error()));
  }
  if (const YamlNode* name = reader.scalar("name")) {
    if (is_name(name->text)) {
      spec.name = name->text;
    } else {
      reading.complain(name->at,
                       fmt::format("name: {} is not a name (at most {} of letters, digits, . _ - +)",
                                   quote(name->text), kLongestName));
    }
  }
  reader.words("summary", kLongestSummary, spec.summary);
  reader.word_list("sources", kLongestSource, spec.sources);
}

template <class Spec>
sim::Status Loader::fill(const OpenFile& file, Spec& spec, ReadContext& reading) {
  chain_ids_.push_back(file.source.id);
  chain_shown_.push_back(file.source.shown);
  if (!file.source.embedded) files_.push_back(file.source.shown);
  reading.file = file.source.shown;
  reading.read_gpu = [&](const YamlNode& node, gpu::GpuSpec& gpu, const std::string& path) {
    read_gpu_node(file, node, gpu, path, reading);
  };
  MapReader reader(file.root, "", reading);
  reader.take("kind");
  read_head(reader, file, spec, reading);
  // A file that differs from its base does not keep the name of the base.
  if (file.root.find("name") == nullptr) spec.name = file.source.stem;
  spec.visit(reader);
  reader.finish();
  // Keys that a base wrote for its own topology do not count, because a file may build on it with another
  // topology.
  if constexpr (std::is_same_v<Spec, study::SystemSpec>) {
    if (reading.problems.empty()) complain_of_unused(spec.machine.fabric, reading);
  }
  chain_ids_.pop_back();
  chain_shown_.pop_back();
  // A problem of a base is in the base's file. It comes first, because everything here was read over that
  // file.
  for (const sim::Error& e : reading.problems) {
    if (e.place.file != reading.file) return sim::fail(e);
  }
  return reading.status();
}

void Loader::read_gpu_node(const OpenFile& file, const YamlNode& node, gpu::GpuSpec& spec,
                           const std::string& path, ReadContext& reading) {
  if (node.kind == YamlNode::Kind::kScalar) {
    spec = {};
    auto read = read_over(file, node, "gpu", spec);
    if (!read) reading.problems.push_back(std::move(read.error()));
    return;
  }
  MapReader reader(node, path, reading);
  if (node.kind != YamlNode::Kind::kMap) return;
  if (node.find("base") != nullptr) spec = {};
  read_head(reader, file, spec, reading);
  spec.visit(reader);
  reader.finish();
}

sim::Status Loader::validated(const OpenFile& file, const study::SystemSpec& spec,
                              const ReadContext& reading) const {
  if (!validate_) return {};
  sim::Status valid = validate_(spec);
  if (valid || valid.error().kind == sim::Error::Kind::kInterrupted) return valid;
  const sim::Error& e = valid.error();
  const std::string message = e.parameter.empty() ? e.message : fmt::format("{}: {}", e.parameter, e.message);
  // The position of the key if this file has it, else of the group it is in, else of the place it was
  // inherited from.
  for (std::string path = e.parameter; !path.empty();) {
    const auto key = reading.keys.find(path);
    if (key != reading.keys.end()) return sim::fail(at(file.source.shown, key->second, message));
    const std::size_t dot = path.rfind('.');
    path.resize(dot == std::string::npos ? 0 : dot);
  }
  const auto base = reading.keys.find("base");
  return sim::fail(
      at(file.source.shown, base == reading.keys.end() ? Position{1, 1} : base->second, message));
}

sim::Result<study::SystemSpec> Loader::system(const OpenFile& file) {
  study::SystemSpec spec;
  ReadContext reading;
  if (auto filled = fill(file, spec, reading); !filled) return sim::fail_as(std::move(filled));
  // If neither the file nor a base names the GPU, its figures are those of the file and the defaults.
  if (spec.machine.gpu.name.empty()) spec.machine.gpu.name = kUnnamedGpu;
  if (auto valid = validated(file, spec, reading); !valid) return sim::fail_as(std::move(valid));
  return spec;
}

sim::Result<gpu::GpuSpec> Loader::gpu(const OpenFile& file) {
  gpu::GpuSpec spec;
  ReadContext reading;
  if (auto filled = fill(file, spec, reading); !filled) return sim::fail_as(std::move(filled));
  return spec;
}

sim::Result<train::Model> Loader::model(const OpenFile& file) {
  ModelDraft draft;
  ReadContext reading;
  if (auto filled = fill(file, draft, reading); !filled) return sim::fail_as(std::move(filled));
  return expand_model(draft, file.source.shown);
}

}  // namespace infold::config

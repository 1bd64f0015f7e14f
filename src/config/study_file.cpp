// Reads the keys of the file, with the reader that systems use.
#include "config/study_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/shipped_study.h"
#include "config/yaml/limits.h"
#include "config/yaml/reader.h"

namespace infold::config {

namespace {

constexpr std::size_t kMostEntries = 256;

template <class T, class Read>
void read_list(const YamlNode* list, std::string_view key, std::vector<T>& out, ReadContext& reading,
               Read read) {
  if (list == nullptr) return;
  if (list->kind != YamlNode::Kind::kList || list->children.empty()) {
    reading.complain(list->key_at, fmt::format("{}: expected a list with at least one entry", key));
  } else if (list->children.size() > kMostEntries) {
    reading.complain(list->key_at, fmt::format("{}: more than {} entries", key, kMostEntries));
  } else {
    int number = 0;
    for (const YamlNode& node : list->children)
      out.push_back(read(node, fmt::format("{}[{}]", key, number++), reading));
  }
}

void read_methods(const YamlNode* list, std::vector<study::Method>& methods, ReadContext& reading) {
  const auto read = [](const YamlNode& node, const std::string& path, ReadContext& r) {
    if (node.kind != YamlNode::Kind::kScalar) {
      r.complain(node.at,
                 fmt::format("{}: expected an algorithm's name, not {}", path, kind_text(node.kind)));
      return study::Method{};
    }
    const auto parsed = parse_method(node.text);
    if (!parsed) r.complain(node.at, parsed.error().message);
    return parsed.value_or(study::Method{});
  };
  read_list(list, "methods", methods, reading, read);
}

void need_one(const std::string& system, const YamlNode& node, const std::string& path,
              ReadContext& reading) {
  if (system.find(',') != std::string::npos)
    reading.complain(node.at, fmt::format("{}.system: one system at a time", path));
}

/// How the ranks of a case share its model.
void read_layout(MapReader& reader, StudyCase& c) {
  constexpr auto kRanks = sim::between(1, net::kMostGpus);
  reader.field("dp", c.layout.dp, kRanks, "");
  reader.field("tp", c.layout.tp, kRanks, "");
  reader.field("pp", c.layout.pp, kRanks, "");
  reader.field("cp", c.layout.cp, kRanks, "");
  reader.field("ep", c.layout.ep, kRanks, "");
  reader.field("sp", c.sequence_parallel, "");
  reader.field("cp_comm", c.key_exchange, "");
  reader.field("ep_comm", c.expert_exchange, "");
  reader.field("sync", c.sync.kind, "");
  reader.field("shard", c.sync.shard, kRanks, "");
  reader.field("reshard", c.sync.reshard, "");
  reader.field("schedule", c.pipeline.schedule, "");
  reader.field("micro_batches", c.pipeline.micro_batches, sim::between(1, 65536), "");
  reader.field("virtual", c.pipeline.virtual_stages, sim::between(1, 64), "");
  reader.field("fold", c.fold, "");
}

/// Keys that only some layouts and strategies read are refused elsewhere, as the options of their names are.
void refuse_without_effect(const YamlNode& node, const StudyCase& c, const std::string& path,
                           ReadContext& reading) {
  if (node.kind != YamlNode::Kind::kMap) return;
  const bool pipeline = c.layout.pp > 1;
  const train::SyncKind sync = c.sync.kind;
  const bool hsdp = sync == train::SyncKind::kHsdp;
  struct Own {
    std::string_view key;
    bool has_effect;
    std::string_view otherwise;
  };
  for (const Own& own :
       {Own{"sp", c.layout.tp > 1, "without tp"}, Own{"cp_comm", c.layout.cp > 1, "without cp"},
        Own{"shard", hsdp, "without 'sync: hsdp'"},
        Own{"reshard", hsdp || sync == train::SyncKind::kFsdp, "without 'sync: fsdp' or hsdp"},
        Own{"schedule", pipeline, "without pp"}, Own{"micro_batches", pipeline, "without pp"},
        Own{"virtual", pipeline && c.pipeline.schedule == train::ScheduleKind::kInterleaved,
            "without pp and 'schedule: interleaved'"},
        Own{"accumulate", !pipeline, "with pp, where micro_batches are added up"}}) {
    const YamlNode* given = node.find(own.key);
    if (given != nullptr && !own.has_effect)
      reading.complain(given->key_at, fmt::format("{}.{} has no effect {}", path, own.key, own.otherwise));
  }
}

StudyCase read_case(const YamlNode& node, const std::string& path, ReadContext& reading) {
  StudyCase c;
  MapReader reader(node, path, reading);
  reader.words("system", kLongestLine, c.system);
  reader.words("model", kLongestLine, c.model);
  reader.field("gpus", c.gpus, sim::between(2, net::kMostGpus), "");
  reader.field("seq", c.sequence, sim::between(1, 1 << 20), "");
  reader.field("batch", c.recipe.batch, sim::between(1, 1'000'000), "");
  reader.field("accumulate", c.recipe.accumulate, sim::between(1, 1'000'000), "");
  reader.field("dtype", c.recipe.numbers, "");
  reader.field("fusion", c.recipe.fusion, "");
  reader.field("optimizer", c.recipe.optimizer, "");
  reader.field("recompute", c.recipe.recompute, "");
  reader.field("heavy", c.heavy, "");
  reader.field("explain", c.explain, "");
  read_layout(reader, c);
  read_methods(reader.take("methods"), c.methods, reading);
  reader.finish();
  need(node, {"system", "model"}, reading);
  need_one(c.system, node, path, reading);
  refuse_without_effect(node, c, path, reading);
  return c;
}

StudyWindow read_window(const YamlNode& node, const std::string& path, ReadContext& reading) {
  constexpr auto kSizes = sim::between(sim::Bytes::kib(1), sim::Bytes::gib(64));
  StudyWindow w;
  MapReader reader(node, path, reading);
  reader.words("system", kLongestLine, w.system);
  reader.field("gpus", w.gpus, sim::between(2, net::kMostGpus), "");
  reader.field("from", w.from, kSizes, "");
  reader.field("to", w.to, kSizes, "");
  reader.field("factor", w.factor, sim::between(2, 1024), "");
  reader.field("simulate_to", w.simulate_to, kSizes, "");
  reader.finish();
  need(node, {"system"}, reading);
  need_one(w.system, node, path, reading);
  if (w.from > w.to) reading.complain(node.at, fmt::format("{}: from is more than to", path));
  return w;
}

/// The sentences compare everything with a ring.
void check_sentences(const YamlNode& root, const StudyFile& study, ReadContext& reading) {
  const study::Method ring{coll::find_algorithm("ring"), coll::Engine::kSm};
  const auto begins_with_ring = [&](const std::vector<study::Method>& methods) {
    return methods.empty() || methods.front() == ring;
  };
  if (begins_with_ring(study.methods) &&
      std::all_of(study.cases.begin(), study.cases.end(),
                  [&](const StudyCase& c) { return begins_with_ring(c.methods); }))
    return;
  reading.complain(root.find("sentences")->at,
                   "sentences: compare with ring, which all methods have to begin with");
}

}  // namespace

sim::Result<study::Method> parse_method(std::string_view text) {
  const std::size_t at = text.find('@');
  const std::string_view name = text.substr(0, at);
  study::Method method;
  std::vector<std::string_view> known;
  for (const auto& a : coll::algorithms()) known.push_back(a.name);
  known.emplace_back("auto");
  method.algorithm = coll::find_algorithm(name);
  if (method.algorithm == nullptr && name != "auto") {
    return sim::fail(fmt::format("there is no algorithm {}{}; there is {}", quote(name),
                                 did_you_mean(name, known), fmt::join(known, ", ")));
  }
  if (at == std::string_view::npos) return method;
  const std::string_view engine = text.substr(at + 1);
  known.clear();
  for (const auto& e : coll::kEngineNames) {
    known.push_back(e.name);
    if (e.name != engine) continue;
    method.engine = e.value;
    return method;
  }
  return sim::fail(fmt::format("there is no engine {}{}; there is {}", quote(engine),
                               did_you_mean(engine, known), fmt::join(known, ", ")));
}

sim::Result<StudyFile> load_study(std::string_view name_or_file) {
  auto opened = open_study(name_or_file, "study");
  if (!opened) return sim::fail_as(std::move(opened));
  auto& [source, root, reading] = *opened;
  StudyFile study;
  study.name = source.stem;
  MapReader reader(root, "", reading);
  std::string kind;
  reader.words("kind", kLongestLine, kind);
  reader.words("name", kLongestLine, study.name);
  reader.words("summary", kLongestLine, study.summary);
  std::string what_if;
  reader.words("what_if", kLongestLine, what_if);
  reader.field("sentences", study.sentences, "");
  const YamlNode* methods = reader.take("methods");
  const YamlNode* cases = reader.take("cases");
  const YamlNode* windows = reader.take("windows");
  reader.finish();
  need(root, {"kind", "methods"}, reading);
  if (root.kind == YamlNode::Kind::kMap && cases == nullptr && windows == nullptr)
    reading.complain(root.at, "there is nothing to do: neither 'cases' nor 'windows'");
  study.what_if_inc = what_if == "inc";
  if (!what_if.empty() && !study.what_if_inc)
    reading.complain(root.find("what_if")->at,
                     fmt::format("what_if: there is no {}; there is inc", quote(what_if)));
  read_methods(methods, study.methods, reading);
  read_list(cases, "cases", study.cases, reading, read_case);
  read_list(windows, "windows", study.windows, reading, read_window);
  if (study.sentences) check_sentences(root, study, reading);
  if (auto read = reading.status(); !read) return sim::fail_as(std::move(read));
  return study;
}

}  // namespace infold::config

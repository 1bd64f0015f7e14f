// From YAML or JSON to a checked program.
#include "config/program_file.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "coll/program/checker.h"
#include "coll/program/chunking.h"
#include "config/yaml/reader.h"
#include "config/yaml/source.h"
#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "config/yaml/yaml_tree.h"

namespace infold::config {

namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
constexpr int kMostLists = 100'000;
constexpr std::size_t kLongestProgramName = 32;  // of a file, as tables show it

/// A whole number from `min` to `max`.
template <class T>
void number(const YamlNode& node, std::string_view name, T min, T max, T& value, ReadContext& reading) {
  T read{};
  const char* end = node.text.data() + node.text.size();
  const auto [stop, error] = std::from_chars(node.text.data(), end, read);
  if (error != std::errc{} || stop != end || node.text.empty()) {
    reading.complain(node.at, fmt::format("{}: {} is not a whole number", name, quote(node.text)));
  } else if (read < min || read > max) {
    reading.complain(node.at, fmt::format("{}: {} is not between {} and {}", name, read, min, max));
  } else {
    value = read;
  }
}

class StepReader {
 public:
  StepReader(const YamlNode& node, ReadContext& reading) : map_(node, "step", reading), reading_(reading) {}

  coll::Step read() {
    coll::Step s;
    map_.scalar("op");  // only for readers; it is not used
    peers("from", s.from);
    peers("to", s.to);
    offset("bytes", s.bytes);
    s.uses_input = offset("input", s.input_offset);
    s.uses_held = offset("held", s.held_offset);
    s.writes_output = offset("output", s.output_offset);
    sim::Bytes put = s.output_offset;
    const YamlNode* put_at = map_.take("put");
    s.lands = offset(put_at, "put", put);
    if (s.lands && s.writes_output && put != s.output_offset)
      reading_.complain(put_at->at, "put: lands at the same place in every output, its own included");
    s.output_offset = put;
    map_.field("landed", s.landed, "");
    map_.field("finish", s.finishes, "");
    map_.field("net", s.net, "");
    map_.field("who", s.who, "");
    offset("stage", s.stage);
    offset("stride", s.stride);
    map_.finish();
    return s;
  }

 private:
  bool offset(std::string_view name, sim::Bytes& value) { return offset(map_.scalar(name), name, value); }
  bool offset(const YamlNode* node, std::string_view name, sim::Bytes& value) {
    if (node == nullptr) return false;
    std::int64_t bytes = 0;
    number<std::int64_t>(*node, name, 0, kMostBytes, bytes, reading_);
    value = sim::Bytes{bytes};
    return true;
  }
  void peers(std::string_view name, coll::Peers& value) {
    std::vector<int> ranks;
    const YamlNode* node = map_.take(name);
    map_.field(name, ranks, sim::between(0, 1023), "");
    for (int rank : ranks) {
      if (value.full())
        return reading_.complain(node->at, fmt::format("{}: more than {} ranks", name, coll::Peers::kMost));
      value.add(rank);
    }
  }
  MapReader map_;
  ReadContext& reading_;
};

class ProgramReader {
 public:
  ProgramReader(const YamlNode& root, ProgramFile& out, ReadContext& reading)
      : root_(root), out_(out), reading_(reading) {}

  void read() {
    MapReader map(root_, "", reading_);
    for (const char* told : {"schema", "command", "kind", "algo", "system"}) map.scalar(told);
    coll::Program& p = out_.own.program;
    needs(map, "collective");
    map.field("collective", p.collective, "");
    std::int64_t bytes = 0;
    std::int64_t scratch = 0;
    if (p.collective != coll::Collective::kBarrier) needs(map, "bytes");
    whole(map, "bytes", kMostBytes, bytes);
    whole(map, "scratch_bytes", kMostBytes, scratch);
    p.bytes = sim::Bytes{bytes};
    p.scratch = sim::Bytes{scratch};
    needs(map, "ranks");
    map.field("ranks", p.ranks, sim::between(1, 1024), "");
    needs(map, "channels");
    map.field("channels", p.channels, sim::between(1, 256), "");
    map.field("root", p.root, sim::between(0, 1023), "");
    map.field("engine", p.engine, "");
    coll::Protocol protocol{};
    map.field("proto", protocol, "");
    map.group("coll", out_.own.settings);
    p.tuning = coll::for_protocol(out_.own.settings, protocol);
    const YamlNode* lists = needs(map, "lists");
    map.finish();
    if (!reading_.problems.empty()) return;
    check_whole(lists->at);
    if (reading_.problems.empty()) read_lists(*lists);
  }

 private:
  const YamlNode* needs(MapReader& map, std::string_view name) {
    const YamlNode* node = map.take(name);
    if (node == nullptr) reading_.complain({1, 1}, fmt::format("'{}' is missing", name));
    return node;
  }
  void whole(MapReader& map, std::string_view name, std::int64_t most, std::int64_t& value) {
    if (const YamlNode* node = map.scalar(name)) number<std::int64_t>(*node, name, 0, most, value, reading_);
  }

  void check_whole(Position where) {
    const coll::Program& p = out_.own.program;
    const coll::Tuning& t = p.tuning;
    if (p.root >= p.ranks) reading_.complain(where, fmt::format("root {} of {} ranks", p.root, p.ranks));
    if (coll::has_shares(p.collective) && p.bytes.count() % p.ranks != 0)
      reading_.complain(
          where, fmt::format("{} bytes are not one share for each of {} ranks", p.bytes.count(), p.ranks));
    if (p.ranks * p.channels > kMostLists)
      reading_.complain(where, fmt::format("more than {} lists", kMostLists));
    if (t.slice_steps > t.buffer_steps) reading_.complain(where, "coll: a slice does not fit the buffer");
    out_.own.program.lists.resize(static_cast<std::size_t>(p.ranks) * static_cast<std::size_t>(p.channels));
    out_.steps.resize(out_.own.program.lists.size());
  }

  void read_lists(const YamlNode& lists) {
    if (lists.kind != YamlNode::Kind::kList)
      return reading_.complain(lists.at,
                               fmt::format("lists: expected a list, not {}", kind_text(lists.kind)));
    for (const YamlNode& node : lists.children) {
      MapReader map(node, "lists", reading_);
      int rank = 0;
      int channel = 0;
      map.field("rank", rank, sim::between(0, out_.own.program.ranks - 1), "");
      map.field("channel", channel, sim::between(0, out_.own.program.channels - 1), "");
      const YamlNode* steps = map.take("steps");
      map.finish();
      if (!reading_.problems.empty()) return;
      auto& list = out_.own.program.steps(rank, channel);
      auto& places = out_.steps[static_cast<std::size_t>(&list - out_.own.program.lists.data())];
      if (!list.empty())
        return reading_.complain(node.at, fmt::format("rank {} channel {} a second time", rank, channel));
      if (steps == nullptr) continue;
      if (steps->kind != YamlNode::Kind::kList)
        return reading_.complain(steps->key_at,
                                 fmt::format("steps: expected a list, not {}", kind_text(steps->kind)));
      for (const YamlNode& step : steps->children) {
        list.push_back(StepReader(step, reading_).read());
        places.push_back(step.at);
        if (!reading_.problems.empty()) return;
      }
    }
  }

  const YamlNode& root_;
  ProgramFile& out_;
  ReadContext& reading_;
};

/// The place of a flaw in the file.
Position place_of(const coll::Flaw& flaw, const ProgramFile& file) {
  if (flaw.step < 0) return {};
  const auto* list = &file.own.program.steps(flaw.rank, flaw.channel);
  const auto index = static_cast<std::size_t>(list - file.own.program.lists.data());
  return file.steps[index][static_cast<std::size_t>(flaw.step)];
}

}  // namespace

sim::Result<ProgramFile> load_program(const std::string& file) {
  auto source = read_source(file, kLargestProgram);
  if (!source) return sim::fail(at(file, {}, source.error().message));
  auto tree = parse_yaml(source->text, file, kProgramLimits);
  if (!tree) return sim::fail_as(std::move(tree));
  ReadContext reading;
  reading.file = file;
  ProgramFile out;
  out.file = file;
  out.own.name = shown(std::filesystem::path(file).filename().string(), kLongestProgramName);
  ProgramReader(*tree, out, reading).read();
  if (auto read = reading.status(); !read) return sim::fail_as(std::move(read));
  if (const auto flaw = coll::find_flaw(out.own.program))
    return sim::fail(at(file, place_of(*flaw, out), coll::to_string(*flaw, out.own.program)));
  return out;
}

}  // namespace infold::config

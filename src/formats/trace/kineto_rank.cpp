// Launches stand one behind the other on the host; what the GPU did waits for its launch, its stream, and
// what its stream was told to wait for.
#include "formats/trace/kineto_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "config/yaml/position.h"
#include "config/yaml/text.h"
#include "formats/trace/chakra_rank.h"
#include "formats/trace/collective_names.h"

namespace infold::formats {

namespace {

using Kind = TraceNode::Kind;
using Activity = KinetoActivity;

/// Times of the host and the GPU in a trace agree to about so many microseconds.
constexpr double kClockError = 5;
/// A kernel that starts so soon behind a collective, on a GPU that had nothing else to do, waited for it.
constexpr double kRightBehind = 20;
/// A kernel is cut into so many waves at most.
constexpr int kFinestWaves = 8;
constexpr int kUsualSms = 108;
constexpr double kLongestTime = 1.5e10;  // microseconds

bool has_word(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

bool is_communication(const Activity& a) {
  if (a.kind != Activity::Kind::kKernel) return false;
  return a.collective >= 0 || a.name.starts_with("nccl") || a.name.starts_with("rccl") ||
         a.name.starts_with("msccl");
}

sim::Time time_of(double us) {
  return sim::Time::ps(std::llround(std::clamp(us, 0.0, kLongestTime) * 1e6));
}

/// Something of the GPU in the part of the trace that is replayed.
struct Item {
  const Activity* what = nullptr;
  double launched = 0;       // when the host's call began
  std::int64_t thread = -1;  // of the host; -1: not known
  bool communicates = false;
  double key = 0;          // nodes are in this order
  int node = -1;           // its number
  std::vector<int> after;  // items
};

struct Length {
  std::vector<std::pair<double, double>> spans;
  double united() {
    std::ranges::sort(spans);
    double sum = 0;
    double until = -std::numeric_limits<double>::infinity();
    for (const auto& [begin, end] : spans) {
      sum += std::max(0.0, end - std::max(begin, until));
      until = std::max(until, end);
    }
    return sum;
  }
};

class KinetoRankReader {
 public:
  KinetoRankReader(const KinetoTrace& trace, KinetoCounts& counts) : trace_(trace), counts_(counts) {}

  sim::Result<RankTrace> read(const std::string& file, int rank, int step) {
    out_.file = file;
    out_.rank = trace_.rank >= 0 ? trace_.rank : rank;
    out_.world = trace_.world;
    out_.ordered = true;
    if (auto ok = choose_part(step); !ok) return sim::fail_as(std::move(ok));
    choose_items();
    if (items_.empty()) {
      return sim::fail(trace_.activities.empty()
                           ? "it records no kernels of a GPU: profile with ProfilerActivity.CUDA"
                           : "this part of it has no kernels");
    }
    find_waits();
    write();
    measure();
    return std::move(out_);
  }

 private:
  sim::Status choose_part(int step) {
    counts_.gpu = trace_.gpu;
    std::vector<KinetoSpan> steps = trace_.steps;
    std::ranges::sort(steps, {}, &KinetoSpan::begin);
    counts_.steps = static_cast<std::int64_t>(steps.size());
    if (step >= 0) {
      const std::string name = fmt::format("ProfilerStep#{}", step);
      const auto found = std::ranges::find(steps, name, &KinetoSpan::name);
      if (found == steps.end()) {
        std::vector<std::string> names;
        names.reserve(steps.size());
        for (const KinetoSpan& s : steps) names.push_back(config::quote(s.name));
        return sim::fail(names.empty()
                             ? fmt::format("--step {}: the trace marks no steps", step)
                             : fmt::format("--step {}: the trace has {}", step, fmt::join(names, ", ")));
      }
      part_ = *found;
    } else if (!steps.empty()) {
      part_ = steps[steps.size() / 2];
    } else {
      part_ = {.name = "all of it",
               .begin = -std::numeric_limits<double>::infinity(),
               .end = std::numeric_limits<double>::infinity()};
    }
    counts_.step = part_.name;
    return {};
  }

  void choose_items() {
    std::map<std::int64_t, const KinetoCall*> call_of;
    for (const KinetoCall& c : trace_.calls) {
      if (c.correlation >= 0) call_of.emplace(c.correlation, &c);
    }
    counts_.no_calls = trace_.calls.empty();
    const std::int64_t device = busiest_device();
    for (const Activity& a : trace_.activities) {
      if (a.device != device) {
        ++counts_.other_devices;
        continue;
      }
      const auto call = call_of.find(a.correlation);
      const bool known = call != call_of.end();
      if (!known) counts_.no_launch = true;
      const double launched = known ? std::min(call->second->begin, a.begin) : a.begin;
      if (launched < part_.begin || launched >= part_.end) continue;
      items_.push_back({.what = &a,
                        .launched = launched,
                        .thread = known ? call->second->thread : -1,
                        .communicates = is_communication(a),
                        .key = a.begin,
                        .node = -1,
                        .after = {}});
    }
    std::ranges::stable_sort(items_, {}, [](const Item& i) { return std::pair(i.what->begin, i.launched); });
    std::map<std::int64_t, double> last;
    for (Item& i : items_) {  // the order of a stream stays, whatever clocks say
      i.key = std::max({i.what->begin, i.launched, last[i.what->stream]});
      last[i.what->stream] = i.key;
    }
    std::ranges::stable_sort(items_, {}, &Item::key);
  }

  std::int64_t busiest_device() const {
    std::map<std::int64_t, double> busy;
    for (const Activity& a : trace_.activities) busy[a.device] += a.end - a.begin;
    const auto most = std::ranges::max_element(busy, {}, [](const auto& d) { return d.second; });
    return most == busy.end() ? 0 : most->first;
  }

  /// Items by the time of their launch.
  std::vector<int> by_launch() const {
    std::vector<int> order(items_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::ranges::stable_sort(order, {}, [&](int i) { return item(i).launched; });
    return order;
  }
  const Item& item(int i) const { return items_[static_cast<std::size_t>(i)]; }
  Item& item(int i) { return items_[static_cast<std::size_t>(i)]; }

  void add_wait(int waiting, int before, std::int64_t& count) {
    if (waiting == before || item(before).key > item(waiting).key) return;
    auto& after = item(waiting).after;
    if (std::ranges::find(after, before) != after.end()) return;
    after.push_back(before);
    ++count;
  }

  void find_waits() {
    launches_ = by_launch();
    for (const int i : launches_) on_stream_[item(i).what->stream].push_back(i);
    if (!trace_.waits.empty()) {
      recorded_waits();
    } else {
      waits_of_collectives();
      waits_for_collectives();
    }
    waits_by_time();
  }

  /// What was launched last on a stream before a moment, or -1.
  int last_before(std::int64_t stream, double at) const {
    const auto list = on_stream_.find(stream);
    if (list == on_stream_.end()) return -1;
    const auto i = std::ranges::lower_bound(list->second, at, {}, [&](int n) { return item(n).launched; });
    return i == list->second.begin() ? -1 : *std::prev(i);
  }
  int first_behind(std::int64_t stream, double at) const {
    const auto list = on_stream_.find(stream);
    if (list == on_stream_.end()) return -1;
    const auto i = std::ranges::lower_bound(list->second, at, {}, [&](int n) { return item(n).launched; });
    return i == list->second.end() ? -1 : *i;
  }

  /// Newer profilers write which stream waits for which event of which other.
  void recorded_waits() {
    std::map<std::int64_t, const KinetoCall*> call_of;
    for (const KinetoCall& c : trace_.calls) {
      if (c.correlation >= 0) call_of.emplace(c.correlation, &c);
    }
    for (const KinetoWait& w : trace_.waits) {
      const auto waits = call_of.find(w.correlation);
      const auto recorded = call_of.find(w.recorded);
      if (waits == call_of.end() || recorded == call_of.end() || w.stream == w.other) continue;
      if (waits->second->begin < part_.begin || waits->second->begin >= part_.end) continue;
      const int before = last_before(w.other, recorded->second->begin);
      const int waiting = first_behind(w.stream, waits->second->begin);
      if (before >= 0 && waiting >= 0) add_wait(waiting, before, counts_.waits);
    }
  }

  /// A collective waits for the stream that its caller works on.
  void waits_of_collectives() {
    std::map<std::int64_t, int> current;  // by thread: what it launched last, without communication
    int last = -1;
    for (const int i : launches_) {
      if (!item(i).communicates) {
        last = current[item(i).thread] = i;
        continue;
      }
      const auto own = current.find(item(i).thread);
      const int before = own == current.end() ? last : own->second;
      if (before >= 0) add_wait(i, before, counts_.guessed);
    }
  }

  /// Whether the host was in a call of NCCL.
  bool inside_nccl(const KinetoCall& call) const {
    const auto spans = inside_.find(call.thread);
    if (spans == inside_.end()) return false;
    const auto i = std::ranges::upper_bound(spans->second, call.begin, {}, &std::pair<double, double>::first);
    return i != spans->second.begin() && call.begin <= std::prev(i)->second;
  }
  /// Puts together the spans of each thread that overlap.
  void note_inside() {
    for (const KinetoSpan& s : trace_.inside_nccl) inside_[s.thread].emplace_back(s.begin, s.end);
    for (auto& [thread, spans] : inside_) {
      std::ranges::sort(spans);
      std::vector<std::pair<double, double>> apart;
      for (const auto& s : spans) {
        if (apart.empty() || s.first > apart.back().second) {
          apart.push_back(s);
        } else {
          apart.back().second = std::max(apart.back().second, s.second);
        }
      }
      spans = std::move(apart);
    }
  }

  /// Calls that make a stream wait, and that are no part of a collective's launch, wait for collectives in
  /// the order of their launches.
  void waits_for_collectives() {
    note_inside();
    std::vector<const KinetoCall*> waits;
    for (const KinetoCall& c : trace_.calls) {
      if (c.kind == KinetoCall::Kind::kWaitEvent && c.begin >= part_.begin && c.begin < part_.end &&
          !inside_nccl(c))
        waits.push_back(&c);
    }
    std::ranges::sort(waits, {}, &KinetoCall::begin);
    std::vector<int> open;
    std::size_t next = 0;
    for (const KinetoCall* call : waits) {
      for (; next < launches_.size() && item(launches_[next]).launched < call->begin; ++next) {
        if (item(launches_[next]).communicates) open.push_back(launches_[next]);
      }
      std::size_t l = next;
      while (l < launches_.size() && item(launches_[l]).communicates) ++l;
      if (l == launches_.size() || open.empty()) continue;
      const int waiting = launches_[l];
      if (item(open.front()).what->end > item(waiting).what->begin + kClockError) continue;
      add_wait(waiting, open.front(), counts_.guessed);
      open.erase(open.begin());
    }
  }

  /// What was launched early, and began right behind the end of a collective on an idle stream, waited for
  /// it.
  void waits_by_time() {
    if (!trace_.waits.empty()) return;
    std::vector<int> collectives;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].communicates) collectives.push_back(static_cast<int>(i));
    }
    std::ranges::sort(collectives, {}, [&](int i) { return item(i).what->end; });
    std::map<std::int64_t, double> busy_until;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Activity& a = *items_[i].what;
      const double free = busy_until[a.stream];
      busy_until[a.stream] = std::max(free, a.end);
      if (items_[i].communicates || a.begin - free < kRightBehind) continue;
      auto c = std::ranges::upper_bound(collectives, a.begin + kClockError, {},
                                        [&](int n) { return item(n).what->end; });
      if (c == collectives.begin()) continue;
      --c;
      const double end = item(*c).what->end;
      if (end < a.begin - kRightBehind || items_[i].launched > end - kClockError) continue;
      add_wait(static_cast<int>(i), *c, counts_.guessed);
    }
  }

  /// A node of the host, which is busy until a moment.
  struct HostNode {
    double until = 0;
    double from = 0;            // where it begins if nothing is waited for
    std::vector<int> after;     // items that the host waited for
    std::vector<int> launches;  // items
  };

  std::vector<HostNode> host_nodes() const {
    std::set<std::int64_t> threads;
    for (const Item& i : items_) threads.insert(i.thread);
    std::vector<const KinetoCall*> waits;
    for (const KinetoCall& c : trace_.calls) {
      if (c.kind == KinetoCall::Kind::kSynchronize && threads.contains(c.thread) && c.begin >= part_.begin &&
          c.begin < part_.end)
        waits.push_back(&c);
    }
    std::ranges::sort(waits, {}, &KinetoCall::begin);
    std::vector<HostNode> nodes;
    double now = part_.begin;
    if (!std::isfinite(now)) {
      now = launches_.empty() ? 0 : item(launches_.front()).launched;
      if (!waits.empty()) now = std::min(now, waits.front()->begin);
    }
    auto wait = waits.begin();
    std::vector<int> after;
    double ready = now;
    const auto look = [&](double until) {
      for (; wait != waits.end() && (*wait)->begin < until; ++wait) {
        for (const int i : ended_in(**wait)) {
          after.push_back(i);
          ready = std::max(ready, item(i).what->end);
        }
      }
    };
    for (std::size_t l = 0; l < launches_.size();) {
      const Item& first = item(launches_[l]);
      look(first.launched);
      HostNode node{
          .until = first.launched, .from = std::min(ready, first.launched), .after = {}, .launches = {}};
      node.after = std::exchange(after, {});
      for (; l < launches_.size() && item(launches_[l]).launched <= first.launched; ++l)
        node.launches.push_back(launches_[l]);
      ready = first.launched;
      nodes.push_back(std::move(node));
    }
    if (std::isfinite(part_.end)) {  // what the host does behind the last launch
      look(part_.end);
      nodes.push_back({.until = part_.end,
                       .from = std::min(ready, part_.end),
                       .after = std::move(after),
                       .launches = {}});
    }
    return nodes;
  }

  /// The last of each stream that ended while the host waited.
  std::vector<int> ended_in(const KinetoCall& call) const {
    std::map<std::int64_t, int> last;
    for (auto i = std::ranges::lower_bound(by_end_, call.begin, {}, [&](int n) { return item(n).what->end; });
         i != by_end_.end() && item(*i).what->end <= call.end + kClockError; ++i) {
      if (item(*i).launched <= call.begin) last[item(*i).what->stream] = *i;
    }
    std::vector<int> all;
    all.reserve(last.size());
    for (const auto& [stream, i] : last) all.push_back(i);
    return all;
  }

  void write() {
    by_end_ = launches_;
    std::ranges::stable_sort(by_end_, {}, [&](int i) { return item(i).what->end; });
    std::vector<HostNode> host = host_nodes();
    std::size_t h = 0;
    std::vector<int> launched_by(items_.size(), -1);
    const auto write_host = [&](const HostNode& n) {
      TraceNode node{.kind = Kind::kHost, .name = "host", .lane = "host", .start_us = n.from};
      node.time = time_of(n.until - n.from);
      for (const int i : n.after) {
        if (item(i).node >= 0) node.after.push_back(item(i).node);
      }
      for (const int i : n.launches)
        launched_by[static_cast<std::size_t>(i)] = static_cast<int>(out_.nodes.size());
      out_.nodes.push_back(std::move(node));
    };
    for (std::size_t i = 0; i < items_.size(); ++i) {
      for (; h < host.size() && host[h].until <= items_[i].key; ++h) write_host(host[h]);
      TraceNode node = node_of(items_[i]);
      if (launched_by[i] >= 0) node.after.push_back(launched_by[i]);
      for (const int before : items_[i].after) {
        if (item(before).node >= 0) node.after.push_back(item(before).node);
      }
      items_[i].node = static_cast<int>(out_.nodes.size());
      out_.nodes.push_back(std::move(node));
    }
    for (; h < host.size(); ++h) write_host(host[h]);
  }

  TraceNode node_of(const Item& i) {
    const Activity& a = *i.what;
    TraceNode node{.kind = Kind::kKernel,
                   .name = config::shown(a.name, 80),
                   .lane = fmt::format("stream {}", a.stream),
                   .start_us = a.begin};
    node.time = time_of(a.end - a.begin);
    if (a.kind != Activity::Kind::kKernel) {
      ++counts_.copies;
      const bool between = has_word(a.name, "HtoD") || has_word(a.name, "DtoH") || has_word(a.name, "PtoP") ||
                           has_word(a.name, "HtoH");
      node.kind = between ? Kind::kCopyEngine : Kind::kKernel;
      node.sms = 1;
      node.bytes = sim::Bytes{between ? 0 : std::min<std::int64_t>(a.bytes, std::int64_t{1} << 40)};
      return node;
    }
    if (i.communicates && understand_collective(a, node)) {
      ++counts_.collectives;
      return node;
    }
    if (i.communicates) ++counts_.unsized;
    ++counts_.kernels;
    const int sms = trace_.sms > 0 ? trace_.sms : kUsualSms;
    const std::int64_t blocks = std::max<std::int64_t>(a.blocks, 0);
    if (blocks > 0 && blocks < sms) {
      node.sms = static_cast<int>(blocks);
    } else if (blocks > 0) {
      node.workgroups = static_cast<int>(std::min<std::int64_t>(blocks, std::int64_t{kFinestWaves} * sms));
    }
    node.product = product_of(a);
    if (node.product) {
      ++counts_.products;
      counts_.products_measured += node.time;
    }
    return node;
  }

  const KinetoCollective* arguments_of(const Activity& a) const {
    if (a.collective >= 0) return &trace_.collectives[static_cast<std::size_t>(a.collective)];
    const auto found = trace_.collective_of_operator.find(a.external);
    if (found == trace_.collective_of_operator.end()) return nullptr;
    return &trace_.collectives[static_cast<std::size_t>(found->second)];
  }

  /// False where the trace does not say enough.
  bool understand_collective(const Activity& a, TraceNode& node) {
    const KinetoCollective* c = arguments_of(a);
    if (c == nullptr) return false;
    auto named = collective_named(c->name);
    if (!named) named = collective_named(a.name);
    if (!named) return false;
    const int element = element_bytes_named(c->type).value_or(4);
    TraceGroup group{.name = c->group, .about = c->group_about, .ranks = c->ranks};
    if (group.ranks.empty()) {
      if (const auto known = trace_.groups.find(c->group); known != trace_.groups.end())
        group.ranks = known->second;
    }
    const std::int64_t size = !group.ranks.empty() ? std::ssize(group.ranks)
                              : c->group_size > 0  ? c->group_size
                                                   : trace_.world;
    if (group.ranks.empty() && size > 0 && trace_.world == 0)
      out_.world = std::max(out_.world, static_cast<int>(size));
    if (group.ranks.empty() && size > 0 && size != std::max(trace_.world, out_.world)) return false;
    std::int64_t elements = std::max(c->in, c->out);
    if (named->kind == Kind::kGatherTo || named->what == coll::Collective::kAllGather)
      elements = std::max(elements, c->in * std::max<std::int64_t>(size, 1));
    if (named->kind == Kind::kScatterFrom || named->what == coll::Collective::kReduceScatter)
      elements = std::max(elements, c->out * std::max<std::int64_t>(size, 1));
    constexpr std::int64_t kMostElements = std::int64_t{1} << 38;
    const bool barrier = named->what == coll::Collective::kBarrier && named->kind == Kind::kCollective;
    if (elements > kMostElements || (elements <= 0 && !barrier)) return false;
    if (named->kind == Kind::kSend || named->kind == Kind::kReceive) {
      int peer = named->kind == Kind::kSend ? c->destination : c->source;
      if (peer < 0 && group.ranks.size() == 2) peer = group.ranks[group.ranks[0] == out_.rank ? 1 : 0];
      if (peer < 0 && size == 2 && trace_.world == 2) peer = 1 - out_.rank;
      if (peer < 0 || peer == out_.rank) return false;
      node.peer = peer;
    }
    node.kind = named->kind;
    node.collective = named->what;
    node.bytes = sim::Bytes{elements * element};
    node.root = group.ranks.empty() ? 0 : group.ranks.front();
    if (c->source >= 0 && named->kind == Kind::kCollective) node.root = c->source;
    const auto same = std::ranges::find(out_.groups, group);
    node.group = static_cast<int>(same - out_.groups.begin());
    if (same == out_.groups.end()) out_.groups.push_back(std::move(group));
    if (const auto type = data_type_named(c->type)) {
      bytes_by_type_[*type] += node.bytes.count();
      out_.type = std::ranges::max_element(bytes_by_type_, {}, [](const auto& t) { return t.second; })->first;
    }
    return true;
  }

  std::optional<TraceProduct> product_of(const Activity& a) {
    const auto found = trace_.operators.find(a.external);
    if (found == trace_.operators.end() || taken_.contains(a.external)) return std::nullopt;
    std::string name = a.name;
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool is_product = has_word(name, "gemm") || has_word(name, "cutlass") || has_word(name, "xmma") ||
                            has_word(name, "nvjet") || has_word(name, "cijk") || has_word(name, "s16816");
    if (!is_product || has_word(name, "splitk")) return std::nullopt;
    const KinetoOperator& op = found->second;
    const bool has_bias = op.name == "aten::addmm" || op.name == "aten::baddbmm";
    const std::size_t first = has_bias ? 1 : 0;
    if (op.dims.size() < first + 2) return std::nullopt;
    const auto& left = op.dims[first];
    const auto& right = op.dims[first + 1];
    const bool batched = left.size() == 3 && right.size() == 3;
    if (op.name == "aten::linear" || (!batched && (left.size() != 2 || right.size() != 2)))
      return std::nullopt;
    const std::size_t d = batched ? 1 : 0;
    TraceProduct p{.m = left[d], .n = right[d + 1], .k = left[d + 1], .groups = batched ? left[0] : 1};
    constexpr std::int64_t kLongest = 1 << 24;
    for (const std::int64_t side : {p.m, p.n, p.k, p.groups}) {
      if (side < 1 || side > kLongest) return std::nullopt;
    }
    if (right[d] != p.k || (batched && right[0] != p.groups) || p.m * p.groups > kLongest ||
        p.k * p.groups > kLongest)
      return std::nullopt;
    const std::string type = op.types.size() > first ? op.types[first] : "";
    if (has_word(type, "BFloat16")) {
      p.precision = gpu::Precision::kBf16;
    } else if (has_word(type, "Half")) {
      p.precision = gpu::Precision::kFp16;
    } else if (type == "float") {
      p.precision = has_word(name, "tf32") ? gpu::Precision::kTf32 : gpu::Precision::kFp32;
    } else {
      return std::nullopt;  // numbers that are not known, or 8 bits that not every GPU has
    }
    taken_.insert(a.external);
    return p;
  }

  void measure() {
    Length communication;
    Length compute;
    Length both;
    double first = std::numeric_limits<double>::infinity();
    double last = -first;
    for (const Item& i : items_) {
      const std::pair span(i.what->begin, i.what->end);
      first = std::min(first, i.launched);
      last = std::max(last, i.what->end);
      both.spans.push_back(span);
      (i.communicates ? communication : compute).spans.push_back(span);
    }
    const double step = std::isfinite(part_.end) ? part_.end - part_.begin : last - first;
    out_.measured = study::TraceMeasured{.step = time_of(step),
                                         .communicating = time_of(communication.united()),
                                         .uncovered = time_of(both.united() - compute.united())};
  }

  const KinetoTrace& trace_;
  KinetoCounts& counts_;
  KinetoSpan part_;
  std::vector<Item> items_;
  std::vector<int> launches_;
  std::map<std::int64_t, std::vector<std::pair<double, double>>> inside_;  // calls of NCCL, by thread
  std::map<std::int64_t, std::vector<int>> on_stream_;                     // items by launch
  std::vector<int> by_end_;                                                // items
  std::set<std::int64_t> taken_;  // operators whose product has its kernel
  std::map<sim::DataType, std::int64_t> bytes_by_type_;
  RankTrace out_;
};

}  // namespace

sim::Result<RankTrace> read_kineto_rank(const KinetoTrace& trace, const std::string& file, int rank, int step,
                                        KinetoCounts& counts) {
  auto read = KinetoRankReader(trace, counts).read(file, rank, step);
  if (read) return read;
  return sim::fail(config::at(file, {}, read.error().message));
}

void note_kineto(const KinetoCounts& c, Notes& notes) {
  if (!c.gpu.empty()) notes.fact("gpu", c.gpu);
  if (c.steps > 0) notes.fact("steps", c.steps);
  notes.fact("part", c.step);
  notes.fact("kernels", c.kernels);
  notes.fact("products", c.products);
  notes.fact("copies", c.copies);
  notes.fact("collectives", c.collectives);
  notes.assumed.emplace_back(
      "kernels without a known shape take as long as measured when alone, on as many SMs as their grid "
      "fills; "
      "how much memory they read is not known");
  if (c.products > 0) {
    notes.assumed.push_back(
        fmt::format("{} matrix products have the shapes of their operators (measured: {:.3f} ms in all)",
                    c.products, c.products_measured.in_us() * 1e-3));
  }
  if (c.collectives + c.unsized > 0) {
    notes.assumed.push_back(
        c.waits > 0 ? fmt::format("{} waits between streams are those that the trace records", c.waits)
                    : fmt::format("{} waits between streams are told from calls and times, as the trace "
                                  "does not record them",
                                  c.guessed));
  }
  if (c.unsized > 0) {
    notes.assumed.push_back(
        fmt::format("{} kernels of communication do not say what they send: they take as long as measured, "
                    "and send nothing",
                    c.unsized));
  }
  if (c.no_calls) {
    notes.assumed.emplace_back("the trace has no calls of the runtime: kernels are launched when they began");
  } else {
    notes.assumed.emplace_back("launches of all threads of the host follow each other as recorded");
    if (c.no_launch) notes.assumed.emplace_back("kernels without a launch were launched when they began");
  }
  if (c.other_devices > 0)
    notes.ignored.push_back(fmt::format("{} activities of other GPUs", c.other_devices));
  notes.ignored.emplace_back("operators of the host, Python frames, flows and counters");
}

}  // namespace infold::formats

// Kinds of kernels and of their partners, and the samples that profile them.
#include "study/composed/profiler.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>
#include <optional>

#include "study/composed/excerpt.h"
#include "study/step/many_steps.h"
#include "work/communications.h"

namespace infold::study::composed {

namespace {

using work::OpId;

/// A pair that meets for a smaller part of the step does not matter.
constexpr double kLeastMeeting = 1e-5;
/// Alone, a partner is repeated so often: the first begins on idle GPUs, the others follow at once. For what
/// moves much that is the same.
constexpr int kRepeatsAlone = 3;
constexpr sim::Bytes kMuch = sim::Bytes::mib(4);
/// Of a communication with more bytes only so many are simulated: its time is on the line through this size
/// and half of it.
constexpr sim::Bytes kMostSimulated = sim::Bytes::mib(16);
/// A pair of partners is looked at for so many repetitions of the longer one, and at most these of a short
/// one.
constexpr int kRepeatsTogether = 3;
constexpr int kMostTogether = 128;
/// Beside a window a partner must go on. It stops with the window, so too many cost nothing.
constexpr double kSpare = 4;

bool communicates(const work::Operation& op) {
  return std::holds_alternative<work::Collective>(op.what) || std::holds_alternative<work::Transfer>(op.what);
}

int order_of_magnitude(sim::Bytes all) {
  const sim::Bytes bytes = sim::min(all, kMostSimulated);
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes.count())));
}

}  // namespace

sim::Result<std::vector<Sampled>> Sampler::take(const std::vector<Sample>& samples) {
  std::vector<std::string> keys;
  keys.reserve(samples.size());
  for (const Sample& s : samples) keys.push_back(key_of(scene_, s, store_.version()));
  std::vector<std::optional<Sampled>> results(samples.size());
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    results[i] = store_.find(keys[i]);
    const auto same = [&](std::size_t other) { return keys[other] == keys[i]; };
    if (!results[i] && std::ranges::none_of(missing, same)) missing.push_back(i);
  }
  std::mutex asking;
  std::optional<sim::Error> trouble;
  const auto go_on = [&] {
    const std::lock_guard lock(asking);
    return !trouble && (!keep_going_ || keep_going_(0));
  };
  in_parallel(missing.size(), 0, [&](std::size_t m) {
    if (!go_on()) return;
    auto sampled = simulate(scene_, samples[missing[m]], go_on);
    const std::lock_guard lock(asking);
    if (!sampled) {
      if (!trouble) trouble = std::move(sampled.error());
      return;
    }
    store_.keep(keys[missing[m]], *sampled);
    results[missing[m]] = *std::move(sampled);
  });
  if (trouble) return sim::fail(*std::move(trouble));
  std::vector<Sampled> all;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!results[i]) results[i] = store_.find(keys[i]);
    if (!results[i]) return sim::interrupted();
    if (counted_.insert(keys[i]).second) {
      events_ += results[i]->events;
      packet_hops_ += results[i]->packet_hops;
    }
    all.push_back(*std::move(results[i]));
  }
  return all;
}

Profiler::Profiler(const work::Graph& graph, const StepPrograms& programs, Sampler& sampler)
    : graph_(graph),
      programs_(programs),
      sampler_(sampler),
      kinds_(graph, sampler.scene().system->machine.gpu.l2.capacity),
      rank_of_(graph.operations.size(), -1) {
  profiles_.communications.resize(graph.operations.size());
  profiles_.partner.resize(graph.operations.size(), -1);
  for (OpId op = 0; op < static_cast<OpId>(graph.operations.size()); ++op)
    profiles_.kind.push_back(kinds_.of(op));
  std::vector<bool> seen(graph.scripts.size());
  for (int r = 0; r < graph.ranks(); ++r) {
    const auto script = static_cast<std::size_t>(graph.script_of[static_cast<std::size_t>(r)]);
    if (seen[script]) continue;
    seen[script] = true;
    for (const work::Stream& stream : graph.scripts[script].streams) {
      for (const OpId op : stream.ops) {
        if (rank_of_[static_cast<std::size_t>(op)] < 0) rank_of_[static_cast<std::size_t>(op)] = r;
      }
    }
  }
}

Partner Profiler::partner_of(int rank, OpId op) const {
  const work::Operation& o = graph_[op];
  Partner p;
  p.op.what = o.what;
  if (const auto* copy = std::get_if<work::Copy>(&o.what)) {
    p.copied = graph_.tensors[static_cast<std::size_t>(copy->tensor)];
    p.bytes = graph_.buffers[static_cast<std::size_t>(copy->buffer)].bytes;
    return p;
  }
  const work::CommunicatorId c = work::communicator_of(o);
  p.program = programs_.at(graph_, rank, op).program;
  p.members = work::group_of(graph_, c, rank);
  p.bytes = graph_.buffers[static_cast<std::size_t>(work::buffer_of(o))].bytes;
  p.priority = graph_.communicators[static_cast<std::size_t>(c)].priority;
  return p;
}

/// Makes a communication one of fewer bytes, by the same algorithm and protocol.
sim::Status Profiler::shorten(Partner& partner, sim::Bytes to) const {
  if (partner.bytes <= to) return {};
  const auto even = static_cast<std::int64_t>(partner.members.size()) * 256;
  const sim::Bytes bytes{std::max<std::int64_t>(to.count() / even, 1) * even};
  auto program = programs_.resized(partner.op, partner.bytes, partner.members, bytes);
  if (!program) return sim::fail_as(std::move(program));
  partner.program = *std::move(program);
  partner.bytes = bytes;
  return {};
}

/// Communication of one collective, program and group is of one kind with all that has about as many bytes.
void Profiler::find_partners() {
  std::map<std::string, PartnerId> known;
  for (const work::Script& script : graph_.scripts) {
    for (const work::Stream& stream : script.streams) {
      for (const OpId op : stream.ops) {
        const auto i = static_cast<std::size_t>(op);
        const work::Operation& o = graph_[op];
        const bool copies =
            stream.kind == work::Stream::Kind::kBeside && std::holds_alternative<work::Copy>(o.what);
        if (rank_of_[i] < 0 || (!copies && !communicates(o))) continue;
        ContentKey key;
        key.add(copies);
        if (copies) {
          add_shape(key, graph_, o);
        } else {
          const StepPrograms::Entry& entry = programs_.at(graph_, rank_of_[i], op);
          const work::CommunicatorId c = work::communicator_of(o);
          key.add(entry.program.collective);
          key.add(entry.program.root);
          key.add(entry.program.engine);
          key.add(name_of(entry.choice));
          key.add(entry.choice.protocol);
          key.add(order_of_magnitude(graph_.buffers[static_cast<std::size_t>(work::buffer_of(o))].bytes));
          key.add(work::group_of(graph_, c, rank_of_[i]));
        }
        const auto [at, is_new] = known.try_emplace(key.text(), static_cast<PartnerId>(partners_.size()));
        if (is_new) partners_.push_back({.partner = partner_of(rank_of_[i], op), .op = op});
        profiles_.partner[i] = at->second;
        if (!copies) {
          const work::BufferId b = work::buffer_of(o);
          partners_[static_cast<std::size_t>(at->second)]
              .sizes[graph_.buffers[static_cast<std::size_t>(b)].bytes.count()]
              .push_back(op);
        }
      }
    }
  }
}

sim::Status Profiler::learn_alone() {
  find_partners();
  if (auto ok = learn_kernels(); !ok) return ok;
  return learn_partners();
}

sim::Status Profiler::learn_kernels() {
  std::set<int> all;
  for (const int kind : profiles_.kind) {
    if (kind >= 0) all.insert(kind);
  }
  const std::vector<Window> windows = kinds_.windows(all);
  std::vector<Sample> samples;
  samples.reserve(windows.size());
  for (const Window& w : windows) samples.push_back({.window = excerpt_of(graph_, w.ops)});
  auto sampled = sampler_.take(samples);
  if (!sampled) return sim::fail_as(std::move(sampled));
  profiles_.kernels.assign(static_cast<std::size_t>(kinds_.count()), 0);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    for (std::size_t i = 0; i < windows[w].ops.size(); ++i) {
      if (windows[w].wanted[i])
        profiles_.kernels[static_cast<std::size_t>(windows[w].kinds[i])] = (*sampled)[w].kernels[i];
    }
  }
  return {};
}

/// Of a kind with many sizes two are simulated, and the others lie on their line: the smallest and the
/// largest, or what kMostSimulated says.
sim::Status Profiler::learn_partners() {
  std::vector<Sample> samples;
  const auto add = [&](Partner p) {
    const int repeats = p.bytes > kMuch ? 1 : kRepeatsAlone;
    samples.push_back({.partner = std::move(p), .repeats = repeats});
    return samples.size() - 1;
  };
  struct Line {
    std::size_t own = 0;
    std::size_t first = 0;  // samples of two sizes
    std::size_t second = 0;
  };
  std::vector<Line> lines(partners_.size());
  for (std::size_t k = 0; k < partners_.size(); ++k) {
    const Kind& kind = partners_[k];
    Partner most = kind.partner;
    if (most.communicates()) {
      if (auto ok = shorten(most, kMostSimulated); !ok) return ok;
    }
    lines[k].own = lines[k].first = lines[k].second = add(std::move(most));
    if (kind.sizes.empty()) continue;
    if (kind.sizes.rbegin()->first > kMostSimulated.count()) {
      Partner half = kind.partner;
      if (auto ok = shorten(half, kMostSimulated / 2); !ok) return ok;
      lines[k].first = add(std::move(half));
      continue;
    }
    const auto of = [&](const std::vector<OpId>& ops) {
      return partner_of(rank_of_[static_cast<std::size_t>(ops.front())], ops.front());
    };
    lines[k].first = add(of(kind.sizes.begin()->second));
    lines[k].second = add(of(kind.sizes.rbegin()->second));
  }
  auto sampled = sampler_.take(samples);
  if (!sampled) return sim::fail_as(std::move(sampled));
  for (std::size_t k = 0; k < partners_.size(); ++k) {
    Kind& kind = partners_[k];
    const Sampled& own = (*sampled)[lines[k].own];
    const Sampled& low = (*sampled)[lines[k].first];
    const Sampled& high = (*sampled)[lines[k].second];
    const auto from = static_cast<double>(samples[lines[k].first].partner->bytes.count());
    const double range = static_cast<double>(samples[lines[k].second].partner->bytes.count()) - from;
    kind.next = own.next;
    kind.pace = 1 / std::max(own.next, 1.0);
    if (kind.partner.communicates()) {
      const auto whole = static_cast<double>(kind.partner.bytes.count());
      if (range > 0) kind.next = low.next + (high.next - low.next) * (whole - from) / range;
      const double times = whole / static_cast<double>(samples[lines[k].own].partner->bytes.count());
      kind.pace = own.sent * times / std::max(kind.next, 1.0);
    }
    for (const auto& [bytes, ops] : kind.sizes) {
      const double share = range > 0 ? (static_cast<double>(bytes) - from) / range : 0;
      for (const OpId op : ops) {
        profiles_.communications[static_cast<std::size_t>(op)] = {
            .first = low.first + (high.first - low.first) * share,
            .next = low.next + (high.next - low.next) * share};
      }
    }
  }
  return {};
}

sim::Result<bool> Profiler::learn(const Meetings& met, double step) {
  std::set<std::pair<int, PartnerId>> beside;
  for (const auto& [pair, time] : met.beside) {
    if (time > kLeastMeeting * step && !profiles_.beside.contains(pair)) beside.insert(pair);
  }
  std::set<std::pair<PartnerId, PartnerId>> together;
  for (const auto& [pair, time] : met.together) {
    if (time > kLeastMeeting * step && !profiles_.together.contains(pair)) together.insert(pair);
  }
  auto some = learn_beside(beside);
  if (!some) return some;
  auto others = learn_together(together);
  if (!others) return others;
  return *some || *others;
}

sim::Result<bool> Profiler::learn_beside(const std::set<std::pair<int, PartnerId>>& pairs) {
  std::map<PartnerId, std::set<int>> kinds;
  for (const auto& [kind, partner] : pairs) kinds[partner].insert(kind);
  std::vector<Sample> alone;
  std::vector<std::pair<PartnerId, Window>> windows;
  for (const auto& [partner, of] : kinds) {
    for (Window& w : kinds_.windows(of)) {
      alone.push_back({.window = excerpt_of(graph_, w.ops)});
      windows.emplace_back(partner, std::move(w));
    }
  }
  auto by_themselves = sampler_.take(alone);
  if (!by_themselves) return sim::fail_as(std::move(by_themselves));
  const auto gap = static_cast<double>(sampler_.scene().system->machine.gpu.launch_gap.count_ps());
  std::vector<Sample> samples = std::move(alone);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const Kind& kind = partners_[static_cast<std::size_t>(windows[w].first)];
    double takes = 0;
    for (const double k : (*by_themselves)[w].kernels) takes += k + gap;
    samples[w].partner = kind.partner;
    samples[w].repeats = static_cast<int>(std::min(kSpare * takes / std::max(kind.next, 1.0), 8000.0)) + 4;
  }
  auto beside = sampler_.take(samples);
  if (!beside) return sim::fail_as(std::move(beside));
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const auto& [partner, window] = windows[w];
    const double pace_alone = partners_[static_cast<std::size_t>(partner)].pace;
    for (std::size_t i = 0; i < window.ops.size(); ++i) {
      if (!window.wanted[i]) continue;
      const double alone_takes = (*by_themselves)[w].kernels[i];
      const double pace = (*beside)[w].pace[i];
      Pair& pair = profiles_.beside[{window.kinds[i], partner}];
      if (alone_takes > 0) pair.kernel = (*beside)[w].kernels[i] / alone_takes;
      if (pace > 0) pair.partner = pace_alone / pace;
    }
  }
  return !pairs.empty();
}

sim::Result<bool> Profiler::learn_together(const std::set<std::pair<PartnerId, PartnerId>>& pairs) {
  std::vector<Sample> samples;
  for (const auto& [a, b] : pairs) {
    const Kind& one = partners_[static_cast<std::size_t>(a)];
    const Kind& other = partners_[static_cast<std::size_t>(b)];
    const double longer = std::max(one.next, other.next) * kRepeatsTogether;
    const auto repeats = [&](const Kind& k) {
      return static_cast<int>(
          std::clamp(std::ceil(longer / std::max(k.next, 1.0)) + 1, 3.0, static_cast<double>(kMostTogether)));
    };
    samples.push_back({.partner = one.partner,
                       .beside = other.partner,
                       .repeats = repeats(one),
                       .beside_repeats = repeats(other) * 2});
    samples.push_back({.partner = other.partner,
                       .beside = one.partner,
                       .repeats = repeats(other),
                       .beside_repeats = repeats(one) * 2});
  }
  auto sampled = sampler_.take(samples);
  if (!sampled) return sim::fail_as(std::move(sampled));
  std::size_t s = 0;
  for (const auto& [a, b] : pairs) {
    const double one = (*sampled)[s++].next;
    const double other = (*sampled)[s++].next;
    profiles_.together[{a, b}] = {
        .kernel = one / std::max(partners_[static_cast<std::size_t>(a)].next, 1.0),
        .partner = other / std::max(partners_[static_cast<std::size_t>(b)].next, 1.0)};
  }
  return !pairs.empty();
}

}  // namespace infold::study::composed

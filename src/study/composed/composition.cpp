// Issues what is ready, as work::Runtime does; kernels and communication end when what is left of them has
// passed at the rates that they have beside each other.
#include "study/composed/composition.h"

#include <algorithm>
#include <cmath>

#include "study/composed/excerpt.h"
#include "work/communications.h"

namespace infold::study::composed {

namespace {

using work::OpId;
using Kind = work::Stream::Kind;

bool communicates(const work::Operation& op) {
  return std::holds_alternative<work::Collective>(op.what) || std::holds_alternative<work::Transfer>(op.what);
}
bool holds_its_stream(const work::Operation& op) {
  return work::communicator_of(op) >= 0 || std::holds_alternative<work::Delay>(op.what);
}
bool of_kernels(const work::Stream& s) {
  return s.kind == Kind::kCompute || s.kind == Kind::kBeside;
}

/// A communication that begins so soon behind another follows it at once.
constexpr sim::Time kAtOnce = sim::Time::us(1);

}  // namespace

Composition::Composition(const work::Graph& graph, const Profiles& profiles, Circumstances circumstances,
                         ProgramOf programs)
    : graph_(graph),
      profiles_(profiles),
      circumstances_(std::move(circumstances)),
      programs_(std::move(programs)),
      dependents_(graph.operations.size()) {
  for (const work::Script& script : graph.scripts) {
    auto& lines = line_of_.emplace_back(graph.operations.size(), -1);
    for (std::size_t s = 0; s < script.streams.size(); ++s) {
      for (const OpId op : script.streams[s].ops) lines[index(op)] = static_cast<int>(s);
    }
  }
  for (OpId op = 0; op < static_cast<OpId>(graph.operations.size()); ++op) {
    for (const OpId before : graph[op].after) dependents_[index(before)].push_back(op);
  }
  make_actors();
}

void Composition::make_actors() {
  std::map<std::pair<int, sim::Time>, int> known;
  for (int r = 0; r < graph_.ranks(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    const sim::Time late = i < circumstances_.delays.size() ? circumstances_.delays[i] : sim::Time{};
    const auto [place, is_new] =
        known.try_emplace({graph_.script_of[i], late}, static_cast<int>(actors_.size()));
    actor_of_.push_back(place->second);
    if (!is_new) continue;
    Actor a;
    a.rank = r;
    a.late = late;
    actors_.push_back(std::move(a));
  }
  for (Actor& a : actors_) {
    a.lines.resize(graph_.script(a.rank).streams.size());
    a.pending.resize(graph_.operations.size());
    a.times.resize(graph_.operations.size());
    a.meeting_of.resize(graph_.operations.size());
    a.joined.resize(graph_.communicators.size());
    a.last.resize(graph_.communicators.size(), sim::Time::never());
    a.others.resize(graph_.communicators.size());
    for (OpId op = 0; op < static_cast<OpId>(graph_.operations.size()); ++op) {
      if (line_of(a, op) < 0) continue;
      a.pending[index(op)] = static_cast<int>(
          std::ranges::count_if(graph_[op].after, [&](OpId before) { return line_of(a, before) >= 0; }));
      if (a.pending[index(op)] == 0) a.times[index(op)].ready = sim::Time{};
      const work::CommunicatorId c = work::communicator_of(graph_[op]);
      if (c < 0 || !a.others[index(c)].empty()) continue;
      std::vector<int>& others = a.others[index(c)];
      for (const int m : work::group_of(graph_, c, a.rank))
        others.push_back(actor_of_[static_cast<std::size_t>(m)]);
      std::ranges::sort(others);
      others.erase(std::unique(others.begin(), others.end()), others.end());
    }
  }
}

sim::Status Composition::run() {
  for (int a = 0; a < static_cast<int>(actors_.size()); ++a) {
    for (int l = 0; l < static_cast<int>(actor(a).lines.size()); ++l) {
      const work::Stream& s = stream(actor(a), l);
      if (s.kind != Kind::kBeside) {
        advance(a, l);
        continue;
      }
      for (const OpId op : s.ops) {
        if (actor(a).pending[index(op)] == 0) ready(a, op);
      }
    }
  }
  set_rates();
  while (const auto then = next_time()) {
    move_to(*then);
    set_rates();
  }
  if (!done()) return sim::deadlock({"a composed step: not all operations can run"});
  return {};
}

void Composition::ready(int a, OpId op) {
  actor(a).times[index(op)].ready = now_;
  const int l = line_of(actor(a), op);
  if (stream(actor(a), l).kind != Kind::kBeside) return advance(a, l);
  ++actor(a).lines[index(l)].next;
  issue(a, l, op);
}

void Composition::advance(int a, int l) {
  while (true) {
    Line& line = actor(a).lines[index(l)];
    const std::vector<OpId>& ops = stream(actor(a), l).ops;
    if (line.busy || line.next == ops.size()) return;
    const OpId op = ops[line.next];
    if (actor(a).pending[index(op)] > 0) return;
    ++line.next;
    issue(a, l, op);
  }
}

void Composition::issue(int a, int l, OpId op) {
  Actor& who = actor(a);
  Line& line = who.lines[index(l)];
  const sim::Time start = sim::max(now_, who.late);
  who.times[index(op)].start = start;
  const work::Operation& o = graph_[op];
  line.busy = holds_its_stream(o);
  if (const auto* delay = std::get_if<work::Delay>(&o.what)) {
    timers_.emplace(start + delay->time, std::pair{a, op});
  } else if (communicates(o)) {
    join(a, op);
  } else if (of_kernels(stream(who, l))) {
    line.queue.push_back({op, start});
    pump(a, l);
  } else {
    ended(a, op);
  }
}

/// Begins what is at the head of a stream of kernels.
void Composition::pump(int a, int l) {
  Line* line = &actor(a).lines[index(l)];
  if (line->pumping) return;
  line->pumping = true;
  while (!line->present() && line->done < line->queue.size()) {
    const Queued head = line->queue[line->done];
    if (has_kernels(graph_[head.op])) {
      line->launched = sim::max(now_, head.issued) + circumstances_.launch_gap;
      line->left = profiles_.kernels[index(profiles_.kind[index(head.op)])];
    } else {
      ++line->done;
      ended(a, head.op);
    }
  }
  line->pumping = false;
}

void Composition::join(int a, OpId op) {
  Actor& who = actor(a);
  const work::CommunicatorId c = work::communicator_of(graph_[op]);
  const std::vector<int>& others = who.others[index(c)];
  const auto [place, is_new] = known_.try_emplace({c, others, who.joined[index(c)]++}, all_.size());
  if (is_new) all_.push_back({.op = op, .actors = others.size()});
  const std::size_t i = place->second;
  Meeting& m = all_[i];
  who.meeting_of[index(op)] = i;
  who.active.push_back(i);
  m.there.emplace_back(a, op);
  if (m.there.size() < m.actors) return;
  m.all_there = now_;
  const Profiles::Communication& takes = profiles_.communications[index(op)];
  const sim::Time last = who.last[index(c)];
  m.left = last != sim::Time::never() && now_ - last <= kAtOnce ? takes.next : takes.first;
  running_.push_back(i);
}

void Composition::ended(int a, OpId op) {
  Actor& who = actor(a);
  who.times[index(op)].end = now_;
  const int l = line_of(who, op);
  if (holds_its_stream(graph_[op])) who.lines[index(l)].busy = false;
  for (const OpId waiting : dependents_[index(op)]) {
    if (line_of(who, waiting) >= 0 && --who.pending[index(waiting)] == 0) ready(a, waiting);
  }
  if (holds_its_stream(graph_[op])) advance(a, l);
}

/// How fast everything on an actor goes beside what else is there.
void Composition::set_rates(Actor& a) {
  for (std::size_t l = 0; l < a.lines.size(); ++l) {
    Line& line = a.lines[l];
    if (!line.present()) continue;
    const OpId op = line.queue[line.done].op;
    const int kind = profiles_.kind[index(op)];
    double slower = 1;
    for (const std::size_t i : a.active) {
      if (!all_[i].runs()) continue;
      const auto pair = profiles_.beside.find({kind, profiles_.partner[index(all_[i].op)]});
      if (pair != profiles_.beside.end()) slower += pair->second.kernel - 1;
    }
    const PartnerId self = profiles_.partner[index(op)];
    for (const Line& other : a.lines) {
      if (&other == &line || !other.present()) continue;
      const OpId with = other.queue[other.done].op;
      const PartnerId partner = profiles_.partner[index(with)];
      if (partner >= 0) {
        const auto pair = profiles_.beside.find({kind, partner});
        if (pair != profiles_.beside.end()) slower += pair->second.kernel - 1;
      } else if (self >= 0) {
        const auto pair = profiles_.beside.find({profiles_.kind[index(with)], self});
        if (pair != profiles_.beside.end()) slower += pair->second.partner - 1;
      }
    }
    line.rate = 1 / std::max(slower, 0.01);
  }
}

void Composition::set_rates() {
  for (Actor& a : actors_) set_rates(a);
  for (const std::size_t i : running_) {
    Meeting& m = all_[i];
    const PartnerId self = profiles_.partner[index(m.op)];
    double slowest = 1;
    for (const auto& [who, op] : m.there) {
      const Actor& a = actor(who);
      double slower = 1;
      for (const Line& line : a.lines) {
        if (!line.present()) continue;
        const auto pair = profiles_.beside.find({profiles_.kind[index(line.queue[line.done].op)], self});
        if (pair != profiles_.beside.end()) slower += pair->second.partner - 1;
      }
      for (const std::size_t k : a.active) {
        if (k == i || !all_[k].runs()) continue;
        const PartnerId other = profiles_.partner[index(all_[k].op)];
        const auto pair = profiles_.together.find(std::minmax(self, other));
        if (pair != profiles_.together.end())
          slower += (self <= other ? pair->second.kernel : pair->second.partner) - 1;
      }
      slowest = std::max(slowest, slower);
    }
    m.rate = 1 / slowest;
  }
}

std::optional<sim::Time> Composition::next_time() const {
  sim::Time next = sim::Time::never();
  const auto at_rate = [&](double left, double rate) {
    return now_ + sim::Time::ps(std::max<std::int64_t>(0, std::llround(std::ceil(left / rate))));
  };
  for (const Actor& a : actors_) {
    for (const Line& line : a.lines) {
      if (!line.present()) continue;
      next = sim::min(next, line.launched > now_ ? line.launched : at_rate(line.left, line.rate));
    }
  }
  for (const std::size_t i : running_) next = sim::min(next, at_rate(all_[i].left, all_[i].rate));
  if (!timers_.empty()) next = sim::min(next, timers_.begin()->first);
  return next == sim::Time::never() ? std::nullopt : std::optional(next);
}

void Composition::note_meetings(double passes) {
  if (passes <= 0) return;
  for (const Actor& a : actors_) {
    for (const Line& line : a.lines) {
      if (!line.present()) continue;
      const OpId op = line.queue[line.done].op;
      const int kind = profiles_.kind[index(op)];
      for (const std::size_t i : a.active) {
        if (all_[i].runs()) meetings_.beside[{kind, profiles_.partner[index(all_[i].op)]}] += passes;
      }
      for (const Line& other : a.lines) {
        if (&other == &line || !other.present()) continue;
        const PartnerId partner = profiles_.partner[index(other.queue[other.done].op)];
        if (partner >= 0 && profiles_.partner[index(op)] < 0) meetings_.beside[{kind, partner}] += passes;
      }
    }
    for (const std::size_t i : a.active) {
      for (const std::size_t k : a.active) {
        if (i >= k || !all_[i].runs() || !all_[k].runs()) continue;
        meetings_.together[std::minmax(profiles_.partner[index(all_[i].op)],
                                       profiles_.partner[index(all_[k].op)])] += passes;
      }
    }
  }
}

void Composition::move_to(sim::Time then) {
  const auto passes = static_cast<double>((then - now_).count_ps());
  note_meetings(passes);
  for (Actor& a : actors_) {
    for (Line& line : a.lines) {
      if (line.present() && line.launched <= now_) line.left -= passes * line.rate;
    }
  }
  for (const std::size_t i : running_) all_[i].left -= passes * all_[i].rate;
  now_ = then;
  constexpr double kNothing = 0.5;
  for (int a = 0; a < static_cast<int>(actors_.size()); ++a) {
    for (int l = 0; l < static_cast<int>(actor(a).lines.size()); ++l) {
      Line& line = actor(a).lines[index(l)];
      if (!line.present() || line.launched > now_ || line.left > kNothing) continue;
      const OpId op = line.queue[line.done].op;
      actor(a).times[index(op)].start = line.launched;
      line.launched = sim::Time::never();
      ++line.done;
      ended(a, op);
      pump(a, l);
    }
  }
  for (const std::size_t i : std::vector(running_)) {
    if (all_[i].left > kNothing) continue;
    std::erase(running_, i);
    for (const auto& [a, op] : all_[i].there) std::erase(actor(a).active, i);
    const std::vector<std::pair<int, OpId>> members = all_[i].there;
    for (const auto& [a, op] : members) actor(a).last[index(work::communicator_of(graph_[op]))] = now_;
    for (const auto& [a, op] : members) ended(a, op);
  }
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    const auto [a, op] = timers_.begin()->second;
    timers_.erase(timers_.begin());
    ended(a, op);
  }
}

bool Composition::done() const {
  return std::ranges::all_of(actors_, [&](const Actor& a) {
    for (std::size_t l = 0; l < a.lines.size(); ++l) {
      const Line& line = a.lines[l];
      if (line.busy || line.done < line.queue.size() || line.next < stream(a, static_cast<int>(l)).ops.size())
        return false;
    }
    return true;
  });
}

sim::Time Composition::all_there(int rank, OpId op) const {
  return all_[at(rank).meeting_of[index(op)]].all_there;
}

bool Composition::ran(int rank, OpId op) const {
  return has_kernels(graph_[op]) && line_of(at(rank), op) >= 0 && at(rank).times[index(op)].over();
}

}  // namespace infold::study::composed

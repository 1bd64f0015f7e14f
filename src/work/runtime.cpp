// Issues what is ready, and is told what has ended.
#include "work/runtime.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/check.h"

namespace infold::work {

namespace {
/// Whether nothing behind an operation of this kind is issued before it has ended.
bool holds_its_stream(const Operation& op) {
  return communicator_of(op) >= 0 || std::holds_alternative<Delay>(op.what);
}
}  // namespace

void Runtime::record(sim::TraceRecorder* trace) {
  if (communications_ != nullptr) communications_->record(trace);
}

void Runtime::start() {
  for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
    const auto& streams = graph_.script(r).streams;
    for (int s = 0; s < static_cast<int>(streams.size()); ++s) {
      const bool compute = streams[static_cast<std::size_t>(s)].kind == Stream::Kind::kCompute;
      if (streams[static_cast<std::size_t>(s)].kind == Stream::Kind::kBeside) {
        for (const OpId op : std::vector(streams[static_cast<std::size_t>(s)].ops)) {
          if (at(r).pending[static_cast<std::size_t>(op)] == 0) ready(r, op);
        }
      } else if (!in_step_ || !compute || r == 0) {
        advance(r, s);
      }
    }
  }
}

/// Nothing but its stream keeps an operation from being issued.
void Runtime::ready(int rank, OpId op) {
  at(rank).times[static_cast<std::size_t>(op)].ready = events_.now();
  const int s = stream_of(rank, op);
  const Stream::Kind kind = stream(rank, s).kind;
  if (in_step_ && rank != 0 && kind == Stream::Kind::kCompute) return;
  if (kind != Stream::Kind::kBeside) {
    advance(rank, s);
    return;
  }
  ++at(rank).cursors[static_cast<std::size_t>(s)].next;  // here it counts
  issue(rank, s, op);
}

/// Issues what can be issued on a stream.
void Runtime::advance(int rank, int s) {
  while (true) {
    Cursor& c = at(rank).cursors[static_cast<std::size_t>(s)];
    const std::vector<OpId>& ops = stream(rank, s).ops;
    if (c.busy || c.next == ops.size()) return;
    const OpId op = ops[c.next];
    if (at(rank).pending[static_cast<std::size_t>(op)] > 0) return;
    ++c.next;
    issue(rank, s, op);
  }
}

void Runtime::note(sim::Time at, Note n) {
  events_.schedule(at, sim::Priority::kWork, *this, static_cast<std::uint32_t>(notes_.size()));
  notes_.push_back(n);
}

/// Has the GPU tell when its stream has come this far.
void Runtime::mark(int rank, int s, OpId op) {
  gpu::Dispatcher& dispatcher = at(rank).kernels.core().dispatcher();
  const gpu::EventId event = dispatcher.add_event();
  dispatcher.record(at(rank).streams[static_cast<std::size_t>(s)], event);
  dispatcher.notify(event, *this, static_cast<std::uint32_t>(notes_.size()));
  notes_.push_back({Note::What::kEnded, rank, op});
}

void Runtime::issue(int rank, int s, OpId op) {
  const auto i = static_cast<std::size_t>(op);
  Rank& r = at(rank);
  const auto late = static_cast<std::size_t>(rank) < options_.delays.size()
                        ? options_.delays[static_cast<std::size_t>(rank)]
                        : sim::Time{};
  const sim::Time now = sim::max(events_.now(), late);
  const Operation& o = graph_[op];
  Cursor& cursor = r.cursors[static_cast<std::size_t>(s)];
  r.times[i].start = now;
  const Stream::Kind kind = stream(rank, s).kind;
  const bool on_gpu = kind == Stream::Kind::kCompute || kind == Stream::Kind::kBeside;
  if (std::holds_alternative<Delay>(o.what)) {
    cursor.busy = true;
    note(now + std::get<Delay>(o.what).time, {Note::What::kEnded, rank, op});
  } else if (std::holds_alternative<Gather>(o.what)) {
    cursor.busy = true;
    if (gatherings_[gathering_of(op)]->what.parts.empty()) ended(rank, op);
  } else if (communicator_of(o) >= 0) {
    cursor.busy = true;
    communications_->start(rank, op);
  } else if (is_marker(o)) {
    if (on_gpu) {
      mark(rank, s, op);
    } else {
      ended(rank, op);
    }
  } else {
    r.kernels.enqueue(op, r.streams[static_cast<std::size_t>(s)], now);
    if (!dependents_[i].empty() || !gathered_by_[i].empty() || settles_[i].gathering >= 0) mark(rank, s, op);
  }
}

void Runtime::handle(std::uint32_t arg) {
  const Note n = notes_[arg];
  if (n.what == Note::What::kWake) {
    const std::size_t g = gathering_of(n.op);
    gatherings_[g]->wakes_at.reset();
    for (Gathered& b : gatherings_[g]->gatherer.wake()) gatherings_[g]->formed.push_back(std::move(b));
    form(g);
  } else if (n.what == Note::What::kLaunch) {
    launch(gathering_of(n.op));
  } else if (in_step_ && n.rank == 0 && stream(0, stream_of(0, n.op)).kind == Stream::Kind::kCompute) {
    ended_in_step(n.op);
  } else {
    ended(n.rank, n.op);
  }
}

/// Called when the first rank's compute has come this far, and with it that of all ranks in step.
void Runtime::ended_in_step(OpId op) {
  if (!options_.undisturbed || splits_behind(op)) split_behind(op);
  for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) ended(r, op);
}

/// Whether compute waits for communication next.
bool Runtime::splits_behind(OpId op) const {
  const int compute = stream_of(0, op);
  const std::vector<OpId>& ops = stream(0, compute).ops;
  const std::size_t next = position(op) + 1;
  return next < ops.size() && std::ranges::any_of(graph_[ops[next]].after, [&](OpId before) {
           return stream_of(0, before) != compute;
         });
}

/// Ends the ranks' being in step: from here on every rank's compute is simulated.
void Runtime::split_behind(OpId op) {
  in_step_ = false;
  const int compute = stream_of(0, op);
  for (int r = 1; r < static_cast<int>(ranks_.size()); ++r) {
    Rank& rank = at(r);
    rank.kernels.core().copy_compute_of(at(0).kernels.core());
    rank.own_from = position(op) + 1;
    rank.cursors[static_cast<std::size_t>(compute)].next = rank.own_from;
    advance(r, compute);
  }
}

/// An operation has ended on a rank: those that waited for it may go on, then its stream.
void Runtime::ended(int rank, OpId op) {
  const auto i = static_cast<std::size_t>(op);
  at(rank).times[i].end = events_.now();
  if (communicator_of(graph_[op]) >= 0 && !std::holds_alternative<Gather>(graph_[op].what))
    bytes_done_ += graph_.buffers[static_cast<std::size_t>(buffer_of(graph_[op]))].bytes.count();
  const int s = stream_of(rank, op);
  const bool held = holds_its_stream(graph_[op]);
  if (held) at(rank).cursors[static_cast<std::size_t>(s)].busy = false;
  for (std::size_t d = 0; d < dependents_[i].size(); ++d) {
    const OpId waiting = dependents_[i][d];
    if (stream_of(rank, waiting) < 0) continue;
    if (--at(rank).pending[static_cast<std::size_t>(waiting)] == 0) ready(rank, waiting);
  }
  for (const Waiting& w : gathered_by_[i]) arrived(rank, w.gathering, w.part);
  if (settles_[i].gathering >= 0) settle(rank, op);
  if (held) advance(rank, s);
}

const RankKernels& Runtime::kernels_for(int rank, OpId op) const {
  const int s = stream_of(rank, op);
  const bool compute = s >= 0 && stream(rank, s).kind == Stream::Kind::kCompute;
  if (rank > 0 && compute && (in_step_ || position(op) < at(rank).own_from)) return at(0).kernels;
  return at(rank).kernels;
}

Runtime::Times Runtime::times(int rank, OpId op) const {
  Times t = at(rank).times[static_cast<std::size_t>(op)];
  const RankKernels& kernels = kernels_for(rank, op);
  if (kernels.ran(op)) {
    t.start = kernels.began(op);
    t.end = kernels.ended(op);
  }
  return t;
}

sim::Time Runtime::all_there(int rank, OpId op) const {
  sim::Time last;
  for (const auto& m : communications_->members(rank, op)) last = sim::max(last, times(m.rank, m.op).start);
  return last;
}

bool Runtime::done() const {
  for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
    const auto& streams = graph_.script(r).streams;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      if (in_step_ && r > 0 && streams[s].kind == Stream::Kind::kCompute) continue;
      const Cursor& c = at(r).cursors[s];
      if (c.busy || c.next < streams[s].ops.size()) return false;
    }
    if (!at(r).kernels.core().dispatcher().idle()) return false;
  }
  return true;
}

double Runtime::share() const {
  return bytes_all_ == 0 ? 0 : static_cast<double>(bytes_done_) / static_cast<double>(bytes_all_);
}

std::vector<std::string> Runtime::who_waits() const {
  std::vector<std::string> lines;
  for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
    const auto& streams = graph_.script(r).streams;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      const Cursor& c = at(r).cursors[s];
      if (c.busy) {
        lines.push_back(fmt::format("rank {} {}: {} is under way", r, streams[s].name,
                                    label(graph_, streams[s].ops[c.next - 1])));
        continue;
      }
      const auto waits = [&](OpId op) {
        return at(r).times[static_cast<std::size_t>(op)].start == sim::Time::never();
      };
      const auto op = std::ranges::find_if(streams[s].ops, waits);
      if (op == streams[s].ops.end()) continue;
      for (const OpId before : graph_[*op].after) {
        if (at(r).times[static_cast<std::size_t>(before)].over()) continue;
        lines.push_back(fmt::format("rank {} {}: {} waits for {}", r, streams[s].name, label(graph_, *op),
                                    label(graph_, before)));
      }
    }
  }
  if (communications_ == nullptr) return lines;
  for (auto& line : communications_->who_waits()) lines.push_back(std::move(line));
  if (machine_->units() != nullptr) {
    for (auto& line : machine_->units()->who_waits()) lines.push_back(std::move(line));
  }
  for (auto& line : machine_->network().who_waits()) lines.push_back(std::move(line));
  for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
    for (const auto& line : at(r).kernels.core().dispatcher().who_waits())
      lines.push_back(fmt::format("gpu{} {}", r, line));
  }
  return lines;
}

}  // namespace infold::work

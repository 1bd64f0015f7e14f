// A Gather under way: parts that are there on all ranks become buckets, and buckets operations.
#include <algorithm>
#include <utility>

#include "sim/check.h"
#include "work/runtime.h"

namespace infold::work {

std::size_t Runtime::gathering_of(OpId op) const {
  const auto found = std::ranges::find_if(gatherings_, [&](const auto& g) { return g->op == op; });
  INFOLD_CHECK(found != gatherings_.end(), "a gathering that runs is known");
  return static_cast<std::size_t>(found - gatherings_.begin());
}

void Runtime::arrived(int /*rank*/, std::size_t gathering, int part) {
  Gathering& g = *gatherings_[gathering];
  if (++g.there_on[static_cast<std::size_t>(part)] < graph_.ranks()) return;
  ++g.everywhere;
  g.gatherer.arrived(part, events_.now());
  form(gathering);
}

/// Launches the buckets that were formed, and schedules the hosts' next look.
void Runtime::form(std::size_t gathering) {
  Gathering& g = *gatherings_[gathering];
  const bool held = g.what.after_all && g.everywhere < g.what.parts.size();
  // The host learns that parts are there, and takes its time to enqueue them.
  if (!held && !g.formed.empty())
    note(events_.now() + machine_->spec().gpu.host_enqueue, {Note::What::kLaunch, 0, g.op});
  const auto at = g.gatherer.wants_waking();
  if (!at || g.wakes_at == at) return;
  g.wakes_at = at;
  note(*at, {Note::What::kWake, 0, g.op});
}

void Runtime::launch(std::size_t gathering) {
  Gathering& g = *gatherings_[gathering];
  for (const Gathered& b : std::exchange(g.formed, {})) add_bucket(g, b);
}

/// Adds the operations that reduce a bucket, and begins them. A single part is reduced in place. Several are
/// copied by one kernel; where they lie is not followed: it reads and writes memory of their size.
void Runtime::add_bucket(Gathering& g, const Gathered& bucket) {
  std::vector<int> gradients;
  for (const int p : bucket.parts) gradients.push_back(g.what.parts[static_cast<std::size_t>(p)].gradient);
  const auto script = static_cast<int>(graph_.script_of.front());
  auto& streams = graph_.scripts[static_cast<std::size_t>(script)].streams;
  const bool copied = bucket.parts.size() > 1;
  int communication = -1;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    if (streams[s].kind == Stream::Kind::kCommunication && streams[s].communicator == g.what.communicator)
      communication = static_cast<int>(s);
  }
  const BufferId buffer = graph_.add(Buffer{.bytes = bucket.bytes});
  const auto add = [&](int s, Operation o, bool last) {
    Stream& to = streams[static_cast<std::size_t>(s)];
    o.gradients = gradients;
    const OpId op = graph_.add(to, std::move(o));
    place(script, s, op, to.ops.size() - 1);
    if (settles_.size() <= static_cast<std::size_t>(op)) settles_.resize(static_cast<std::size_t>(op) + 1);
    settles_[static_cast<std::size_t>(op)] = {-1, 0};
    if (last)
      settles_[static_cast<std::size_t>(op)] = {static_cast<int>(gathering_of(g.op)), gradients.size()};
    return op;
  };
  const auto collective = static_cast<OpId>(graph_.operations.size());
  std::vector<OpId> added = {add(
      communication, {.what = Collective{.communicator = g.what.communicator, .buffer = buffer}}, !copied)};
  if (copied) {
    Copy copy = whole_bucket(graph_, buffer);
    added.push_back(add(g.what.copies, {.what = copy}, false));
    graph_[collective].after = {added.back()};
    copy.back = true;
    copy.ops_per_element = 0;
    added.push_back(add(g.what.copies, {.what = copy, .after = {collective}}, true));
  }
  for (const OpId op : added) index_operation(op);
  for (const OpId op : added) make(op);
  for (int r = 0; r < graph_.ranks(); ++r) {
    for (const OpId op : added) count_pending(r, op);
  }
  for (int r = 0; r < graph_.ranks(); ++r) ready(r, added[copied ? 1 : 0]);
}

/// Called when the last operation that a gathering has added for some parts has ended.
void Runtime::settle(int rank, OpId op) {
  const Settles s = settles_[static_cast<std::size_t>(op)];
  Gathering& g = *gatherings_[static_cast<std::size_t>(s.gathering)];
  std::size_t& left = g.left[static_cast<std::size_t>(rank)];
  left -= s.parts;
  if (left == 0) ended(rank, g.op);
}

}  // namespace infold::work

// Adds up partial sums in rank order, whatever order they came in, and sends reminders.
#include "inc/fallback_reducer.h"

#include <algorithm>

namespace infold::inc {

FallbackReducer::FallbackReducer(net::NodeId gpu, std::uint32_t sender, const IncSpec& spec,
                                 sim::EventQueue& events, net::Fabric& fabric, const Regions& regions,
                                 net::Payloads* payloads, Client& client)
    : gpu_(gpu),
      sender_(sender),
      spec_(spec),
      events_(events),
      fabric_(fabric),
      regions_(regions),
      payloads_(payloads),
      client_(client) {}

void FallbackReducer::receive(const net::Packet& partial) {
  ++partials;
  const Key key = key_of(partial);
  const Tag tag = Tag::of(partial.flow());
  std::uint32_t id = index_.find(key);
  if (id == KeyIndex::kNone) {
    // A slot whose timer has not fired yet is not used again: the timer could not tell the difference.
    id = works_.take();
    index_.add(key, id);
    Work& w = works_[id];
    w.key = key;
    w.way = partial.spread();
    w.payload = partial.payload();
    w.count = 0;
    w.reminded = 0;
    w.open = true;
    w.pieces.clear();
  }
  Work& w = works_[id];
  w.count = static_cast<std::uint16_t>(w.count + tag.count);
  // Something arrived, so more may be in flight. If not, the reminders start again from the shortest
  // interval.
  w.due = events_.now() + spec_.remind_after;
  w.wait = spec_.remind_after;
  w.reminded = 0;
  if (w.timers == 0) set_timer(id);
  if (payloads_ != nullptr) {
    const auto values = (*payloads_)[partial.values()];
    w.pieces.push_back({tag.first, {values.begin(), values.end()}});
    payloads_->give_back(partial.values());
  }
  const int members = regions_[tag.region].contributors();
  INFOLD_CHECK(w.count <= members, "no contribution comes home twice");
  if (w.count == members) finish(id);
}

void FallbackReducer::set_timer(std::uint32_t id) {
  ++works_[id].timers;
  events_.schedule(works_[id].due, sim::Priority::kWork, *this, id);
}

void FallbackReducer::handle(std::uint32_t id) {
  Work& w = works_[id];
  --w.timers;
  if (!w.open) {
    works_.give_back(id);
    return;
  }
  if (w.due <= events_.now()) {
    ++reminders;
    net::Packet p(net::PacketKind::kReminder);
    p.set_flow(Tag{static_cast<RegionId>(w.key >> 32), 0, 1}.flow());
    p.set_offset(static_cast<std::uint32_t>(w.key));
    p.set_source(gpu_);
    p.set_spread(w.way);
    const int network = regions_[static_cast<RegionId>(w.key >> 32)].plan.network;
    fabric_.send_to_unit(p, net::Fabric::through(network, sender_));
    w.wait = w.wait * 2;
    w.due = events_.now() + w.wait;
    if (++w.reminded == kMostReminders)
      return;  // a rank never contributed; the run ends when the queue is empty, and its report names the
               // rank
  }
  set_timer(id);
}

void FallbackReducer::finish(std::uint32_t id) {
  Work& w = works_[id];
  const auto region = static_cast<RegionId>(w.key >> 32);
  const auto offset = static_cast<std::uint32_t>(w.key);
  const std::uint16_t payload = w.payload;
  scratch_.clear();
  if (payloads_ != nullptr) {
    const RegionPlan& plan = regions_[region].plan;
    std::sort(w.pieces.begin(), w.pieces.end(),
              [](const Piece& a, const Piece& b) { return a.first < b.first; });
    Sum sum;
    for (const Piece& piece : w.pieces) sum.add(spec_.accumulate, plan.type, plan.op, piece.values);
    sum.read(spec_.accumulate, plan.type, scratch_);
  }
  w.open = false;
  index_.remove(w.key);
  w.pieces.clear();
  if (w.timers == 0) works_.give_back(id);
  client_.sum_finished(region, offset, payload, scratch_);
}

}  // namespace infold::inc

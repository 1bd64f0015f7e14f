// Loading or asking, sending, and waiting for acknowledgements.
#include "gpu/copy/switch_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/check.h"

namespace infold::gpu {

namespace {
bool asks(UnitOp op) {
  return op == UnitOp::kPull || op == UnitOp::kPullMulticast;
}
}  // namespace

SwitchClient::SwitchClient(const Setup& setup, sim::EventQueue& events, SwitchPort& port, Client& client)
    : setup_(setup), events_(events), port_(port), client_(client), pace_(setup.rate) {}

void SwitchClient::start(const UnitTask& task) {
  INFOLD_DCHECK(!busy_ && task.begin < task.end, "one task after the other, each with blocks");
  busy_ = true;
  next_ = task.begin;
  limit_ = task.limit;
  active_.push_back({.task = task, .visible = {}});
  if (by_runs(task)) {
    const std::uint32_t block = port_.region(task.region).block();
    run_ = std::max(block, static_cast<std::uint32_t>(setup_.run.count()) / block * block);
    warps_.resize(
        static_cast<std::size_t>(std::max<std::int64_t>(1, setup_.window.count() / setup_.run.count())));
    for (std::uint32_t w = 0; w < warps_.size(); ++w)
      warps_[w] = {.next = task.begin + w * run_, .in_flight = {}};
  }
  issue_more();
}

bool SwitchClient::by_runs(const UnitTask& task) const {
  return setup_.run > sim::Bytes{} && asks(task.op);
}

void SwitchClient::limit(std::uint32_t offset) {
  limit_ = offset;
  issue_more();
}

SwitchClient::Active* SwitchClient::find(inc::RegionId region, std::uint32_t offset) {
  const auto at = std::ranges::find_if(active_, [&](const Active& a) {
    return a.task.region == region && offset >= a.task.begin && offset < a.task.end;
  });
  return at == active_.end() ? nullptr : &*at;
}

void SwitchClient::issue_more() {
  if (issuing_) return;  // the caller further up goes on
  issuing_ = true;
  while (busy_ && issue_one()) {
  }
  issuing_ = false;
  finish_if_done();
}

/// Returns whether it could go on.
bool SwitchClient::issue_one() {
  Active& a = active_.back();
  const UnitTask& task = a.task;
  if (next_ >= task.end) {
    busy_ = false;
    a.issued = true;
    client_.task_issued();  // may start the next
    return true;
  }
  if (by_runs(task)) return issue_runs(a);
  if (task.op == UnitOp::kPush && next_ >= limit_) return false;
  const inc::Region& region = port_.region(task.region);
  // A request is for one block; loads are for several of the same part.
  const std::uint32_t most = asks(task.op) ? region.block() : std::max(region.block(), kUnit);
  const std::uint32_t part_end = (next_ / region.part() + 1) * region.part();
  std::uint32_t end = std::min(task.end, part_end);
  if (task.op == UnitOp::kPush) end = std::min(end, limit_);
  const bool sends = port_.client(task.region).sends(next_ / region.part());
  auto left = sends ? static_cast<std::uint32_t>(port_.part_left(task.region, next_).count()) : 0;
  std::uint32_t bytes = 0;
  std::uint32_t at = next_;
  while (bytes < most && at < end) {
    const std::uint32_t block = std::min(left, region.block());
    bytes += block;
    left -= block;
    at = block < region.block() ? part_end : at + region.block();
  }
  if (bytes > 0) {
    // One unit is always under way, however narrow the window.
    if (in_flight_ > sim::Bytes{} && in_flight_ + sim::Bytes{bytes} > setup_.window) return false;
    in_flight_ += sim::Bytes{bytes};
    if (asks(task.op)) {
      ask(a, next_, bytes);
    } else {
      load(a, bytes);
    }
  }
  next_ = at;
  return true;
}

/// Every warp that has passed on its run asks for its next one. The task is issued when all warps are
/// through.
bool SwitchClient::issue_runs(Active& a) {
  bool through = true;
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    while (warps_[w].in_flight == sim::Bytes{} && warps_[w].next < a.task.end) issue_run(a, w);
    through &= warps_[w].in_flight == sim::Bytes{};
  }
  if (through) next_ = a.task.end;
  return through;
}

void SwitchClient::issue_run(Active& a, std::uint32_t warp) {
  Warp& w = warps_[warp];
  const std::uint32_t block = port_.region(a.task.region).block();
  w.run = w.next;
  w.run_end = std::min(w.next + run_, a.task.end);
  w.next += run_ * static_cast<std::uint32_t>(warps_.size());
  for (std::uint32_t at = w.run; at < w.run_end; at += block)
    w.in_flight += port_.block_bytes(a.task.region, at);  // nothing behind the end of a short part
  in_flight_ += w.in_flight;
  if (w.in_flight > sim::Bytes{} && (setup_.loads == nullptr || setup_.loads->take(w.in_flight, *this, warp)))
    may_load(warp);
}

/// Requires: the warp's task is the one being issued, as it is until all its runs have left.
void SwitchClient::may_load(std::uint32_t warp) {
  const Warp w = warps_[warp];
  Active& a = active_.back();
  const std::uint32_t block = port_.region(a.task.region).block();
  for (std::uint32_t at = w.run; at < w.run_end; at += block) {
    const auto bytes = static_cast<std::uint32_t>(port_.block_bytes(a.task.region, at).count());
    if (bytes > 0) ask(a, at, bytes);
  }
}

/// Bytes have left the registers.
void SwitchClient::left(const Active& a, std::uint32_t offset, sim::Bytes bytes) {
  in_flight_ -= bytes;
  if (by_runs(a.task)) warps_[(offset - a.task.begin) / run_ % warps_.size()].in_flight -= bytes;
}

void SwitchClient::ask(Active& a, std::uint32_t offset, std::uint32_t bytes) {
  a.unanswered += bytes;
  port_.send(net::PacketKind::kLoadReduce, a.task.region, offset, 0, setup_.sender);
}

void SwitchClient::load(Active& a, std::uint32_t bytes) {
  a.unsent += bytes;
  const sim::Bytes n{bytes};
  port_free_ = sim::max(port_free_, events_.now()) + pace_.time(n);
  // Memory may answer out of order. What is sent on is in order, so that all ranks send the same sequence.
  in_order_ = sim::max(in_order_, sim::max(port_.read(a.task.region, next_, bytes), port_free_));
  schedule({in_order_, a.task.region, a.task.op, next_, bytes, 0});
}

void SwitchClient::schedule(const Unit& unit) {
  events_.schedule(unit.ready, sim::Priority::kWork, *this, units_.take(unit));
}

void SwitchClient::handle(std::uint32_t event) {
  if (event == kFinish) return finish_if_done();
  const Unit unit = units_[event];
  units_.give_back(event);
  if (asks(unit.op)) {
    pass_on(unit);
  } else {
    contribute(unit);
  }
}

/// Loaded data are sent, block by block.
void SwitchClient::contribute(const Unit& unit) {
  const auto kind =
      unit.op == UnitOp::kPush ? net::PacketKind::kReduceWrite : net::PacketKind::kMulticastWrite;
  Active& a = *find(unit.region, unit.offset);
  a.unsent -= unit.bytes;
  const std::uint32_t block = port_.region(unit.region).block();
  for (std::uint32_t done = 0; done < unit.bytes; done += block) {
    const auto payload = static_cast<std::uint16_t>(std::min(block, unit.bytes - done));
    ++a.unacknowledged;
    port_.send_own(kind, unit.region, unit.offset + done, payload, setup_.sender);
  }
}

void SwitchClient::result(inc::RegionId region, std::uint32_t offset, std::uint16_t payload,
                          net::ValuesId values) {
  if (setup_.loads != nullptr) setup_.loads->give_back(sim::Bytes{payload});
  result_port_free_ = sim::max(result_port_free_, events_.now()) + pace_.time(sim::Bytes{payload});
  const Active& a = *find(region, offset);
  schedule({result_port_free_, region, a.task.op, offset, payload, values});
}

/// Stores a sum that was asked for on this GPU, or sends it to all ranks.
void SwitchClient::pass_on(const Unit& unit) {
  Active& a = *find(unit.region, unit.offset);
  a.unanswered -= unit.bytes;
  if (unit.op == UnitOp::kPullMulticast) {
    ++a.unacknowledged;
    port_.send(net::PacketKind::kMulticastWrite, unit.region, unit.offset,
               static_cast<std::uint16_t>(unit.bytes), setup_.sender, unit.values);
    return;
  }
  left(a, unit.offset, sim::Bytes{unit.bytes});
  port_.write(unit.region, unit.offset, unit.bytes);
  UnitClient& client = port_.client(unit.region);
  if (port_.payloads() != nullptr) {
    client.consume(unit.offset, (*port_.payloads())[unit.values]);
    port_.payloads()->give_back(unit.values);
  }
  client.received(unit.offset, sim::Bytes{unit.bytes});
  issue_more();
}

void SwitchClient::departed(const net::Packet& packet) {
  const Active* a = find(inc::Tag::of(packet.flow()).region, packet.offset());
  INFOLD_DCHECK(a != nullptr, "what is not acknowledged is known");
  // The sum was finished on this GPU, and is not part of the task.
  if (packet.kind() == net::PacketKind::kMulticastWrite && a->task.op == UnitOp::kPush) return;
  left(*a, packet.offset(), sim::Bytes{packet.payload()});
  if (busy_) issue_more();
}

void SwitchClient::expect_more(inc::RegionId region, std::uint32_t offset) {
  Active* a = find(region, offset);
  if (a == nullptr) {  // its own contributions are all taken
    // It is inserted before the others, because the last one must stay the one being issued.
    a = &*active_.insert(active_.begin(),
                         {.task = {UnitOp::kPush, region, offset, offset + 1}, .visible = {}});
    a->issued = a->silent = true;
  }
  ++a->unacknowledged;
}

/// Acknowledgements are known before they arrive, as every control packet.
void SwitchClient::acknowledged(const net::Packet& packet) {
  const inc::RegionId region = inc::Tag::of(packet.flow()).region;
  Active& a = *find(region, packet.offset());
  --a.unacknowledged;
  INFOLD_DCHECK(a.unacknowledged >= 0, "nothing is acknowledged twice");
  a.visible = sim::max(a.visible, packet.arrives);
  if (!a.done()) return;
  if (a.visible > events_.now()) {
    events_.schedule(a.visible, sim::Priority::kWork, *this, kFinish);
  } else {
    finish_if_done();
  }
}

void SwitchClient::finish_if_done() {
  while (!active_.empty() && active_.front().done() && active_.front().visible <= events_.now()) {
    const bool silent = active_.front().silent;
    active_.erase(active_.begin());
    if (silent) {
      client_.task_settled();
    } else {
      client_.task_complete();
    }
  }
}

std::string SwitchClient::why_waiting() const {
  if (active_.empty()) return {};
  const Active& a = active_.front();
  if (a.unanswered > 0) return fmt::format("waits for sums of {} bytes that it asked for", a.unanswered);
  if (busy_ && a.task.op == UnitOp::kPush && next_ >= limit_)
    return fmt::format("waits for results of earlier waves before it sends block {}", next_);
  return fmt::format("waits for {} blocks that it sent to be acknowledged", a.unacknowledged);
}

}  // namespace infold::gpu

// Drives the hardware of one port and the simulator's unit with the same packets. The simulator acts whenever
// the tag stage of the hardware does; what both send, its values, acknowledgements, places given back and
// counters are compared, and the cycles of the hardware with the documented pipeline.
#pragma once

#include <gtest/gtest.h>

#include <bit>

#include "alu_rule.h"
#include "traffic.h"

namespace infold::rtl {

inline std::vector<std::string> coverage_bins() {
  std::vector<std::string> bins = {"stall: full table",
                                   "bypass: full table",
                                   "evict: full table",
                                   "evict: nothing to evict",
                                   "hit",
                                   "opened",
                                   "waits behind others",
                                   "several served at once",
                                   "request waits",
                                   "request without entry",
                                   "reply without entry",
                                   "reminder evicts",
                                   "reminder sends what waits",
                                   "reminder finds nothing",
                                   "complete sum waits for result buffer",
                                   "input buffer full",
                                   "output without credit",
                                   "copies leave in several rounds",
                                   "beat waits for a write",
                                   "whole table used",
                                   "passed on unsummed",
                                   "result to several ports",
                                   "result to one port",
                                   "sum goes up",
                                   "sum of replies goes up",
                                   "multicast",
                                   "result spread",
                                   "packet of one beat",
                                   "packet of an odd size"};
  for (const char* type : {"fp32", "bf16"})
    for (const char* where : {"in", "out"})
      for (const char* what : {"NaN", "infinity", "denormal", "+0", "-0"})
        bins.push_back(std::string(type) + " " + where + " " + what);
  return bins;
}

struct Compared {
  std::uint64_t packets = 0, copies = 0, bytes = 0, cycles = 0, differences = 0, early = 0, exact = 0,
                timed = 0;
  std::uint64_t latest = 0;
};

template <class Hardware>
class Lockstep {
 public:
  Lockstep(const Setting& s, const WorldShape& shape, std::uint64_t seed, Coverage& coverage)
      : s_(s),
        world_(shape),
        traffic_(world_, s_, static_cast<std::uint32_t>(shape.spec.payload.count()), seed),
        cover_(coverage) {}

  Compared run(std::uint64_t packets) {
    auto& m = hw_.m;
    m.table_full = static_cast<std::uint8_t>(s_.table_full);
    m.table_entries = static_cast<std::uint8_t>(s_.entries);
    m.results_at_most = static_cast<std::uint8_t>(s_.results);
    m.patience = 0x7fffffff;
    m.credits_at_reset = static_cast<std::uint8_t>(s_.credits);
    hw_.reset();
    credits_.assign(world_.ports, s_.credits);
    std::uint64_t quiet = 0;
    while (sum_.differences == 0) {
      const bool more = sum_.packets < packets;
      const bool finished = !more && traffic_.idle() && !offering_ && arriving_.empty();
      quiet = finished ? quiet + 1 : 0;
      if (quiet > 300) break;
      if (now_ - moved_ > 20'000) {
        differs("nothing has moved for 20000 cycles");
        break;
      }
      cycle(more);
    }
    if (sum_.differences == 0) finish();
    sum_.cycles = now_;
    return sum_;
  }
  std::string why() const { return why_; }

 private:
  struct Tick final : sim::Handler {
    bool fired = false;
    void handle(std::uint32_t) override { fired = true; }
  };
  void differs(const std::string& what) {
    if (sum_.differences++ == 0) why_ = s_.name + ", cycle " + std::to_string(now_) + ": " + what;
  }

  void cycle(bool more) {
    auto& m = hw_.m;
    m.in_valid = 0;
    if (!offering_ && (beat_ > 0 || static_cast<int>(traffic_.random().below(100)) < s_.load))
      offering_ = traffic_.next(more);
    if (offering_) hw_.offer(offering_->header, offering_->values.data(), beat_);
    if (!reminding_) {
      if (const auto key = traffic_.remind(now_, now_ - moved_ > 400)) reminding_ = *key;
    }
    m.reminder = reminding_ ? 1 : 0;
    if (reminding_) m.reminder_key = *reminding_;
    std::uint64_t credit = 0;
    for (std::uint32_t p = 0; p < world_.ports; ++p) {
      auto& back = credits_back_[p];
      if (back.empty() || back.front() > now_) continue;
      back.pop_front();
      ++credits_[p];
      credit |= std::uint64_t{1} << p;
    }
    m.credit = static_cast<decltype(m.credit + 0)>(credit);
    hw_.settle();

    if (s_.own_time) catch_up();
    observe_outputs();
    observe_actions();
    if (m.in_valid && !m.in_ready) cover_.met("input buffer full");
    if (m.in_valid && m.in_ready) accept();
    hw_.clock();
    ++now_;
  }
  void accept() {
    if (!hw_.m.in_last) {
      ++beat_;
      return;
    }
    beat_ = 0;
    moved_ = now_;
    const Header& h = offering_->header;
    if (h.bytes > 0) note_values(cover_, "in", h.bf16, offering_->values);
    cover_.met("packet of one beat", h.bytes > 0 && h.bytes <= Hardware::kBeatBytes);
    cover_.met("packet of an odd size",
               h.bytes > 0 && h.bytes < static_cast<unsigned>(world_.spec.payload.count()));
    ++sum_.packets;
    arriving_.push_back(std::move(*offering_));
    offering_.reset();
  }
  /// The simulator's own events up to now.
  void catch_up() {
    Tick tick;
    world_.events.schedule(sim::Time::ns(static_cast<std::int64_t>(now_)), sim::Priority::kWork, tick, 0);
    while (!tick.fired) world_.events.run(1);
    world_.collect();
  }
  void one_event() {
    if (s_.own_time) return;
    world_.events.run(1);
    world_.collect();
  }

  void observe_actions() {
    auto& m = hw_.m;
    const auto before = totals();
    if (m.acts_on_sum) {
      one_event();
      if (!s_.own_time && totals().results != before.results + 1)
        differs("no sum is complete in the simulator");
      cover_.met("complete sum waits for result buffer", m.no_result_room);
      cover_.met("several served at once", totals().contributions > before.contributions + 1);
    }
    if (m.acts_on_left) {
      if (leaving_.empty()) return differs("a result has left twice");
      world_.acts->departed(leaving_.front(), world_.events.now());
      leaving_.pop_front();
      one_event();
    }
    if (m.acts_on_reminder) {
      net::Packet p(net::PacketKind::kReminder);
      const auto region = static_cast<inc::RegionId>(*reminding_ >> 32);
      p.set_flow(inc::Tag{region, 0, 1}.flow());
      p.set_offset(static_cast<std::uint32_t>(*reminding_));
      p.set_spread(world_.units.regions().way(region, p.offset()));
      p.arrives = world_.events.now();
      world_.acts->expect(p, net::FabricMap::back(world_.map.outlets(world_.chip).front().link));
      one_event();
      if (!s_.own_time) {
        const auto after = totals();
        cover_.met("reminder evicts", after.evictions > before.evictions);
        cover_.met("reminder sends what waits", after.bypasses > before.bypasses);
        cover_.met("reminder finds nothing",
                   after.bypasses == before.bypasses && after.evictions == before.evictions);
      }
    }
    if (m.reminder_done) reminding_.reset();
    if (m.acts_on_arrival) arrive();
    if (m.adds) {
      const auto beats = Hardware::beats(static_cast<std::uint32_t>(m.adds_bytes));
      cover_.met("beat waits for a write", rule_.take(now_, m.adds_key, m.adds_first, beats) > 0);
    }
    if (m.release_added) {
      ++released_;
      if (!rule_.done(now_)) differs("a contribution was not added when the pipeline says");
    }
    if (m.release_passed) ++released_;
    if (m.ack_added) acknowledge(static_cast<std::uint32_t>(m.ack_added_to), m.ack_added_key);
    if (m.ack_passed) acknowledge(static_cast<std::uint32_t>(m.ack_passed_to), m.ack_passed_key);
    cover_.met("whole table used", m.table_used == s_.entries);
  }
  void arrive() {
    if (arriving_.empty()) return differs("the hardware acts on a packet that was not sent");
    const Sent s = std::move(arriving_.front());
    arriving_.pop_front();
    moved_ = now_;
    traffic_.touched(inc::key_of(s.packet), now_);
    const auto before = totals();
    const bool full = world_.unit->entries_in_use() >= static_cast<unsigned>(s_.entries);
    const std::uint64_t waiting = world_.unit->packets_stalled();
    world_.acts->arrive(s.packet, s.in);
    world_.collect();
    if (s.gathers) gather(s);
    const auto after = totals();
    const bool contribution = s.header.kind == Kind::kReduceWrite && s.header.sums;
    const bool stalled = after.stalls > before.stalls;
    const bool bypassed = after.bypasses > before.bypasses;
    if (contribution) {
      cover_.met("stall: full table", full && stalled && s_.table_full == inc::TableFull::kStall);
      cover_.met("bypass: full table", full && bypassed);
      cover_.met("evict: full table", after.evictions > before.evictions);
      cover_.met("evict: nothing to evict", full && stalled && s_.table_full == inc::TableFull::kEvict);
      cover_.met("waits behind others", waiting > 0 && stalled);
      cover_.met("opened", hw_.m.adds && hw_.m.adds_first);
      cover_.met("hit", hw_.m.adds && !hw_.m.adds_first);
    }
    cover_.met("passed on unsummed", s.header.kind == Kind::kReduceWrite && !s.header.sums);
    cover_.met("request waits", s.header.kind == Kind::kLoadReduce && stalled);
    cover_.met("request without entry", s.header.kind == Kind::kLoadReduce && !stalled && full);
    cover_.met("reply without entry", s.header.kind == Kind::kReply && !hw_.m.adds);
    cover_.met("multicast", s.header.kind == Kind::kMulticast);
    cover_.met("result spread", s.header.kind == Kind::kResult);
  }
  /// The hardware leaves the gathering of acknowledgements to the switch: the simulator gets them at once.
  void gather(const Sent& s) {
    for (std::uint64_t left = s.header.targets; left != 0; left &= left - 1)
      world_.acts->expect(net::Packet::unit_ack(s.packet), s.in);
    world_.collect(true);
  }
  void acknowledge(std::uint32_t port, std::uint64_t key) {
    const auto it = world_.acks.find({port, key});
    if (it == world_.acks.end()) return differs("an acknowledgement that the simulator does not send");
    if (--it->second == 0) world_.acks.erase(it);
  }

  void observe_outputs() {
    auto& m = hw_.m;
    if (!m.out_valid) return;
    const Header h = hw_.out();
    if (m.out_first) {
      out_values_.clear();
      out_since_ = now_;
    }
    hw_.append_data(out_values_);
    if (!m.out_last) return;
    out_values_.resize(h.bytes);
    moved_ = now_;
    const std::uint64_t key = Hardware::key(h.region, h.offset);
    const bool held = m.release_passed != 0;
    for (std::uint64_t ports = h.targets; ports != 0; ports &= ports - 1)
      copy(h, key, static_cast<std::uint32_t>(std::countr_zero(ports)),
           m.out_final && !held && (ports & (ports - 1)) == 0);
    if (!m.out_final) cover_.met("copies leave in several rounds");
    if (h.kind == Kind::kResult && !held)
      cover_.met(std::popcount(h.targets) > 1 ? "result to several ports" : "result to one port");
    cover_.met("sum goes up", h.kind == Kind::kReduceWrite && !held);
    cover_.met("sum of replies goes up", h.kind == Kind::kReply && !held);
    if (h.bytes > 0) note_values(cover_, "out", h.bf16, out_values_);
    if (m.out_final && h.kind != Kind::kLoadReduce && !traffic_.spreads(h.region) &&
        !traffic_.came_out(key, h.count, now_))
      differs("more contributions have come out of a block than went in");
  }
  void copy(const Header& h, std::uint64_t key, std::uint32_t port, bool last_of_sum) {
    ++sum_.copies;
    sum_.bytes += h.bytes;
    if (--credits_[port] < 0) return differs("a packet leaves without a credit");
    cover_.met("output without credit", credits_[port] == 0);
    const std::uint64_t late = s_.slow > 0 ? traffic_.random().below(static_cast<std::uint64_t>(s_.slow)) : 0;
    credits_back_[port].push_back(now_ + 1 + late);
    const auto it = world_.expected.find({port, h.kind, key, h.first, h.count, h.bytes});
    if (it == world_.expected.end())
      return differs("the hardware sends what the simulator does not: kind " +
                     std::to_string(static_cast<int>(h.kind)) + ", offset " + std::to_string(h.offset) +
                     ", " + std::to_string(h.count) + " contributions, port " + std::to_string(port));
    const net::Packet p = it->second.front();
    it->second.erase(it->second.begin());
    if (it->second.empty()) world_.expected.erase(it);
    --world_.outstanding;
    if (h.bytes > 0) {
      const auto values = world_.payloads[p.values()];
      if (!std::equal(values.begin(), values.end(), out_values_.begin(), out_values_.end()))
        differs("values of offset " + std::to_string(h.offset) + " differ");
      world_.payloads.give_back(p.values());
    }
    if (s_.own_time && last_of_sum) time(p);
    if (h.kind == Kind::kLoadReduce) traffic_.asked(key, port);
    if (last_of_sum) {
      leaving_.push_back(p);
    } else {
      world_.acts->departed(p, world_.events.now());
      world_.collect();
    }
  }
  /// The first beat of a sum, against when the simulator has it in an output queue.
  void time(const net::Packet& p) {
    const std::int64_t there = p.arrives.count_ps() / 1000;
    const auto here = static_cast<std::int64_t>(out_since_);
    ++sum_.timed;
    if (here < there) ++sum_.early;
    if (here == there) ++sum_.exact;
    if (here > there) sum_.latest = std::max(sum_.latest, static_cast<std::uint64_t>(here - there));
  }

  inc::SwitchUnits::Totals totals() const {
    inc::SwitchUnits::Totals t;
    for (std::size_t p = 0; p < world_.unit->ports(); ++p) {
      const auto& c = world_.unit->counters(p);
      t.contributions += c.contributions;
      t.results += c.results;
      t.stalls += c.stalls;
      t.evictions += c.evictions;
      t.bypasses += c.bypasses;
    }
    return t;
  }
  void finish() {
    const auto t = totals();
    auto& m = hw_.m;
    const auto same = [&](const char* what, std::uint64_t hardware, std::uint64_t simulator) {
      if (hardware != simulator)
        differs(std::string(what) + ": " + std::to_string(hardware) + " instead of " +
                std::to_string(simulator));
    };
    same("contributions", m.contributions, t.contributions);
    same("results", m.results, t.results);
    same("stalls", m.stalls, t.stalls);
    same("evictions", m.evictions, t.evictions);
    same("bypasses", m.bypasses, t.bypasses);
    same("most entries", m.table_peak, world_.unit->table_peak(traffic_.port));
    same("entries left", m.table_used, 0);
    same("places given back", released_, sum_.packets);
    same("places given back in the simulator", world_.fabric.released.size(), sum_.packets);
    same("packets that the hardware did not send", 0, world_.outstanding);
    same("acknowledgements that the hardware did not send", 0, world_.acks.size());
    same("values left", world_.payloads.taken(), 0);
    if (!world_.unit->drained()) differs("the simulator's unit is not empty");
  }

  Setting s_;
  SwitchWorld world_;
  Traffic traffic_;
  Coverage& cover_;
  Hardware hw_;
  AluRule rule_;
  Compared sum_;
  std::string why_;
  std::uint64_t now_ = 0, moved_ = 0, released_ = 0, out_since_ = 0;
  unsigned beat_ = 0;
  std::optional<Sent> offering_;
  std::optional<std::uint64_t> reminding_;
  std::deque<Sent> arriving_;
  std::deque<net::Packet> leaving_;
  std::vector<std::byte> out_values_;
  std::vector<int> credits_;
  std::map<std::uint32_t, std::deque<std::uint64_t>> credits_back_;
};

}  // namespace infold::rtl

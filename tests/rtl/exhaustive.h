// Searches every state that a small unit can reach when a few packets come in any order and at given
// distances, with fast and slow ports behind it and reminders by a home GPU. The values of contributions are
// powers of two, so that a sum tells whose contributions are in it. Port 0 sends its blocks in order, because
// blocks have no other names.
#pragma once

#include <verilated_save.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

#include "dut.h"
#include "sim/random.h"

namespace infold::rtl {

/// Keeps a Verilated model in memory.
class Kept final : public VerilatedSerialize {
 public:
  explicit Kept(std::vector<std::uint8_t>& bytes) : bytes_(bytes) { m_isOpen = true; }
  ~Kept() override { m_isOpen = false; }
  void flush() override {
    bytes_.insert(bytes_.end(), m_bufp, m_cp);
    m_cp = m_bufp;
  }

 private:
  std::vector<std::uint8_t>& bytes_;
};
class Restored final : public VerilatedDeserialize {
 public:
  explicit Restored(const std::vector<std::uint8_t>& bytes) {
    std::memcpy(m_bufp, bytes.data(), bytes.size());
    m_endp = m_bufp + bytes.size();
    m_isOpen = true;
  }
  ~Restored() override { m_isOpen = false; }
  void fill() override {}
};

struct Small {
  int ports = 2;
  int blocks = 2;
  int entries = 2;
  int table_full = 0;
  int patience = 1 << 30;
  bool reminders = false;
  unsigned slow = 0;  ///< ports whose credits come back late, a bit for each
  std::vector<int> distances = {
      0, 14};  ///< idle cycles before a packet; after the last of them everything is still
};

/// What is outside of the unit.
struct Outside {
  std::uint16_t to_send = 0;     ///< a bit for each packet
  std::uint8_t credits_out = 0;  ///< a bit for each port whose credit is not back
  std::uint8_t idle = 0;         ///< cycles since a packet came, up to the longest distance
  std::uint8_t credit_age[4] = {};
  std::uint8_t reminding = 0;  ///< 1 + block of a reminder that is not answered yet
  std::uint16_t acknowledged = 0;
  std::uint8_t released = 0;
  std::uint8_t finished[4] = {};  ///< ports that have the result of a block
  std::uint8_t home[4] = {};      ///< ranks of a block whose contributions the home GPU has
};

template <class Model>
class Exhaustive {
 public:
  using Hardware = Dut<Model, 4>;
  explicit Exhaustive(const Small& s) : s_(s) {}

  /// Returns what went wrong; empty if nothing did.
  std::string search(std::size_t most_states) {
    auto& m = hw_.m;
    m.table_full = static_cast<std::uint8_t>(s_.table_full);
    m.table_entries = static_cast<std::uint8_t>(s_.entries);
    m.results_at_most = 2;
    m.patience = static_cast<std::uint32_t>(s_.patience);
    m.credits_at_reset = 1;
    hw_.reset();
    Outside start;
    start.idle = static_cast<std::uint8_t>(s_.distances.back());
    start.to_send = static_cast<std::uint16_t>((1 << s_.ports * s_.blocks) - 1);
    std::vector<State> open;
    open.push_back({save(), start});
    while (!open.empty() && why_.empty()) {
      const State s = std::move(open.back());
      open.pop_back();
      if (!finishes(s)) break;
      for (const Choice c : choices(s.outside)) {
        State next = step(s, c);
        if (!why_.empty()) break;
        if (!visited_.insert(hash(next)).second) continue;
        if (visited_.size() > most_states) return "more states than were to be searched";
        open.push_back(std::move(next));
      }
    }
    return why_;
  }
  std::size_t states() const { return visited_.size(); }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t results() const { return results_; }
  std::uint64_t partials() const { return partials_; }
  std::uint64_t refused() const { return refused_; }

 private:
  struct State {
    std::vector<std::uint8_t> model;
    Outside outside;
  };
  struct Choice {
    int send = -1;
    int remind = -1;
  };
  static constexpr int kLate = 12;  // cycles until a slow port gives a credit back

  std::vector<std::uint8_t> save() {
    std::vector<std::uint8_t> bytes;
    Kept kept(bytes);
    kept << hw_.m;
    kept.flush();
    return bytes;
  }
  static std::uint64_t hash(const State& s) {
    std::uint64_t h = sim::mix(s.model.size());
    const auto take = [&](const void* data, std::size_t size) {
      const auto* from = static_cast<const std::uint8_t*>(data);
      for (std::size_t i = 0; i < size; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, from + i, std::min<std::size_t>(8, size - i));
        h = sim::mix(h ^ word) + 0x9e3779b97f4a7c15ULL * i;
      }
    };
    take(s.model.data(), s.model.size());
    take(&s.outside, sizeof s.outside);
    return h;
  }
  std::vector<Choice> choices(const Outside& o) const {
    std::vector<Choice> all;
    const bool longest = o.idle >= s_.distances.back();
    if (!longest) all.push_back({});
    // A reminder of the first block stands for those of all.
    if (s_.reminders && o.reminding == 0 && o.home[0] != 0 && o.idle == 1) all.push_back({-1, 0});
    if (!longest && std::find(s_.distances.begin(), s_.distances.end(), o.idle) == s_.distances.end())
      return all;
    bool of_port_0 = false;
    for (int p = 0; p < s_.ports * s_.blocks; ++p) {
      if ((o.to_send >> p & 1) == 0 || (p % s_.ports == 0 && of_port_0)) continue;
      of_port_0 = of_port_0 || p % s_.ports == 0;
      all.push_back({p, -1});
    }
    return all;
  }
  State step(const State& s, const Choice& c) {
    Restored restored(s.model);
    restored >> hw_.m;
    Outside o = s.outside;
    cycle(o, c);
    return {save(), o};
  }

  void cycle(Outside& o, const Choice& c) {
    ++steps_;
    auto& m = hw_.m;
    m.in_valid = 0;
    if (c.send >= 0) {
      const int block = c.send / s_.ports;
      const int rank = c.send % s_.ports;
      Header h;
      h.offset = static_cast<std::uint32_t>(4 * block);
      h.first = h.from = static_cast<std::uint32_t>(rank);
      h.bytes = 4;
      h.expected = static_cast<std::uint32_t>(s_.ports);
      h.home = static_cast<std::uint32_t>(block % s_.ports);
      h.targets = (std::uint64_t{1} << s_.ports) - 1;
      const auto value = static_cast<float>(1 << rank);
      hw_.offer(h, reinterpret_cast<const std::byte*>(&value), 0);
    }
    m.credit = 0;
    for (unsigned p = 0; p < static_cast<unsigned>(s_.ports); ++p) {
      if ((o.credits_out >> p & 1) == 0 || ++o.credit_age[p] <= ((s_.slow >> p & 1) != 0 ? kLate : 1))
        continue;
      o.credit_age[p] = 0;
      o.credits_out = static_cast<std::uint8_t>(o.credits_out & ~(1U << p));
      m.credit |= static_cast<std::uint8_t>(1U << p);
    }
    o.idle = static_cast<std::uint8_t>(std::min<int>(o.idle + 1, s_.distances.back()));
    if (c.remind >= 0) o.reminding = static_cast<std::uint8_t>(1 + c.remind);
    m.reminder = o.reminding != 0 ? 1 : 0;
    m.reminder_key = o.reminding != 0 ? static_cast<std::uint64_t>(4 * (o.reminding - 1)) : 0;
    hw_.settle();
    if (m.in_valid && m.in_ready) {
      o.to_send = static_cast<std::uint16_t>(o.to_send & ~(1 << c.send));
      o.idle = 0;
    }
    if (m.in_valid && !m.in_ready) ++refused_;
    if (m.reminder_done) o.reminding = 0;
    if (m.ack_added) acknowledge(o, m.ack_added_key, static_cast<int>(m.ack_added_to));
    if (m.ack_passed) acknowledge(o, m.ack_passed_key, static_cast<int>(m.ack_passed_to));
    o.released =
        static_cast<std::uint8_t>(o.released + (m.release_added ? 1 : 0) + (m.release_passed ? 1 : 0));
    if (m.out_valid) receive(o);
    hw_.clock();
  }
  void acknowledge(Outside& o, std::uint64_t key, int rank) {
    const auto bit = static_cast<std::uint16_t>(1 << (static_cast<int>(key / 4) * s_.ports + rank));
    if ((o.acknowledged & bit) != 0) why_ = "a contribution is acknowledged twice";
    o.acknowledged = static_cast<std::uint16_t>(o.acknowledged | bit);
  }
  void receive(Outside& o) {
    const Header h = hw_.out();
    std::vector<std::byte> data;
    hw_.append_data(data);
    float value = 0;
    std::memcpy(&value, data.data(), 4);
    const auto ranks = static_cast<std::uint8_t>(value);
    const auto all = static_cast<std::uint8_t>((1 << s_.ports) - 1);
    const std::uint32_t block = h.offset / 4;
    const auto ports = static_cast<std::uint8_t>(h.targets);
    if ((o.credits_out & ports) != 0) why_ = "a packet leaves without a credit";
    o.credits_out |= ports;
    if (value != ranks || static_cast<unsigned>(std::popcount(ranks)) != h.count)
      why_ = "a sum has contributions that it does not count";
    if (h.first != static_cast<unsigned>(std::countr_zero(ranks)))
      why_ = "a sum does not name its lowest rank";
    if (h.kind == Kind::kResult) {
      ++results_;
      if (ranks != all) why_ = "a result without all contributions";
      if ((o.finished[block] & ports) != 0) why_ = "a port gets a result twice";
      if (o.home[block] != 0) why_ = "a result and a partial sum of the same contributions";
      o.finished[block] |= ports;
    } else {
      ++partials_;
      if ((o.home[block] & ranks) != 0 || o.finished[block] != 0) why_ = "a contribution is counted twice";
      if (ports != 1 << (block % static_cast<unsigned>(s_.ports)))
        why_ = "a partial sum does not go to its home";
      o.home[block] |= ranks;
    }
  }

  /// Whether everything comes to its end if the packets that are left come in order, credits come back and
  /// home GPUs remind. States on the way are not tried again.
  bool finishes(const State& from) {
    std::vector<std::uint64_t> way;
    Restored restored(from.model);
    restored >> hw_.m;
    Outside o = from.outside;
    const auto all = static_cast<std::uint8_t>((1 << s_.ports) - 1);
    for (int c = 0; c < 600 && why_.empty(); ++c) {
      way.push_back(hash({save(), o}));
      if (ends_.contains(way.back())) break;
      bool complete = o.to_send == 0 && hw_.m.table_used == 0;
      int missing = -1;
      for (int b = 0; b < s_.blocks; ++b) {
        complete = complete && (o.finished[b] == all || o.home[b] == all);
        if (o.home[b] != 0 && o.home[b] != all) missing = b;
      }
      if (complete && o.credits_out == 0 && o.reminding == 0) {
        // Everything has come out; now every place and acknowledgement is back.
        if (std::popcount(o.acknowledged) != s_.ports * s_.blocks)
          why_ = "a contribution is not acknowledged";
        if (o.released != s_.ports * s_.blocks) why_ = "a place in the input buffer is lost";
        ends_.insert(way.begin(), way.end());
        return why_.empty();
      }
      const bool remind = missing >= 0 && o.reminding == 0 && c % 20 == 19;
      cycle(o, {o.to_send != 0 ? std::countr_zero(o.to_send) : -1, remind ? missing : -1});
    }
    if (!why_.empty()) return false;
    if (!ends_.contains(way.back())) {
      why_ = "it does not come to an end";
      return false;
    }
    ends_.insert(way.begin(), way.end());
    return true;
  }

  Small s_;
  Hardware hw_;
  std::unordered_set<std::uint64_t> visited_;
  std::unordered_set<std::uint64_t> ends_;  // states from which everything comes to its end
  std::string why_;
  std::uint64_t steps_ = 0, results_ = 0, partials_ = 0, refused_ = 0;
};

}  // namespace infold::rtl

// Maps every place in the vectors of the file to its place in the new ones, window by window.
#include "coll/program/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "coll/program/checker.h"
#include "coll/program/chunking.h"
#include "coll/program/wiring.h"

namespace infold::coll {

namespace {

constexpr std::int64_t kUnknown = -1;
/// Steps of a fitted program, some 130 bytes each.
constexpr std::int64_t kMostFittedSteps = 50'000'000;

/// Where the i-th of n nearly equal pieces of `total` begins; all are whole grains but the last.
std::int64_t piece_begin(std::int64_t total, std::int64_t i, std::int64_t n, std::int64_t grain) {
  if (i == n) return total;
  const std::int64_t grains = total / grain;
  return (grains / n * i + std::min(i, grains % n)) * grain;
}

/// Passes through a buffer of a connection, which holds a chunk or two.
bool is_buffered(const Step& s) {
  return !s.in_network() && !s.lands && !s.landed && (s.receives() || s.sends());
}

bool is_by_owner(const Step& s) {
  return s.in_network() && s.who == NetWho::kOwner;
}

/// What a step moves of one rank's share.
std::int64_t length_of(const Step& s, int ranks) {
  return is_by_owner(s) ? s.bytes.count() / ranks : s.bytes.count();
}

class Fitting {
 public:
  Fitting(const OwnProgram& own, sim::Bytes bytes, Protocol protocol, sim::Bytes element)
      : from_(own.program), element_(element.count()), wiring_(own.program) {
    to_ = own.program;
    to_.lists.assign(from_.lists.size(), {});
    to_.bytes = bytes;
    if (protocol != from_.tuning.protocol) to_.tuning = for_protocol(own.settings, protocol);
    const int shares = has_shares(from_.collective) ? from_.ranks : 1;
    share_ = from_.bytes.count() / shares;
    new_share_ = bytes.count() / shares;
    output_ = buffer_sizes(from_.collective, from_.bytes, from_.ranks).output.count();
    new_output_ = buffer_sizes(from_.collective, bytes, from_.ranks).output.count();
    find_unit();
    find_windows();
    find_partners();
  }

  sim::Result<Program> run() {
    std::int64_t steps = 0;
    for (const auto& list : from_.lists) steps += static_cast<std::int64_t>(list.size());
    if (steps * windows_ > kMostFittedSteps) {
      return sim::fail(fmt::format(
          "the program of {} bytes can not be repeated for {} bytes: that are {} million steps, more than {}",
          from_.bytes.count(), to_.bytes.count(), steps * windows_ / 1'000'000,
          kMostFittedSteps / 1'000'000));
    }
    for (std::int64_t w = 0; w < windows_; ++w) {
      if (auto ok = add_window(w); !ok) return sim::fail_as(std::move(ok));
    }
    if (!from_.in_network()) to_.scratch = sim::Bytes{windows_ * scratch_shares() * longest_window()};
    if (const auto flaw = find_flaw(to_)) return refuse(to_string(*flaw, to_));
    return std::move(to_);
  }

 private:
  struct Window {
    std::int64_t number = 0;
    std::int64_t begin = 0;  ///< within a share
    std::int64_t length = 0;
    std::int64_t grain = 0;
  };
  using Lengths = std::vector<std::vector<std::int64_t>>;

  template <class F>
  void for_steps(F f) const {
    for (std::size_t list = 0; list < from_.lists.size(); ++list) {
      for (std::size_t i = 0; i < from_.lists[list].size(); ++i) f(list, i, from_.lists[list][i]);
    }
  }
  /// Calls f(offset, whether it may lie in scratch memory) for each vector that a step reads or writes.
  template <class F>
  static void for_places(const Step& s, F f) {
    if (s.uses_input || s.in_network()) f(s.input_offset.count(), false);
    if (s.uses_held) f(s.held_offset.count(), true);
    if (s.writes_output || s.lands || s.in_network()) f(s.output_offset.count(), true);
  }

  /// The largest number of bytes that every place and length is a multiple of.
  void find_unit() {
    unit_ = share_;
    for_steps([this](std::size_t, std::size_t, const Step& s) {
      unit_ = std::gcd(unit_, length_of(s, from_.ranks));
      unit_ = std::gcd(unit_, s.stride.count());
      for_places(s, [this](std::int64_t at, bool held) { unit_ = std::gcd(unit_, within_share(at, held)); });
    });
    unit_ = std::max<std::int64_t>(unit_, 1);
    pieces_ = std::max<std::int64_t>(share_ / unit_, 1);
  }

  void find_windows() {
    std::int64_t most = 0;
    for_steps([&most](std::size_t, std::size_t, const Step& s) {
      if (is_buffered(s)) most = std::max(most, s.bytes.count());
    });
    const std::int64_t longest = most / unit_ * ((new_share_ + pieces_ - 1) / pieces_);
    const bool same = to_.tuning.protocol == from_.tuning.protocol;
    const std::int64_t limit = std::max<std::int64_t>(max_chunk(to_.tuning).count(), same ? most : 1);
    windows_ = std::max<std::int64_t>(1, (longest + limit - 1) / limit);
  }

  /// The step that sends what a step receives first: on each connection the n-th that is sent is the n-th
  /// that is received.
  void find_partners() {
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> sends(wiring_.connections().size());
    for_steps([&](std::size_t list, std::size_t i, const Step& s) {
      const Wiring::Channel& c = wiring_.channel(list);
      for (int k = 0; k < s.to.size(); ++k)
        sends[c.connections[c.first[i] + static_cast<std::size_t>(s.from.size() + k)]].emplace_back(list, i);
    });
    std::vector<std::size_t> received(sends.size());
    partners_.resize(from_.lists.size());
    for_steps([&](std::size_t list, std::size_t i, const Step& s) {
      const Wiring::Channel& c = wiring_.channel(list);
      auto& partner = partners_[list].emplace_back(list, i);
      for (int k = 0; k < s.from.size(); ++k) {
        const auto connection = c.connections[c.first[i] + static_cast<std::size_t>(k)];
        const std::size_t n = received[connection]++;
        if (k == 0 && n < sends[connection].size()) partner = sends[connection][n];
      }
    });
  }

  bool in_scratch(std::int64_t at, bool held) const { return held && at >= output_ && !from_.in_network(); }
  std::int64_t within_share(std::int64_t at, bool held) const {
    return (in_scratch(at, held) ? at - output_ : at) % std::max<std::int64_t>(share_, 1);
  }
  std::int64_t scratch_shares() const {
    return share_ == 0 ? 0 : (from_.scratch.count() + share_ - 1) / share_;
  }
  std::int64_t window_begin(std::int64_t w) const { return piece_begin(new_share_, w, windows_, element_); }
  std::int64_t longest_window() const { return window_begin(1); }

  /// A place within a share, in units of the file.
  std::int64_t place_in(const Window& w, std::int64_t units) const {
    return piece_begin(w.length, units, pieces_, w.grain);
  }
  sim::Bytes new_place(const Window& w, std::int64_t at, bool held) const {
    const bool scratch = in_scratch(at, held);
    const std::int64_t share = (scratch ? at - output_ : at) / std::max<std::int64_t>(share_, 1);
    const std::int64_t within = place_in(w, within_share(at, held) / unit_);
    if (!scratch) return sim::Bytes{share * new_share_ + w.begin + within};
    return sim::Bytes{new_output_ + (w.number * scratch_shares() + share) * longest_window() + within};
  }
  /// The length of what begins at a place; unknown where it goes on in another share that lies elsewhere.
  std::int64_t new_length(const Window& w, std::int64_t at, bool held, std::int64_t length) const {
    const std::int64_t begin = within_share(at, held);
    const std::int64_t end = begin + length;
    if (end <= share_) return place_in(w, end / unit_) - place_in(w, begin / unit_);
    if (windows_ > 1) return kUnknown;
    const std::int64_t whole = end / share_ * new_share_;
    return whole + place_in(w, end % share_ / unit_) - place_in(w, begin / unit_);
  }

  /// By the vectors that a step reads and writes; by its partner where it only passes data on.
  sim::Result<Lengths> lengths_in(const Window& w) const {
    Lengths lengths(from_.lists.size());
    std::size_t unknown = 0;
    std::string clash;
    for_steps([&](std::size_t list, std::size_t i, const Step& s) {
      const std::int64_t length = length_of(s, from_.ranks);
      std::int64_t found = length == 0 ? 0 : kUnknown;
      if (length > 0 && !s.landed) {
        for_places(s, [&](std::int64_t at, bool held) {
          const std::int64_t here = new_length(w, at, held, length);
          if (clash.empty() && (here == kUnknown || (found != kUnknown && here != found)))
            clash = place_of(static_cast<int>(list) / from_.channels, static_cast<int>(list) % from_.channels,
                             from_.lists[list], i);
          found = here;
        });
      }
      lengths[list].push_back(found);
      if (found == kUnknown) ++unknown;
    });
    if (!clash.empty())
      return refuse(fmt::format("the pieces that {} reads and writes would not have the same size", clash));
    while (unknown > 0) {
      const std::size_t before = unknown;
      for_steps([&](std::size_t list, std::size_t i, const Step&) {
        const auto [sender, step] = partners_[list][i];
        if (lengths[list][i] != kUnknown || lengths[sender][step] == kUnknown) return;
        lengths[list][i] = lengths[sender][step];
        --unknown;
      });
      if (unknown == before) return refuse("some steps only pass on what comes from each other");
    }
    return lengths;
  }

  sim::Status add_window(std::int64_t number) {
    Window w{.number = number, .begin = window_begin(number), .length = 0, .grain = element_};
    w.length = window_begin(number + 1) - w.begin;
    if (w.length >= pieces_ * kVector) w.grain = kVector;
    const auto lengths = lengths_in(w);
    if (!lengths) return sim::fail_as(lengths);
    for_steps([&](std::size_t list, std::size_t i, const Step& old) {
      const std::int64_t length = (*lengths)[list][i];
      if (length == 0 && old.bytes > sim::Bytes{}) return;
      Step s = old;
      s.bytes = sim::Bytes{is_by_owner(s) ? length * from_.ranks : length};
      if (share_ > 0) {
        s.input_offset = new_place(w, old.input_offset.count(), false);
        s.held_offset = new_place(w, old.held_offset.count(), true);
        s.output_offset = new_place(w, old.output_offset.count(), true);
        const std::int64_t stride = old.stride.count();
        s.stride = sim::Bytes{stride / share_ * new_share_ + place_in(w, stride % share_ / unit_)};
      }
      to_.lists[list].push_back(s);
    });
    return {};
  }

  /// What sizes go is told, where one does not.
  sim::Failure refuse(const std::string& why) const {
    const std::int64_t shares = has_shares(from_.collective) ? from_.ranks : 1;
    return sim::fail(fmt::format(
        "the program of {} bytes can not be cut for {} bytes: {}; multiples of {} bytes are cut evenly",
        from_.bytes.count(), to_.bytes.count(), why, pieces_ * shares * element_));
  }

  const Program& from_;
  Program to_;
  std::int64_t element_;
  Wiring wiring_;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> partners_;
  std::int64_t share_ = 0;  ///< of the message, one per rank or one in all
  std::int64_t new_share_ = 0;
  std::int64_t output_ = 0;
  std::int64_t new_output_ = 0;
  std::int64_t unit_ = 1;
  std::int64_t pieces_ = 1;
  std::int64_t windows_ = 1;
};

}  // namespace

bool can_use(const Program& program, Protocol protocol) {
  if (protocol == Protocol::kSimple) return true;
  if (program.engine != Engine::kSm || program.in_network()) return false;
  return std::ranges::none_of(program.lists, [](const std::vector<Step>& list) {
    return std::ranges::any_of(list, [](const Step& s) { return s.lands || s.landed; });
  });
}

sim::Result<Program> fit(const OwnProgram& own, sim::Bytes bytes, Protocol protocol, sim::Bytes element) {
  if (!can_use(own.program, protocol)) {
    return sim::fail(fmt::format(
        "the program stores into outputs or has no threads of its own: it needs the protocol simple, not {}",
        sim::name_of(protocol)));
  }
  if (bytes == own.program.bytes && protocol == own.program.tuning.protocol) return own.program;
  if (own.program.bytes == sim::Bytes{} && bytes > sim::Bytes{})
    return sim::fail(
        fmt::format("the program moves no data, and can not be cut for {} bytes", bytes.count()));
  return Fitting(own, bytes, protocol, element).run();
}

}  // namespace infold::coll

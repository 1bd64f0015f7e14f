// Looks for the smallest part that can be a replica, and puts as many of them side by side as were asked for.
#include "work/rescale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>

#include "coll/program/collective.h"
#include "work/communications.h"

namespace infold::work {

namespace {

/// Every size of an element divides it.
constexpr std::int64_t kWidestElement = 16;

enum class Place : std::uint8_t { kUnused, kWithin, kAcross, kAll };

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Whether the name of a communicator says that it divides a model, and not the data.
bool divides_the_model(const std::string& name) {
  constexpr std::array kWords = {"tp",      "tensor", "pp",     "pipe",  "cp",
                                 "context", "ep",     "expert", "model", "sp"};
  const std::string text = lower(name);
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const auto letter = [&](std::size_t i) { return i < text.size() && std::isalpha(text[i]) != 0; };
      const bool whole = (at == 0 || !letter(at - 1)) && !letter(at + word.size());
      if (whole || (word.size() > 3 && (at == 0 || !letter(at - 1)))) return true;
    }
    return false;
  });
}

struct Uses {
  std::vector<bool> collective;  // by communicator
  std::vector<bool> transfer;
};

Uses uses_of(const Graph& graph) {
  Uses uses{std::vector<bool>(graph.communicators.size()), std::vector<bool>(graph.communicators.size())};
  for (const Operation& op : graph.operations) {
    const CommunicatorId c = communicator_of(op);
    if (c < 0) continue;
    auto& kind = std::holds_alternative<Transfer>(op.what) ? uses.transfer : uses.collective;
    kind[static_cast<std::size_t>(c)] = true;
  }
  return uses;
}

/// Where the groups of a communicator lie if replicas have `unit` ranks; none if they do not fit that.
std::optional<Place> place_of(const Communicator& c, int ranks, int unit, bool transfers, bool used) {
  if (!used || c.groups.empty()) return Place::kUnused;
  if (!transfers && !divides_the_model(c.name) && c.groups.size() == 1 &&
      std::ssize(c.groups.front()) == ranks)
    return Place::kAll;
  const auto within = [&](const std::vector<int>& g) {
    return std::ranges::all_of(g, [&](int r) { return r / unit == g.front() / unit; });
  };
  if (std::ranges::all_of(c.groups, within) && unit > 1) return Place::kWithin;
  if (ranks > 1 && std::ranges::all_of(c.groups, [](const auto& g) { return g.size() == 1; }))
    return Place::kWithin;
  if (transfers || divides_the_model(c.name)) return std::nullopt;
  const auto across = [&](const std::vector<int>& g) {
    if (std::ssize(g) != ranks / unit) return false;
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (g[i] != g.front() + static_cast<int>(i) * unit) return false;
    }
    return g.front() < unit;
  };
  if (std::ranges::all_of(c.groups, across)) return Place::kAcross;
  return std::nullopt;
}

class Rescaling {
 public:
  Rescaling(Graph graph, int ranks) : graph_(std::move(graph)), uses_(uses_of(graph_)), ranks_(ranks) {}

  sim::Result<Rescaled> run() {
    const int before = graph_.ranks();
    find_unit();
    if (ranks_ % unit_ != 0) {
      return sim::fail(fmt::format(
          "{} ranks: {} of the {} ranks of the workload stay together, so only multiples of {} are possible",
          ranks_, unit_, before, unit_));
    }
    replicas_ = ranks_ / unit_;
    old_replicas_ = before / unit_;
    for (std::size_t c = 0; c < graph_.communicators.size(); ++c) regroup(c);
    std::vector<int> scripts(static_cast<std::size_t>(ranks_));
    for (int r = 0; r < ranks_; ++r)
      scripts[static_cast<std::size_t>(r)] = graph_.script_of[static_cast<std::size_t>(template_of(r))];
    graph_.script_of = std::move(scripts);
    drop_unused_scripts();
    adjust_operations();
    note(before);
    return Rescaled{std::move(graph_), std::move(assumed_)};
  }

 private:
  void find_unit() {
    const int n = graph_.ranks();
    for (unit_ = 1; unit_ <= n; ++unit_) {
      if (n % unit_ != 0) continue;
      places_.clear();
      for (std::size_t c = 0; c < graph_.communicators.size(); ++c) {
        const auto place = place_of(graph_.communicators[c], n, unit_, uses_.transfer[c],
                                    uses_.transfer[c] || uses_.collective[c]);
        if (!place) break;
        places_.push_back(*place);
      }
      if (places_.size() == graph_.communicators.size()) return;
    }
    unit_ = n;  // nothing but whole copies of all ranks
    places_.assign(graph_.communicators.size(), Place::kWithin);
  }
  /// The rank of the workload that a new rank does the same as.
  int template_of(int rank) const { return rank / unit_ % old_replicas_ * unit_ + rank % unit_; }

  void regroup(std::size_t c) {
    auto& groups = graph_.communicators[c].groups;
    const std::vector<std::vector<int>> before = std::move(groups);
    groups.clear();
    if (places_[c] == Place::kAll) {
      groups.emplace_back(static_cast<std::size_t>(ranks_));
      std::iota(groups.front().begin(), groups.front().end(), 0);
      return;
    }
    if (places_[c] == Place::kAcross) {
      for (const auto& old : before) {
        groups.emplace_back();
        for (int k = 0; k < replicas_; ++k) groups.back().push_back(k * unit_ + old.front());
      }
      return;
    }
    for (int k = 0; k < replicas_; ++k) {
      for (const auto& old : before) {
        if (old.empty() || old.front() / unit_ != k % old_replicas_) continue;
        std::vector<int> group = old;
        for (int& r : group) r += (k - k % old_replicas_) * unit_;
        groups.push_back(std::move(group));
      }
    }
  }

  void drop_unused_scripts() {
    std::vector<int> place(graph_.scripts.size(), -1);
    std::vector<Script> kept;
    for (int& s : graph_.script_of) {
      int& at = place[static_cast<std::size_t>(s)];
      if (at < 0) {
        at = static_cast<int>(kept.size());
        kept.push_back(graph_.scripts[static_cast<std::size_t>(s)]);
      }
      s = at;
    }
    graph_.scripts = std::move(kept);
  }

  /// Shares of a vector are equal, and where a group has one rank left nothing is communicated.
  void adjust_operations() {
    for (Operation& op : graph_.operations) {
      auto* collective = std::get_if<Collective>(&op.what);
      if (collective == nullptr) continue;
      const auto c = static_cast<std::size_t>(collective->communicator);
      if (places_[c] != Place::kAll && places_[c] != Place::kAcross) continue;
      const auto size = static_cast<std::int64_t>(graph_.communicators[c].groups.front().size());
      if (size == 1) {
        op.what = Marker{};
        continue;
      }
      collective->root %= static_cast<int>(size);
      if (!coll::has_shares(collective->what)) continue;
      Buffer& buffer = graph_.buffers[static_cast<std::size_t>(collective->buffer)];
      const std::int64_t grain = size * kWidestElement;
      buffer.bytes = sim::Bytes{(buffer.bytes.count() + grain - 1) / grain * grain};
    }
  }

  std::string names(std::initializer_list<Place> places) const {
    std::string text;
    for (std::size_t c = 0; c < places_.size(); ++c) {
      if (std::ranges::find(places, places_[c]) == places.end()) continue;
      text += (text.empty() ? "" : ", ") + graph_.communicators[c].name;
    }
    return text;
  }
  void note(int before) {
    assumed_.push_back(fmt::format("{} ranks do what {} did: {} replicas of {} instead of {}", ranks_, before,
                                   replicas_, unit_ == 1 ? "one rank" : fmt::format("{} ranks", unit_),
                                   old_replicas_));
    const std::string grow = names({Place::kAll, Place::kAcross});
    if (grow.empty()) {
      assumed_.emplace_back("replicas do not communicate with each other, as far as the workload says");
    } else {
      assumed_.push_back(fmt::format(
          "communicators over data-parallel replicas have {} members instead of {}: {}; their vectors are as "
          "long as before",
          places_.empty() || names({Place::kAll}).empty() ? replicas_ : ranks_,
          names({Place::kAll}).empty() ? old_replicas_ : before, grow));
    }
    const std::string stay = names({Place::kWithin});
    if (!stay.empty()) assumed_.push_back(fmt::format("communicators that stay as they are: {}", stay));
    assumed_.emplace_back("kernels and delays of the host are as before: every GPU has as many samples");
  }

  Graph graph_;
  Uses uses_;
  int ranks_;
  int unit_ = 1;
  int replicas_ = 1;
  int old_replicas_ = 1;
  std::vector<Place> places_;
  std::vector<std::string> assumed_;
};

}  // namespace

sim::Result<Rescaled> rescaled(Graph graph, int ranks) {
  if (ranks == graph.ranks()) return Rescaled{std::move(graph), {}};
  return Rescaling(std::move(graph), ranks).run();
}

}  // namespace infold::work

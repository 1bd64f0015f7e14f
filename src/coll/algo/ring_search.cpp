// The search has two parts. (1) The links are decomposed into permutations, in each of which every rank has
// one successor. (2) Two permutations exchange successors wherever both remain permutations, and the exchange
// is kept if it does not make more cycles, until each permutation is a single cycle. Links are never lost or
// doubled, so the cycles stay disjoint.
#include "coll/algo/ring_search.h"

#include <algorithm>
#include <numeric>

namespace infold::coll {
namespace {

constexpr int kStepsPerExchange = 20;  // the fixed cost of an exchange

void use_up(LinkGraph& graph, int from, int to) {
  auto& arcs = graph[at(from)];
  const auto arc = std::find_if(arcs.begin(), arcs.end(), [&](const Arc& a) { return a.to == to; });
  if (--arc->links == 0) arcs.erase(arc);
}

}  // namespace

CycleSearch::CycleSearch(int ranks) : ranks_(ranks), seen_(at(ranks), 0), inverse_(at(ranks)) {}

std::vector<Permutation> CycleSearch::search(LinkGraph graph, Turning turning, long limit) {
  take_apart(std::move(graph), limit);
  return mend(turning, limit);
}

std::optional<LinkGraph> CycleSearch::give_directions(LinkGraph both_ways) {
  for (const auto& arcs : both_ways) {
    int links = 0;
    for (const Arc& arc : arcs) links += arc.links;
    if (links % 2 != 0) return std::nullopt;
  }
  shuffle(both_ways);
  LinkGraph directed(both_ways.size());
  for (int start = 0; start < ranks_; ++start) {
    // As every rank has an even number of cables, a trail can only end where it began.
    for (int rank = start; !both_ways[at(rank)].empty(); ++steps_) {
      const int next = both_ways[at(rank)].back().to;
      use_up(both_ways, rank, next);
      use_up(both_ways, next, rank);
      directed[at(rank)].push_back({next, 1});
      rank = next;
    }
  }
  return directed;
}

/// (1) Finds perfect matchings of senders to receivers, one after the other, by augmenting paths. If all
/// ranks have the same number of links, these use every link; otherwise some links stay idle.
void CycleSearch::take_apart(LinkGraph graph, long limit) {
  parts_.clear();
  while (steps_ < limit) {
    sender_of_.assign(at(ranks_), -1);
    for (int sender = 0; sender < ranks_; ++sender) {
      ++stamp_;
      if (!find_receiver(graph, sender)) return;
    }
    Permutation part(at(ranks_));
    for (int receiver = 0; receiver < ranks_; ++receiver) {
      const int sender = sender_of_[at(receiver)];
      part[at(sender)] = receiver;
      use_up(graph, sender, receiver);
    }
    parts_.push_back(std::move(part));
  }
}

bool CycleSearch::find_receiver(const LinkGraph& graph, int sender) {
  for (const Arc& arc : graph[at(sender)]) {
    ++steps_;
    if (seen_[at(arc.to)] == stamp_) continue;
    seen_[at(arc.to)] = stamp_;
    int& holder = sender_of_[at(arc.to)];
    if (holder >= 0 && !find_receiver(graph, holder)) continue;
    holder = sender;
    return true;
  }
  return false;
}

/// (2) Merges the cycles of each permutation.
std::vector<Permutation> CycleSearch::mend(Turning turning, long limit) {
  circles_.clear();
  for (const Permutation& part : parts_) circles_.push_back(count_circles(part));
  const int parts = static_cast<int>(parts_.size());
  std::vector<Permutation> best;
  for (;;) {
    const int whole = static_cast<int>(std::count(circles_.begin(), circles_.end(), 1));
    if (whole > static_cast<int>(best.size())) best = whole_parts();
    if (whole == parts || parts < 2 || steps_ >= limit) return best;
    int one = below(parts);
    while (circles_[at(one)] == 1) one = (one + 1) % parts;
    const int other = (one + 1 + below(parts - 1)) % parts;
    if (turning == Turning::kAllowed) {
      turn_some_circles(parts_[at(one)]);
      turn_some_circles(parts_[at(other)]);
    }
    exchange(one, other, below(ranks_));
  }
}

/// Lets two permutations exchange the successor of `start`, and of all ranks that must follow for both to
/// remain permutations. The exchange is undone if it made more cycles, except one time in a hundred (to
/// escape dead ends).
void CycleSearch::exchange(int one, int other, int start) {
  const Permutation& old = parts_[at(one)];
  changed_one_ = old;
  changed_other_ = parts_[at(other)];
  for (int rank = 0; rank < ranks_; ++rank) inverse_[at(changed_other_[at(rank)])] = rank;
  int rank = start;
  do {
    std::swap(changed_one_[at(rank)], changed_other_[at(rank)]);
    rank = inverse_[at(old[at(rank)])];
    ++steps_;
  } while (rank != start);
  const int circles_one = count_circles(changed_one_);
  const int circles_other = count_circles(changed_other_);
  steps_ += ranks_ + kStepsPerExchange;
  const int more = circles_one + circles_other - circles_[at(one)] - circles_[at(other)];
  if (more > 0 && below(100) != 0) return;
  std::swap(parts_[at(one)], changed_one_);
  std::swap(parts_[at(other)], changed_other_);
  circles_[at(one)] = circles_one;
  circles_[at(other)] = circles_other;
}

/// Reverses some cycles, chosen at random, which makes other exchanges possible.
void CycleSearch::turn_some_circles(Permutation& part) {
  ++stamp_;
  for (int start = 0; start < ranks_; ++start) {
    if (seen_[at(start)] == stamp_) continue;
    const bool turn = below(2) == 0;
    int before = start;
    int rank = part[at(start)];
    seen_[at(start)] = stamp_;
    while (rank != start) {
      seen_[at(rank)] = stamp_;
      const int next = part[at(rank)];
      if (turn) part[at(rank)] = before;
      before = rank;
      rank = next;
    }
    if (turn) part[at(start)] = before;
  }
  steps_ += ranks_;
}

int CycleSearch::count_circles(const Permutation& part) {
  int circles = 0;
  ++stamp_;
  for (int start = 0; start < ranks_; ++start) {
    if (seen_[at(start)] == stamp_) continue;
    ++circles;
    for (int rank = start; seen_[at(rank)] != stamp_; rank = part[at(rank)]) seen_[at(rank)] = stamp_;
  }
  steps_ += ranks_;
  return circles;
}

std::vector<Permutation> CycleSearch::whole_parts() const {
  std::vector<Permutation> whole;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (circles_[i] == 1) whole.push_back(parts_[i]);
  }
  return whole;
}

}  // namespace infold::coll

// Chooses between the plain order of the ranks and rings along the cables, and controls the search for the
// latter. rings.h states the guarantees, ring_search.cpp finds the rings.
#include "coll/algo/rings.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "coll/algo/over_nodes.h"
#include "coll/algo/ring_search.h"

namespace infold::coll {
namespace {

/// The cables between the GPUs of the ranks.
struct Cabling {
  LinkGraph both_ways;
  LinkGraph drawn;  ///< each cable only in the direction of the blueprint
};

void add_link(LinkGraph& graph, int from, int to) {
  auto& arcs = graph[at(from)];
  const auto known = std::find_if(arcs.begin(), arcs.end(), [&](const Arc& arc) { return arc.to == to; });
  if (known != arcs.end()) {
    ++known->links;
  } else {
    arcs.push_back({to, 1});
  }
}

Cabling cabling_of(const net::Blueprint& blueprint, std::span<const int> gpus) {
  std::vector<int> rank_of(at(blueprint.gpus), -1);
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) rank_of[at(gpus[rank])] = static_cast<int>(rank);
  Cabling cabling{LinkGraph(gpus.size()), LinkGraph(gpus.size())};
  for (const net::Cable& cable : blueprint.cables) {
    if (!blueprint.is_gpu(cable.a) || !blueprint.is_gpu(cable.b)) continue;  // to the NICs of nodes
    const int a = rank_of[net::index_of(cable.a)];
    const int b = rank_of[net::index_of(cable.b)];
    if (a < 0 || b < 0) continue;
    add_link(cabling.both_ways, a, b);
    add_link(cabling.both_ways, b, a);
    add_link(cabling.drawn, a, b);
  }
  return cabling;
}

/// The links of each rank, ordered by the distance upwards in rank numbers. On a full mesh the search then
/// starts from the permutations "k further on", half of which are single cycles already.
void sort_by_distance(LinkGraph& graph) {
  const int ranks = static_cast<int>(graph.size());
  for (int rank = 0; rank < ranks; ++rank) {
    std::sort(graph[at(rank)].begin(), graph[at(rank)].end(), [&](const Arc& a, const Arc& b) {
      return (a.to - rank + ranks) % ranks < (b.to - rank + ranks) % ranks;
    });
  }
}

std::vector<int> links_out(const LinkGraph& graph) {
  std::vector<int> links(graph.size(), 0);
  for (std::size_t rank = 0; rank < graph.size(); ++rank) {
    for (const Arc& arc : graph[rank]) links[rank] += arc.links;
  }
  return links;
}

std::vector<int> links_in(const LinkGraph& graph) {
  std::vector<int> links(graph.size(), 0);
  for (const auto& arcs : graph) {
    for (const Arc& arc : arcs) links[at(arc.to)] += arc.links;
  }
  return links;
}

Ring walk(const Permutation& successor) {
  Ring ring{0};
  for (int rank = successor[0]; rank != 0; rank = successor[at(rank)]) ring.push_back(rank);
  return ring;
}

/// Uses rings also in the reverse direction, where the links for that are still free.
void add_reversed(std::vector<Ring>& rings, LinkGraph free) {
  const auto links = [&](int from, int to) -> int& {
    const auto is_it = [&](const Arc& arc) { return arc.to == to; };
    return std::find_if(free[at(from)].begin(), free[at(from)].end(), is_it)->links;
  };
  const auto each_step = [](const Ring& ring, auto&& visit) {
    for (std::size_t i = 0; i < ring.size(); ++i) visit(ring[i], ring[(i + 1) % ring.size()]);
  };
  for (const Ring& ring : rings) each_step(ring, [&](int from, int to) { --links(from, to); });
  for (std::size_t i = 0, found = rings.size(); i < found; ++i) {
    Ring back = rings[i];
    std::reverse(back.begin() + 1, back.end());
    bool is_free = true;
    each_step(back, [&](int from, int to) { is_free = is_free && links(from, to) > 0; });
    if (!is_free) continue;
    each_step(back, [&](int from, int to) { --links(from, to); });
    rings.push_back(std::move(back));
  }
}

// Directed cycles alone solve any graph in principle, but the larger the graph, the longer that takes. If
// each cable is given one direction, half as many cycles have to be found in half the links, and the reverse
// of each is another one. The directions in which a torus is drawn work especially well. Not every graph has
// a solution of that kind, so both are tried in turn, with ever more steps.
std::vector<Ring> disjoint_rings(
    Cabling cabling) {                        // NOLINT(performance-unnecessary-value-param): sorted here
  constexpr long kMostSteps = 6'000'000;      // some 30 ms
  constexpr long kMostStepsPerLink = 20'000;  // small graphs without a full solution need not take that long
  constexpr long kFirstStepsPerLink = 200;
  constexpr int kMostAttempts =
      200;  // uneven graphs often come to an early end; another start may be luckier

  auto& [both_ways, drawn] = cabling;
  const std::vector<int> links_of = links_out(both_ways);
  const long links = std::accumulate(links_of.begin(), links_of.end(), 0L);
  const int most = *std::min_element(links_of.begin(), links_of.end());
  const long budget = std::min(kMostSteps, kMostStepsPerLink * links);
  const bool drawn_evenly = links_out(drawn) == links_in(drawn);
  sort_by_distance(both_ways);

  CycleSearch search(static_cast<int>(both_ways.size()));
  std::vector<Ring> best;
  long patience = kFirstStepsPerLink * links;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (search.steps() >= budget || static_cast<int>(best.size()) >= most) break;
    std::optional<LinkGraph> one_way;
    if (drawn_evenly && (attempt == 0 || attempt % 4 == 1)) {
      one_way = drawn;
    } else if (attempt % 2 == 1) {
      one_way = search.give_directions(both_ways);
    }
    // The first attempt keeps the directions as drawn, which solves most tori at once, whatever their size.
    const Turning turning = one_way && attempt > 0 ? Turning::kAllowed : Turning::kForbidden;
    const long limit = std::min(budget, search.steps() + patience);
    std::vector<Ring> rings;
    for (const Permutation& circle : search.search(one_way ? *one_way : both_ways, turning, limit)) {
      rings.push_back(walk(circle));
      if (!one_way) continue;
      rings.push_back(rings.back());
      std::reverse(rings.back().begin() + 1, rings.back().end());
    }
    if (rings.size() > best.size()) best = std::move(rings);
    search.shuffle(both_ways);
    if (attempt % 4 == 3) patience = std::min(2 * patience, budget);
  }
  add_reversed(best, both_ways);
  std::sort(best.begin(), best.end());
  return best;
}

}  // namespace

std::vector<Ring> find_rings(const net::Blueprint& blueprint, std::span<const int> gpus) {
  if (over_nodes(blueprint, gpus)) return rings_over_nodes(ranks_of_nodes(blueprint, gpus));
  if (!has_switches(blueprint) && gpus.size() > 1) {
    std::vector<Ring> rings = disjoint_rings(cabling_of(blueprint, gpus));
    if (!rings.empty()) return rings;
  }
  Ring in_order(gpus.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  return {in_order};
}

}  // namespace infold::coll

// The search behind find_rings(): link-disjoint directed Hamiltonian cycles in a graph of ranks and links.
// Internal to coll/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace infold::coll {

/// For each rank, the ranks it has links to and how many links.
struct Arc {
  int to;
  int links;
};
using LinkGraph = std::vector<std::vector<Arc>>;
/// A rank as an index into the graph.
inline std::size_t at(int rank) {
  return static_cast<std::size_t>(rank);
}

/// Maps a rank to its successor.
using Permutation = std::vector<int>;

/// Whether cycles keep to the direction of their links, or each link stands for a cable whose two directions
/// are available, so that a cycle may be reversed.
enum class Turning { kForbidden, kAllowed };

/// The search is seeded, so that the same calls give the same answers, and bounded in steps instead of time.
class CycleSearch {
 public:
  explicit CycleSearch(int ranks);

  /// The steps made so far: a measure of time that is the same on every machine.
  long steps() const { return steps_; }

  /// Cycles through all ranks that share no link: the largest set found until `limit` steps have been made in
  /// total or nothing is left to improve. The first links of the list of each rank are tried first.
  std::vector<Permutation> search(LinkGraph graph, Turning turning, long limit);

  /// Gives each cable one direction so that every rank has as many links in as out, by walking closed trails
  /// at random. This is impossible if a rank has an odd number of cables.
  std::optional<LinkGraph> give_directions(LinkGraph both_ways);

  void shuffle(LinkGraph& graph) {
    for (auto& arcs : graph) shuffle(arcs);
  }

 private:
  // std::shuffle and std:: distributions are not used, because they may differ between libraries.
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint_fast32_t>(n)); }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(static_cast<int>(i)))]);
    }
  }

  void take_apart(LinkGraph graph, long limit);
  bool find_receiver(const LinkGraph& graph, int sender);
  std::vector<Permutation> mend(Turning turning, long limit);
  void exchange(int one, int other, int start);
  void turn_some_circles(Permutation& part);
  int count_circles(const Permutation& part);
  std::vector<Permutation> whole_parts() const;

  int ranks_;
  long steps_ = 0;
  std::mt19937 random_{1};
  std::vector<Permutation> parts_;
  std::vector<int> circles_;  ///< number of cycles of each permutation
  std::vector<int> sender_of_;

  long stamp_ = 0;  ///< a rank is marked if its entry in seen_ equals the current stamp
  std::vector<long> seen_;

  // Scratch space of exchange().
  Permutation inverse_;
  Permutation changed_one_;
  Permutation changed_other_;
};

}  // namespace infold::coll

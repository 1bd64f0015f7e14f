// Values as the checker sees them: not numbers, but where in the inputs they come from and whose inputs are
// folded into them. Internal to coll/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace infold::coll {

/// Sets of ranks, each kept once and named by a number.
class RankSets {
 public:
  using Id = std::uint32_t;
  explicit RankSets(int ranks) : words_((static_cast<std::size_t>(ranks) + 63) / 64) {}

  Id only(int rank);
  Id all(int ranks);
  Id unite(Id a, Id b);
  bool overlap(Id a, Id b) const;
  bool contains(Id set, int rank) const;
  /// Returns a rank that is in both sets, or one that is in `a` and not in `b`; -1 if there is none.
  int first_of_both(Id a, Id b) const;
  int first_missing(Id a, Id b) const;

 private:
  using Bits = std::vector<std::uint64_t>;
  Id intern(Bits bits);
  std::size_t words_;
  std::vector<Bits> sets_;
  std::map<Bits, Id> known_;
  std::map<std::pair<Id, Id>, Id> unions_;
};

/// A run of bytes for which the same holds.
struct Run {
  std::int64_t bytes = 0;
  std::int64_t place = 0;  ///< the place of its first byte in the inputs
  RankSets::Id who = 0;    ///< the ranks whose inputs are folded into it
  bool finished = false;   ///< it is marked as complete (an average was divided)

  /// The part of it that begins at `from` and is `n` bytes long.
  Run cut(std::int64_t from, std::int64_t n) const { return {n, place + from, who, finished}; }
  bool goes_on_as(const Run& next) const {
    return place + bytes == next.place && who == next.who && finished == next.finished;
  }
};
using Runs = std::vector<Run>;

/// Adds a run, and joins it with the last one if it continues that.
void append(Runs& runs, const Run& run);

/// The reason why two values cannot be folded.
struct FoldFlaw {
  enum Kind { kPlaces, kTwice, kFinished } kind;
  Run one;
  Run other;
};
/// Folds `with` into `into`. Requires: both have the same number of bytes.
std::optional<FoldFlaw> fold_runs(RankSets& sets, Runs& into, const Runs& with);

/// A rank's output and scratch memory.
class Memory {
 public:
  struct Cell {
    Run run;
    int channel = 0;  ///< the channel that wrote it
  };
  void write(std::int64_t at, const Runs& runs, int channel);
  /// The first byte of [at, at + bytes) that was written; -1 if none was.
  std::int64_t first_written(std::int64_t at, std::int64_t bytes) const;
  /// The cell at a byte, from there to its end or to `bytes`; nothing where nothing was written.
  std::optional<Cell> read(std::int64_t at, std::int64_t bytes) const;

 private:
  void clear(std::int64_t at, std::int64_t bytes);
  std::map<std::int64_t, Cell> cells_;  // by first byte
};

}  // namespace infold::coll

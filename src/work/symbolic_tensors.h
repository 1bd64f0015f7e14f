// Activations of a step, without numbers: which operation has written each tensor of each rank last, and
// whether that has been read. Used by the checker of steps only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "work/happens_before.h"
#include "work/symbolic_step.h"

namespace infold::work {

class SymbolicTensors {
 public:
  /// All arguments must outlive this object.
  SymbolicTensors(const Graph& graph, const StepRules& rules, const HappensBefore& before);

  // Each returns what is wrong, or nothing.
  std::string read(const Turn& t, TensorId id, bool reduces_in_place = false);
  std::string write(const Turn& t, TensorId id, bool keeps_sum = false);
  /// What communication brings counts as reduced.
  std::string bring(const Turn& t, TensorId id);
  /// To be asked at the end of the step, when what communication brought must have been read.
  std::string left_over() const;

 private:
  struct Use {
    std::size_t writer = 0;
    std::vector<std::size_t> readers = {};
    int pass = 0;  ///< whose content it is
    bool written = false;
    bool brought = false;  ///< communication wrote it
    bool unread = false;
    bool reduced = false;
  };
  bool followed(TensorId id) const {
    return graph_.tensors[static_cast<std::size_t>(id)].role == TensorSpec::Role::kPassing ||
           results_.contains(id);
  }
  std::string replace(const Turn& t, TensorId id, bool keeps_sum);
  /// Whether anything the rank runs writes it.
  bool is_written(int rank, TensorId id) const;

  const Graph& graph_;
  const HappensBefore& before_;
  bool given_known_;
  std::set<TensorId> given_;
  std::set<TensorId> partial_;
  std::map<TensorId, int> results_;          // and the script that has it
  std::vector<std::set<TensorId>> written_;  // by script: what any operation writes
  std::map<std::pair<int, TensorId>, Use> uses_;
};

}  // namespace infold::work

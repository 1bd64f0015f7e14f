// What the chunks of a GPU's buffers hold while a program of MSCCL is carried out on paper: whether they were
// written, from how many ranks they are, and at which place of input, output or scratch memory a step of ours
// finds them.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/msccl/msccl_file.h"

namespace infold::formats {

/// Chunks of one GPU, counted from the beginning of its output: behind that lie scratch memory and a copy of
/// input that is written to.
class MscclMemory {
 public:
  struct Cell {
    int input = -1;  ///< the chunk of input that it is until it is written; -1: none
    bool written = false;
    int ranks = 0;     ///< that its value is from
    int readers = 0;   ///< steps that read it
    int pending = -1;  ///< the message that is received when it is read; -1: it is there
  };

  MscclMemory(const MscclFile& file, std::size_t gpu);

  /// The first cell of a step's source or destination; -1 if it reaches beyond its buffer.
  int cell(MscclBuffer buffer, int chunk, int chunks) const;
  Cell& operator[](int cell) { return cells_[static_cast<std::size_t>(cell)]; }
  const Cell& operator[](int cell) const { return cells_[static_cast<std::size_t>(cell)]; }
  int output_chunks() const { return output_; }
  /// Chunks behind the output, up to the last that was written.
  int scratch_used() const;

 private:
  int input_ = 0;
  int output_ = 0;
  int scratch_ = 0;
  int shift_ = 0;  ///< in place: where a chunk of input lies in output
  bool in_place_ = false;
  std::vector<Cell> cells_;
};

}  // namespace infold::formats

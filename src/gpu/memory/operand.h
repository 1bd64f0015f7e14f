// One operand of a matrix product or convolution: which blocks of which tensor the slab of a tile needs.
//
// A tile has an extent along the outer dimension of the operand (rows of the left, columns of the right
// operand) and walks along k. Convolutions are matrix products whose operand is an image seen through the
// taps of the filter.
#pragma once

#include <cstdint>

#include "gpu/memory/memory_system.h"
#include "gpu/memory/tensor.h"
#include "gpu/sm/actor.h"

namespace infold::gpu {

/// How the pixels of an output map to those of an image.
struct Window {
  std::int64_t height = 1;  ///< height of the image
  std::int64_t width = 1;
  std::int64_t out_height = 1;
  std::int64_t out_width = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t taps_across = 1;  ///< taps of the filter in one row
  std::int64_t taps = 1;         ///< total number of taps
  std::int64_t channels = 1;     ///< channels of the image

  /// The pixel of the image under the first tap of a pixel of the output; it may lie in the padding.
  std::int64_t pixel(std::int64_t out) const {
    const std::int64_t across = out % out_width;
    const std::int64_t line = out / out_width;
    const std::int64_t image = line / out_height;
    return (image * height + (line % out_height) * stride - pad) * width + across * stride - pad;
  }
};

class Operand {
 public:
  enum class Kind : std::uint8_t {
    kRows,           ///< outer: rows of the tensor, k: columns
    kCols,           ///< outer: columns, k: rows
    kPatches,        ///< outer: output pixels, k: taps x channels
    kPatchesAcross,  ///< outer: taps x channels, k: output pixels
    kFilterAcross,   ///< a filter of (out channels) x (taps x channels); outer: channels, k: taps x out
                     ///< channels
  };
  Operand() = default;
  Operand(Kind kind, const Tensor& tensor, const Window& window = {})
      : kind_(kind), tensor_(tensor), window_(window) {}
  Kind kind() const { return kind_; }

  /// What a tile that begins at `outer` must remember for reads with kPatches.
  void prepare(std::int64_t outer, std::int64_t extent, std::int64_t& from, std::int64_t& to) const;

  /// When the slab is at the port of the SM. With parts > 1 only one block in `parts` is asked for: other
  /// workgroups of the cluster ask for the rest.
  sim::Time read(MemorySystem& memory, Actor actor, std::int64_t outer, std::int64_t extent, std::int64_t k,
                 std::int64_t depth, std::int64_t from, std::int64_t to, int part, int parts,
                 sim::Time now) const;

 private:
  struct Rect {
    std::int64_t row, rows, col, cols;
  };
  /// A slab reads only some pixels of a strided patch; those that no tap reads are never fetched.
  struct Density {
    std::int64_t read = 1;
    std::int64_t fetched = 1;
  };
  sim::Time read_rect(MemorySystem& memory, Actor actor, const Rect& r, const Density& density, int part,
                      int parts, sim::Time now) const;
  sim::Time read_patch(MemorySystem& memory, Actor actor, std::int64_t from, std::int64_t to,
                       std::int64_t minor, std::int64_t minor_extent, int part, int parts,
                       sim::Time now) const;

  Kind kind_ = Kind::kRows;
  Tensor tensor_;
  Window window_;
};

}  // namespace infold::gpu

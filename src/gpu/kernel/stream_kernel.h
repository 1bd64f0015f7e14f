// Streaming kernels: every element is read and written once per pass, in pieces of some blocks. Examples are
// batch-norm, activations, softmax, optimizers and copies.
//
// There is one event per piece, when its data has arrived: its results are stored, and the piece that takes
// its place in registers is loaded.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gpu/kernel/kernel.h"
#include "gpu/memory/tensor.h"
#include "gpu/sm/core.h"
#include "sim/event_queue.h"
#include "sim/pool.h"

namespace infold::gpu {

/// One pass over tensors with the same number of blocks.
struct StreamPass {
  std::vector<Tensor> reads;
  std::vector<Tensor> writes;
  double ops_per_element = 1;  ///< per element of the first tensor
};

struct StreamShape {
  /// If there are several passes, all workgroups finish a pass before any begins the next, so they must be
  /// resident together.
  std::vector<StreamPass> passes;
  Residency residency = Residency::kAny;
  Actor actor = Actor::kCompute;
};

class StreamKernel final : public Kernel, public sim::Handler {
 public:
  /// Requires: with several passes, a residency other than kAny.
  StreamKernel(Core& core, StreamShape shape);

  Launch launch() override;
  double flops() const override;

 private:
  static constexpr int kThreads = 1024;
  static constexpr std::int64_t kBytesEach = 256 * 1024;  // limit for a workgroup that need not stay
  static constexpr std::int64_t kMostParts = 16;

  /// How a pass is cut into what a workgroup reads at once: runs of blocks, or parts of one block. The pieces
  /// are small enough that all resident workgroups of an SM together stay within its outstanding loads.
  struct Cut {
    std::int64_t blocks = 1;  // blocks of each tensor
    std::int64_t parts = 1;   // parts of such a run; more than one only if the run is one block
    std::int64_t runs = 0;    // total number of runs
    std::int64_t each = 1;    // runs per workgroup that need not stay
  };
  /// What a workgroup reads at once.
  struct Piece {
    std::int64_t begin = 0;  // blocks
    std::int64_t end = 0;
    std::int64_t part = 0;
    std::int64_t parts = 1;
    std::uint32_t upto(std::uint32_t bytes) const {
      return static_cast<std::uint32_t>(bytes * (part + 1) / parts);
    }
    std::uint32_t of(std::uint32_t bytes) const {
      return upto(bytes) - static_cast<std::uint32_t>(bytes * part / parts);
    }
  };

  struct Workgroup {
    int index = 0;
    int sm = 0;
    std::size_t pass = 0;
    std::int64_t done = 0;  // finished pieces of this pass
    std::int64_t mine = 0;  // total number of pieces
    bool started = false;
  };

  void begin(KernelId id, int workgroups) override;
  void start(int index, int sm) override;
  void finished(int most_resident) override { end_at(core_.events().now(), most_resident); }
  void handle(std::uint32_t slot) override;
  void enter_pass(Workgroup& w, std::uint32_t slot);
  void wait_for_all(Workgroup& w, std::uint32_t slot);
  Footprint footprint() const;
  Cut cut(const StreamPass& pass, std::int64_t at_once) const;
  Piece piece_of(const Workgroup& w, std::int64_t i) const;
  sim::Time load(const Workgroup& w, sim::Time now);
  sim::Time store(const Workgroup& w, std::int64_t i, sim::Time now);

  Core& core_;
  StreamShape shape_;
  bool stays_;  // workgroups stay for the whole kernel and share its pieces
  KernelId id_ = 0;
  std::int64_t blocks_ = 0;  // blocks of a tensor
  std::vector<Cut> cuts_;    // by pass
  sim::Pool<Workgroup> resident_;
  std::vector<std::uint32_t> waiting_;  // workgroups that wait at the end of a pass
  sim::Pace port_;
};

}  // namespace infold::gpu

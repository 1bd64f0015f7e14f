// Kernels that stream: every element is read and written once a pass, in pieces of some blocks. Batch-norm,
// activations, softmax, optimizers, copies.
//
// One event a piece, when its data have arrived: its results are stored, and the piece that takes its place
// in registers is loaded.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gpu/core.h"
#include "gpu/kernel.h"
#include "gpu/tensor.h"
#include "sim/event_queue.h"

namespace infold::gpu {

/// One walk over tensors of the same number of blocks.
struct StreamPass {
  std::vector<Tensor> reads;
  std::vector<Tensor> writes;
  double ops_per_element = 1;  ///< of the first tensor
};

struct StreamShape {
  /// More than one: all workgroups finish a pass before any begins the next, so they must be resident
  /// together.
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
  /// Bytes a workgroup of 1024 threads reads at once, and how often it does so ahead: 16 B a thread each.
  static constexpr std::int64_t kPiece = 16 * 1024;
  static constexpr int kAhead = 2;
  static constexpr int kThreads = 1024;
  static constexpr std::int64_t kPiecesEach = 16;  // of a workgroup that need not stay

  struct Workgroup {
    int index = 0;
    int sm = 0;
    std::size_t pass = 0;
    std::int64_t done = 0;  // pieces of this pass
    std::int64_t mine = 0;  // pieces in all
    bool started = false;
    std::array<sim::Time, kAhead> ready{};
  };

  void begin(KernelId id, int workgroups) override;
  void start(int index, int sm) override;
  void finished(int most_resident) override { end_at(core_.events().now(), most_resident); }
  void handle(std::uint32_t slot) override;
  void enter_pass(Workgroup& w, std::uint32_t slot);
  void wait_for_all(Workgroup& w, std::uint32_t slot);
  std::int64_t piece_of(const Workgroup& w, std::int64_t i) const;
  void load(Workgroup& w, std::int64_t i, sim::Time now);
  sim::Time store(const Workgroup& w, std::int64_t i, sim::Time now);

  Core& core_;
  StreamShape shape_;
  bool stays_;  // workgroups stay for the whole kernel and share its pieces
  KernelId id_ = 0;
  std::int64_t blocks_ = 0;        // of a tensor
  std::vector<std::int64_t> per_;  // blocks of a piece, by pass
  std::vector<Workgroup> resident_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> waiting_;  // at the end of a pass
  sim::Pace port_;
};

}  // namespace infold::gpu

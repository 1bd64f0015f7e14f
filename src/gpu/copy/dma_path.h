// Slices carried by copy engines. They copy what is only copied; what has to be added, a short kernel on SMs
// first adds into memory, from where the engines copy it on (as ConCCL does).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/copy/data_path.h"
#include "gpu/gpu.h"
#include "gpu/sm/launch.h"
#include "sim/event_queue.h"
#include "sim/pool.h"

namespace infold::gpu {

class DmaPath final : public DataPath, public MoveClient, public Work, public sim::Handler {
 public:
  struct Setup {
    std::size_t first_engine =
        0;                ///< the first engine; copies to other GPUs are assigned in turn from this one on
    int gpus = 1;         ///< of the machine
    int network = 0;      ///< which its copies take, where there are several
    StreamId stream = 0;  ///< of its adding kernels
    int workgroups = 8;   ///< of such a kernel, at most
    int threads = 512;    ///< of such a workgroup
    sim::Bytes window;    ///< bytes that one has in flight
    sim::Bytes burst;
    std::uint64_t sums = 0;  ///< buffer for sums that are sent on and kept nowhere else
    sim::Bytes slot;         ///< the size of one sum
    int slots = 1;
    bool functional = false;
  };
  DmaPath(Gpu& gpu, const Setup& setup);

  void start(const Move& move, std::span<const Move> copies) override;
  void available(sim::Bytes) override {}
  sim::Time polled() const override { return {}; }
  std::uint32_t sender() const override { return sender_; }

 private:
  /// A place for a sum. Only its number counts.
  struct SumSlot {};
  static constexpr std::uint32_t kNoSum = sim::Pool<SumSlot>::kNone;

  /// A slice: where it goes, what of it is under way.
  struct Slice {
    std::vector<Move> targets;  // as asked for; the first is the move, the others its copies
    std::vector<std::byte> values;
    std::uint32_t sum_slot = kNoSum;
    int to_issue = 0;    // copies that have not loaded all yet, and the one to this GPU's memory
    int open = 0;        // targets that are not complete
    bool local = false;  // the copy to this GPU's memory is under way
    bool first_sent = false;
  };
  /// What a move of an engine or of an adding workgroup belongs to.
  struct Part {
    enum class Kind : std::uint8_t { kTarget, kLocal, kSum };
    Kind kind = Kind::kTarget;
    std::uint32_t slice = 0;
    std::uint32_t index = 0;   // of the target, or of the workgroup
    std::uint32_t offset = 0;  // of a sum: where in the slice it begins
  };
  struct Adder {
    CopyPipeline* pipeline = nullptr;
    int sm = 0;
    std::uint32_t part = 0;
  };

  void begin(KernelId id, int) override { kernel_ = id; }
  void start(int workgroup, int sm) override;
  void finished(int) override;
  void handle(std::uint32_t workgroup) override;
  void move_issued(std::uint32_t part) override;
  void move_complete(std::uint32_t part) override;
  void produce(std::uint32_t part, std::uint32_t offset, std::span<std::byte> out) override;
  void consume(std::uint32_t part, std::uint32_t offset, std::span<const std::byte> values) override;

  void add_up();
  void copy_on(const Place& from, bool keep);
  void part_issued(Slice& slice);
  void target_complete(std::uint32_t slice, std::uint32_t target);
  void close(std::uint32_t slice);
  sim::Bytes share() const;
  std::size_t engine_for(int to) const;
  Place sum_place() const;

  Gpu& gpu_;
  Setup setup_;
  std::uint32_t sender_;
  KernelId kernel_ = 0;
  sim::Pool<Slice> slices_;
  sim::Pool<Part> parts_;
  sim::Pool<SumSlot> sums_;  // Setup::slots at most
  std::vector<Adder> adders_;
  std::uint32_t current_ = 0;  // the slice being begun
  bool needs_sum_ = false;     // the slice being begun waits for room for its sum
};

}  // namespace infold::gpu

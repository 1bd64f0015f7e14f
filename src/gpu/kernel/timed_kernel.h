// A kernel of which only the duration is known, from a profile for example. It holds SMs, and reads its bytes
// evenly over its duration, so that it competes for both: beside others it takes longer.
#pragma once

#include <vector>

#include "gpu/kernel/kernel.h"
#include "gpu/sm/core.h"
#include "sim/event_queue.h"

namespace infold::gpu {

struct TimedShape {
  sim::Time time;      ///< its duration when it runs alone
  int sms = 0;         ///< 0 means all that compute may use
  int workgroups = 0;  ///< each fills an SM; more than SMs run in waves of equal length; 0: one for each SM
  sim::Bytes bytes;    ///< bytes that it reads
  double flops = 0;
};

class TimedKernel final : public Kernel, public sim::Handler {
 public:
  TimedKernel(Core& core, const TimedShape& shape);

  Launch launch() override;
  double flops() const override { return shape_.flops; }

 private:
  struct Workgroup {
    int sm = 0;
    std::int64_t next = 0;  // block to read
    std::int64_t end = 0;
    std::int64_t first = 0;
    sim::Time began;
    sim::Time arrived;  // when everything that was read has arrived
  };

  void begin(KernelId id, int workgroups) override;
  void start(int index, int sm) override;
  void finished(int most_resident) override { end_at(core_.events().now(), most_resident); }
  void handle(std::uint32_t index) override;

  int sms() const;

  Core& core_;
  TimedShape shape_;
  int workgroups_asked_;
  sim::Time each_;    // how long a workgroup takes
  sim::Time asking_;  // time from its first block to its last
  Tensor data_;
  KernelId id_ = 0;
  std::vector<Workgroup> workgroups_;
};

}  // namespace infold::gpu

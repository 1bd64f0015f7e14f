// Each workgroup has an SM and an equal share of the blocks. It asks for a block when its share of the time
// has come, and is done when the time is over and all its blocks have arrived.
#include "gpu/kernel/timed_kernel.h"

#include <algorithm>

namespace infold::gpu {

namespace {
constexpr int kElementBytes = 2;
}

TimedKernel::TimedKernel(Core& core, const TimedShape& shape) : core_(core), shape_(shape) {
  workgroups_asked_ = shape.workgroups > 0 ? shape.workgroups : sms();
  each_ = shape.time / ((workgroups_asked_ + sms() - 1) / sms());
  // The last block arrives in time if nothing delays it.
  const sim::Time latency = core.spec().l2.latency + core.spec().hbm.access;
  asking_ = sim::max(each_, latency) - latency;
  constexpr std::int64_t kRow = Tensor::kSide * kElementBytes;
  const std::int64_t rows = (shape.bytes.count() + kRow - 1) / kRow;
  if (rows > 0) data_ = core.addresses().tensor(rows, Tensor::kSide, kElementBytes);
}

/// The SMs that it fills when it runs alone.
int TimedKernel::sms() const {
  const int usable = core_.dispatcher().usable_sms(Actor::kCompute);
  return shape_.sms > 0 ? std::min(shape_.sms, usable) : usable;
}

Launch TimedKernel::launch() {
  Launch l;
  l.work = this;
  l.workgroups = workgroups_asked_;
  l.footprint.threads = std::min(l.footprint.threads, core_.spec().sm.threads);
  l.footprint.whole_sm = true;
  return l;
}

void TimedKernel::begin(KernelId id, int workgroups) {
  id_ = id;
  workgroups_.assign(static_cast<std::size_t>(workgroups), {});
  begin_at(core_.events().now(), workgroups);
}

void TimedKernel::start(int index, int sm) {
  Workgroup& w = workgroups_[static_cast<std::size_t>(index)];
  const std::int64_t blocks = data_.blocks();
  w.sm = sm;
  w.first = w.next = blocks * index / grid();
  w.end = blocks * (index + 1) / grid();
  w.began = w.arrived = core_.events().now();
  core_.events().schedule(w.next < w.end ? w.began : w.began + each_, sim::Priority::kWork, *this,
                          static_cast<std::uint32_t>(index));
}

void TimedKernel::handle(std::uint32_t index) {
  Workgroup& w = workgroups_[index];
  const sim::Time now = core_.events().now();
  if (w.next == w.end && now >= sim::max(w.arrived, w.began + each_)) {
    core_.dispatcher().workgroup_done(id_, w.sm);
    return;
  }
  if (w.next < w.end) {
    w.arrived = sim::max(w.arrived, core_.memory().read(Actor::kCompute, data_.at(w.next++), now));
    if (w.next < w.end) {
      const sim::Time due = w.began + asking_ * (w.next - w.first) / (w.end - w.first);
      core_.events().schedule(sim::max(now, due), sim::Priority::kWork, *this, index);
      return;
    }
  }
  core_.events().schedule(sim::max(w.arrived, w.began + each_), sim::Priority::kWork, *this, index);
}

}  // namespace infold::gpu

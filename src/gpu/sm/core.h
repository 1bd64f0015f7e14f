// What a kernel runs on: the SMs and the memory of one GPU.
#pragma once

#include "gpu/gpu_spec.h"
#include "gpu/memory/memory_system.h"
#include "gpu/memory/tensor.h"
#include "gpu/sm/actor.h"
#include "gpu/sm/dispatcher.h"
#include "sim/event_queue.h"

namespace infold::gpu {

struct CoreOptions {
  Contention contention{};
  int reserved_sms = 0;         ///< for collectives only
  int collective_priority = 0;  ///< priority of the streams on which collectives run; that of compute is 0
};

class Core {
 public:
  Core(const GpuSpec& spec, sim::EventQueue& events, const CoreOptions& options)
      : spec_(spec),
        events_(events),
        memory_(spec, options.contention),
        dispatcher_(spec, events, options.contention, options.reserved_sms) {}

  const GpuSpec& spec() const { return spec_; }
  sim::EventQueue& events() { return events_; }
  MemorySystem& memory() { return memory_; }
  const MemorySystem& memory() const { return memory_; }
  Dispatcher& dispatcher() { return dispatcher_; }
  const PerActor<sim::Time>& sm_time() const { return dispatcher_.sm_time(); }
  const Dispatcher& dispatcher() const { return dispatcher_; }
  /// Of two equal GPUs that run the same kernels, one has done the work of both. Requires: see Dispatcher.
  void copy_compute_of(const Core& twin) {
    memory_.copy_compute_of(twin.memory_);
    dispatcher_.copy_compute_of(twin.dispatcher_);
  }
  AddressSpace& addresses() { return addresses_; }

 private:
  const GpuSpec& spec_;
  sim::EventQueue& events_;
  MemorySystem memory_;
  Dispatcher dispatcher_;
  AddressSpace addresses_;
};

}  // namespace infold::gpu

// The proxy of a rank: a thread of the host that does one thing after the other. Its turn is reserved when
// what it has to do is there.
#pragma once

#include "gpu/nic/nic_spec.h"
#include "sim/units.h"

namespace infold::gpu {

class Proxy {
 public:
  explicit Proxy(const HostSpec& spec) : spec_(spec) {}
  /// When something that takes it so long, and is there now, is done.
  sim::Time serve(sim::Time now, sim::Time cost) {
    busy_until_ = sim::max(busy_until_, now) + cost;
    return busy_until_;
  }
  const HostSpec& spec() const { return spec_; }

 private:
  const HostSpec& spec_;
  sim::Time busy_until_;
};

}  // namespace infold::gpu

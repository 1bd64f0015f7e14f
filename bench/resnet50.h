// The kernels of ResNet-50's backward pass, as a framework enqueues them without fusing anything.
#pragma once

#include <cstdint>

#include "gpu/kernel/kernel_list.h"
#include "gpu/sm/core.h"

namespace infold::bench {

/// Adds them to the list, last layer first.
void add_resnet50_backward(gpu::Core& core, gpu::KernelList& list, std::int64_t batch);

}  // namespace infold::bench

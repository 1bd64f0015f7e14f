// Which GPU preset a device is, by what topology files say of it.
#pragma once

#include <string>
#include <string_view>

#include "sim/result.h"

namespace infold::formats {

struct KnownGpu {
  std::string_view preset;
  std::string why;       ///< what named it: "device 0x2330", "sm 90"
  bool certain = false;  ///< the device id names it; an architecture alone can be several
};

/// `device` as PCI gives it ("0x2330"), `sm` the architecture of NVIDIA's, `gcn` that of AMD's; empty or 0
/// where they are not known.
sim::Result<KnownGpu> find_gpu(std::string_view device, int sm, std::string_view gcn);

}  // namespace infold::formats

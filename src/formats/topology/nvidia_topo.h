// What `nvidia-smi topo -m` prints: between which GPUs there are how many NVLinks, and which PCIe bridges
// they share. Which GPUs they are it does not say.
#pragma once

#include <string>
#include <string_view>

#include "formats/topology/topology_system.h"
#include "sim/result.h"

namespace infold::formats {

/// `gpu`: the preset of the GPUs. If it is empty and all GPUs reach each other through switches, they are
/// those of the first preset with as many NVLinks, which the notes say; otherwise the file is refused.
sim::Result<SystemImport> read_nvidia_topo(std::string_view text, const std::string& file,
                                           const std::string& stem, const std::string& gpu = {});

}  // namespace infold::formats

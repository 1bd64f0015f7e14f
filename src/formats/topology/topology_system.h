// From a topology file to a system of ours. What the file does not say, clocks, memories and latencies, comes
// from presets, and the notes say so.
#pragma once

#include <string>
#include <string_view>

#include "formats/notes.h"
#include "formats/topology/nccl_topology.h"
#include "sim/result.h"
#include "study/system_spec.h"

namespace infold::formats {

struct SystemImport {
  study::SystemSpec system;
  Notes notes;
};

/// `gpu`: the preset of the GPUs where the user says so; empty: what the file says.
sim::Result<SystemImport> read_topology_system(std::string_view text, const std::string& file,
                                               const std::string& stem, const std::string& gpu = {});

/// The same for what was read already. `format` is what it was read from; `notes` come before those made
/// here.
sim::Result<SystemImport> make_topology_system(const Topology& topology, std::string_view format,
                                               const std::string& file, const std::string& stem,
                                               const std::string& gpu, Notes notes = {});

}  // namespace infold::formats

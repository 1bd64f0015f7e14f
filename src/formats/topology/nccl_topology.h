// The topology files of NCCL (NCCL_TOPO_DUMP_FILE, and those written by hand for virtual machines) and RCCL's
// dialect of them: what a file says about GPUs and how they are joined, before a machine of ours is made of
// it (formats/topology/topology_system.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/position.h"
#include "formats/notes.h"
#include "sim/result.h"

namespace infold::formats {

struct TopologyLink {
  enum class To { kGpu, kSwitch, kOther };
  To to = To::kOther;
  std::string target;  ///< bus id, in lower case
  int count = 0;
  config::Position at;
};

struct TopologyGpu {
  std::string bus;        ///< bus id, in lower case
  std::string device;     ///< "0x2330"; empty if the file does not say
  bool detailed = false;  ///< has a <gpu>: a dump of a machine, or a file that says what a dump says
  int rank = -1;
  int sm = 0;       ///< NCCL: the architecture, e.g. 90; RCCL: compute units
  std::string gcn;  ///< RCCL: "gfx942", "908"
  std::vector<TopologyLink> links;
  /// Bus ids of the bridges above it, the outermost first, behind the number of its CPU.
  std::vector<std::string> above;
  double pcie = 0;  ///< bytes per second of the narrowest link up to the CPU; 0: not said
  config::Position at;
};

struct Topology {
  bool rccl = false;
  std::vector<TopologyGpu> gpus;  ///< by rank where all have one, else as they stand in the file
  config::Position at;
  int cpus = 0;
  int hosts = 0;
  int bridges = 0;
  std::vector<std::string> nets;
  std::vector<std::string> unknown;  ///< elements that mean nothing to us
};

sim::Result<Topology> read_topology(std::string_view text, const std::string& file);

}  // namespace infold::formats

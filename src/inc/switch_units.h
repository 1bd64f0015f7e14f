// The units of all switches of a fabric, the regions they serve, and what they counted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inc/inc_spec.h"
#include "inc/reduction_unit.h"
#include "inc/regions.h"
#include "net/fabric.h"
#include "net/topology/fabric_map.h"
#include "sim/result.h"

namespace infold::inc {

/// What the network must know about units that are built to this spec.
net::InNetwork in_network(const IncSpec& spec);

/// Checks whether a fabric can have units like these. Fabrics without switches pass, unless they are to have
/// units.
sim::Status check(const IncSpec& spec, const net::FabricSpec& fabric, const net::Blueprint& blueprint);

class SwitchUnits {
 public:
  /// Requires: `fabric` was built with in_network(spec) for what `map` shows, and check() passed. `payloads`
  /// is null when packets carry no values.
  SwitchUnits(const IncSpec& spec, sim::EventQueue& events, const net::FabricMap& map, net::Fabric& fabric,
              net::Payloads* payloads);

  Regions& regions() { return regions_; }
  const Regions& regions() const { return regions_; }
  const IncSpec& spec() const { return spec_; }

  struct Totals {
    std::uint64_t table_peak_entries = 0;  ///< of the port that had the most entries
    std::uint64_t contributions = 0;
    std::uint64_t results = 0;
    std::uint64_t stalls = 0;
    std::uint64_t evictions = 0;
    std::uint64_t bypasses = 0;
  };
  Totals totals() const;
  /// What each job has had of the tables, in the order of jobs.
  struct OfJob {
    int job = 0;
    std::uint64_t table_peak_entries = 0;  ///< of the port where it had the most
    std::uint64_t sums = 0;
    /// Packets that found no room, by the job that had most of the table then.
    std::vector<std::pair<int, std::uint64_t>> stalls = {};
  };
  std::vector<OfJob> jobs() const;
  bool drained() const;
  std::vector<std::string> who_waits() const;
  const std::vector<std::unique_ptr<ReductionUnit>>& units() const { return units_; }

 private:
  IncSpec spec_;
  Regions regions_;
  std::vector<std::unique_ptr<ReductionUnit>> units_;
};

}  // namespace infold::inc

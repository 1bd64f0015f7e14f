// Logs of nccl-tests and rccl-tests: what a machine was measured to need for collectives.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coll/program/collective.h"
#include "formats/notes.h"
#include "sim/result.h"
#include "sim/units.h"

namespace infold::formats {

struct MeasuredRow {
  sim::Bytes bytes;
  std::string dtype;  ///< as the log writes it: "float"
  std::string op;     ///< "sum"; "none" where nothing is reduced
  int root = -1;
  double time_us = 0;
  std::optional<double> in_place_us;
  std::int64_t wrong = 0;
};

/// One run of one test.
struct MeasuredRun {
  std::optional<coll::Collective> collective;  ///< not known: an old log of a test that could be several
  int ranks = 0;                               ///< 0: the log does not list them
  int hosts = 0;
  std::string gpu;      ///< as the driver calls it: "NVIDIA H100 80GB HBM3"
  std::string version;  ///< of NCCL, as the log writes it: "22902"
  std::vector<MeasuredRow> rows;
  int line = 0;  ///< of its first row
};

struct Measurements {
  std::vector<MeasuredRun> runs;
  Notes notes;
};

/// Reads all runs of a log; lines may have prefixes of mpirun or srun.
sim::Result<Measurements> read_nccl_tests(std::string_view text, const std::string& file);

}  // namespace infold::formats

// One file of any known format as a value of ours, with what was understood, assumed and ignored: what
// `infold import` shows.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "coll/program/fit.h"
#include "formats/nccl_tests.h"
#include "formats/notes.h"
#include "formats/recognise.h"
#include "formats/trace/traces.h"
#include "sim/result.h"
#include "study/system_spec.h"
#include "train/model.h"

namespace infold::formats {

struct Imported {
  Format format = Format::kUnknown;
  Notes notes;
  std::variant<study::SystemSpec, train::Model, coll::OwnProgram, Measurements, study::Workload> value;
};

/// "system", "model", "program", "measurements" or "workload".
std::string_view kind_of(const Imported& imported);

/// `gpu`: the preset of the GPUs of a system; empty: what the file says. Refuses files of ours, and formats
/// that are known by sight only.
/// `trace`: of a trace, which also may be several files, one for each rank.
sim::Result<Imported> import_file(const std::string& file, const std::string& gpu = {},
                                  const TraceOptions& trace = {}, const std::vector<std::string>& more = {});

}  // namespace infold::formats

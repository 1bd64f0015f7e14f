// Checks a sweep or a study before anything of it runs.
#pragma once

#include "config/study_file.h"
#include "config/sweep_file.h"
#include "sim/result.h"

namespace infold::cli {

/// Refuses the first of its words that makes no sense, or all columns to show that no result will have.
sim::Status check_sweep(const config::SweepFile& file);

/// Refuses the first of its cases that names a system or a model that does not exist, or asks for what they
/// do not have.
sim::Status check_study(const config::StudyFile& study);

}  // namespace infold::cli

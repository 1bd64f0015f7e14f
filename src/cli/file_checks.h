// What can be said against a sweep or a study before anything of it runs.
#pragma once

#include "config/study_file.h"
#include "config/sweep_file.h"
#include "sim/result.h"

namespace infold::cli {

/// The first of its words that makes no sense, or all columns to show that no result will have.
sim::Status check_sweep(const config::SweepFile& file);

/// The first of its cases that names a system or a model that is not there, or asks for what they do not
/// have.
sim::Status check_study(const config::StudyFile& study);

}  // namespace infold::cli

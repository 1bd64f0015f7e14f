// A study as its YAML file describes it: the names of systems and models, which are not loaded yet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/position.h"
#include "config/yaml/units.h"
#include "sim/units.h"
#include "study/collective/method.h"
#include "study/step/step_run.h"
#include "train/layout.h"
#include "train/recipe.h"
#include "train/schedule/pipeline_spec.h"
#include "train/strategy/sync_spec.h"

namespace infold::config {

struct StudyCase {
  std::string system;
  std::string model;
  int gpus = 0;      ///< 0 means all GPUs of the system
  int sequence = 0;  ///< 0 means the usual number of the model
  train::Recipe recipe;
  train::Layout layout{.dp = 0};  ///< dp 0: what the others leave of the GPUs
  bool sequence_parallel = true;  ///< with tp > 1
  train::KeyExchange key_exchange = train::KeyExchange::kAllGather;          ///< with cp > 1
  train::ExpertExchange expert_exchange = train::ExpertExchange::kAllToAll;  ///< with ep > 1
  train::SyncSpec sync;
  train::PipelineSpec pipeline;
  study::Fold fold = study::Fold::kAuto;
  std::vector<study::Method> methods;  ///< if empty, those of the study
  bool heavy = false;
  bool explain = false;  ///< asks what slows backward down beside the first method
};
struct StudyWindow {
  std::string system;
  int gpus = 0;
  sim::Bytes from = sim::Bytes::kib(64);
  sim::Bytes to = sim::Bytes::mib(256);
  int factor = 4;
  sim::Bytes
      simulate_to;  ///< larger sizes are on the line through this one and half of it; 0: all are simulated
};
struct StudyFile {
  std::string name;
  std::string summary;
  std::vector<study::Method> methods;
  bool what_if_inc = false;  ///< simulates switches that reduce, even if the systems have none
  bool sentences = false;    ///< says what its cases and windows show in the four sentences of the thesis
  std::vector<StudyCase> cases;
  std::vector<StudyWindow> windows;
};

/// By the name of a shipped study, or by file.
sim::Result<StudyFile> load_study(std::string_view name_or_file);

/// Reads a method such as "ring", "ring@dma" or "auto", or says what is wrong with it.
sim::Result<study::Method> parse_method(std::string_view text);

}  // namespace infold::config

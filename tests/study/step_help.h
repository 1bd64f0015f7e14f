// A small model on a small machine, trained by several GPUs.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "coll/algo/algorithms.h"
#include "job_help.h"
#include "study/step/step_run.h"
#include "train/graph.h"
#include "train/model.h"

namespace infold::study {

/// Hidden layers of `width`, and a small one at the end.
inline train::Graph layers_of(int width, int hidden_layers = 2) {
  train::Linear hidden;
  hidden.out = width;
  train::Linear last;
  last.out = 10;
  train::Model m;
  m.input.features = 256;
  for (int i = 0; i < hidden_layers; ++i) {
    m.layers.emplace_back().what = train::Layer{hidden};
    m.layers.emplace_back().what = train::Layer{train::Activation{}};
  }
  m.layers.emplace_back().what = train::Layer{last};
  m.layers.emplace_back().what = train::Layer{train::Loss{}};
  return train::build_graph(m).value();
}

struct SmallStep {
  SystemSpec system = small_system(4, 2);
  train::Graph graph;
  StepJob job;

  explicit SmallStep(int width = 512, int batch = 512) : graph(layers_of(width, 3)) {
    system.machine.gpu.sms = 16;  // so that there is something to fight over
    prepare_system();
    job.graph = &graph;
    job.gpus = 4;
    job.recipe.batch = batch;
    job.method.algorithm = coll::find_algorithm("ring");
    job.sync.bucket = sim::Bytes::kib(256);
    job.sync.first_bucket = sim::Bytes::kib(64);
  }
  /// To be called after every change of the system.
  void prepare_system() { job.system = prepared(system); }
  StepResult result() const {
    const auto outcome = run(job, {});
    EXPECT_EQ(why(outcome), "");
    if (!outcome) {
      for (const auto& line : outcome.error().details) ADD_FAILURE() << line;
    }
    return outcome.value();
  }
};

}  // namespace infold::study

// A graph on a machine of four GPUs where compute and communication share nothing, and its compute by itself.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "gpu/machine.h"
#include "support/ring_programs.h"
#include "work/check.h"

namespace infold::help {

class UnsharedRun {
 public:
  static constexpr int kRanks = 4;

  /// Runs both. Each ends, and leaves nothing under way.
  explicit UnsharedRun(const work::Graph& graph) {
    const sim::Status checked = work::check(graph);
    EXPECT_TRUE(checked) << checked.error().message;
    if (!checked) return;
    beside_.emplace(graph, machine_, work::RuntimeOptions{.programs = rings_.on(machine_.blueprint())});
    beside_->start();
    machine_.events().run();
    for (const std::string& line : beside_->who_waits()) ADD_FAILURE() << line;
    EXPECT_TRUE(machine_.quiet());
    alone_.emplace(work::without_communication(graph), core_,
                   work::RuntimeOptions{.programs = rings_.on(machine_.blueprint())});
    alone_->start();
    events_.run();
  }

  bool done() const { return beside_ && beside_->done() && alone_->done(); }
  const work::Runtime& runtime() const { return *beside_; }
  /// How long an operation of compute took on a rank of the machine. Requires: done().
  sim::Time beside(int rank, work::OpId op) const { return took(*beside_, rank, op); }
  sim::Time alone(work::OpId op) const { return took(*alone_, 0, op); }

 private:
  static gpu::MachineSpec machine_spec() {
    gpu::MachineSpec spec;
    spec.gpus = kRanks;
    spec.gpu.sms = 16;
    return spec;
  }
  static gpu::MachineOptions nothing_shared() {
    gpu::MachineOptions options;
    options.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = false};
    return options;
  }
  static sim::Time took(const work::Runtime& r, int rank, work::OpId op) {
    return r.times(rank, op).end - r.times(rank, op).start;
  }

  const gpu::MachineSpec spec_ = machine_spec();
  gpu::Machine machine_{gpu::MachinePlan::make(spec_).value(), nothing_shared()};
  sim::EventQueue events_;
  gpu::Core core_{spec_.gpu, events_, {}};
  RingPrograms rings_;
  std::optional<work::Runtime> beside_;
  std::optional<work::Runtime> alone_;
};

}  // namespace infold::help

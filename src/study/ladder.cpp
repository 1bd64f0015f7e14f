// The cases, and the commands of both levels.
#include "study/ladder.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <utility>

#include "study/step/many_steps.h"

namespace infold::study {

namespace {

/// A step of the study of overlap, and the algorithms that it is run by.
struct Overlapped {
  std::string_view id;
  std::string_view step;
  std::vector<std::string_view> algorithms;
};

std::vector<Overlapped> overlapped() {
  return {
      {"xl-4",
       "--system hgx-h100 -g 4 --model gpt2-xl --batch 1 --dtype bf16 --fusion fused",
       {"ring", "inc-push"}},
      {"xl-8",
       "--system hgx-h100 --model gpt2-xl --batch 1 --dtype bf16 --fusion fused",
       {"ring", "nvls", "inc-pull", "inc-push"}},
      {"mlp",
       "--system hgx-h100 --model mlp --batch 256 --dtype bf16",
       {"ring", "tree", "ring@dma", "ring@ace", "nvls", "inc-pull", "inc-push"}},
      {"vgg", "--system dgx-a100 --model vgg16 --batch 32", {"ring", "ring@dma", "inc-push"}},
      {"big",
       "--system hgx-h100 -g 4 --model transformer-big --batch 8 --seq 64",
       {"ring", "ring@dma", "inc-pull", "inc-push"}},
      {"nano",
       "--system r9nano-pcie-4 --model resnet50 --batch 4 --dtype fp32",
       {"ring", "tree", "inc-pull", "inc-push"}},
      {"rn50", "--system hgx-h100 -g 4 --model resnet50 --batch 64", {"ring", "tree", "inc-push"}},
  };
}

/// Steps of other layouts.
const std::array<std::pair<std::string_view, std::string_view>, 4> kLayouts = {{
    {"fsdp-medium",
     "train --system hgx-h100 -g 4 --model gpt2-medium --dtype bf16 --fusion fused --batch 2 --sync fsdp"},
    {"tp-4-medium",
     "train --system hgx-h100 -g 4 --model gpt2-medium --dtype bf16 --fusion fused --batch 4 --tp 4"},
    {"tp-2-dp-2-medium",
     "train --system hgx-h100 -g 4 --model gpt2-medium --dtype bf16 --fusion fused --batch 4 --tp 2 --dp 2"},
    {"fsdp-bert-a100", "train --system dgx-a100 -g 4 --model bert-large --batch 8 --sync fsdp"},
}};

constexpr double kStep = 0.02;
constexpr double kSlowdown = 0.02;
constexpr double kExposed = 0.1;

/// Reads what a level says into its place in the row.
sim::Status read(const LadderJob& job, const CommandRun& ran, double LadderLevels::*level, LadderRow& row) {
  if (ran.end != CommandRun::End::kDone) return sim::fail(ran.complaint);
  const std::array<std::pair<LadderLevels*, const char*>, 3> figures = {
      {{&row.step_ms, "/phases_ms/step"},
       {&row.slowdown, "/backward_slowdown"},
       {&row.exposed_ms, "/phases_ms/exposed_comm"}}};
  for (const auto& [to, path] : figures) {
    const auto number = job.read(ran.out, path);
    if (!number) return sim::fail(fmt::format("no number at {}", path));
    to->*level = *number;
  }
  return {};
}

}  // namespace

std::vector<LadderCase> ladder_cases() {
  std::vector<LadderCase> all;
  for (const Overlapped& o : overlapped()) {
    const bool all_gpus = o.step.find("-g 4") == std::string_view::npos && o.id != "nano";
    for (const std::string_view algorithm : o.algorithms) {
      const bool reduces = algorithm.starts_with("inc-") || algorithm == "nvls";
      all.push_back({.id = fmt::format("{}-{}", o.id, algorithm),
                     .run = fmt::format("train {} --algo {}{}", o.step, algorithm,
                                        algorithm.starts_with("inc-") ? " --what-if inc" : ""),
                     .in_bursts = all_gpus && !reduces ? " --fold off" : ""});
    }
  }
  for (const auto& [id, command] : kLayouts)
    all.push_back({.id = std::string(id), .run = std::string(command)});
  return all;
}

bool LadderRow::within() const {
  if (!failed.empty()) return false;
  return std::abs(step_ms.error()) <= kStep && std::abs(slowdown.composed - slowdown.burst) <= kSlowdown &&
         std::abs(exposed_ms.error()) <= kExposed;
}

sim::Result<std::vector<LadderRow>> run(const LadderJob& job, const ValidationGoesOn& goes_on) {
  std::vector<LadderRow> rows;
  for (const LadderCase& c : job.cases) rows.push_back({.what = c});
  constexpr std::size_t kLevels = 2;
  const std::size_t count = rows.size() * kLevels;
  std::mutex mutex;
  std::size_t done = 0;
  bool stopped = false;
  in_parallel(count, job.threads, [&](std::size_t i) {
    LadderRow& row = rows[i / kLevels];
    const bool composed = i % kLevels == 1;
    const std::string command =
        composed ? fmt::format("{} --burst 4KiB --fidelity composed --no-cache", row.what.run)
                 : fmt::format("{} --fidelity burst{}", row.what.run, row.what.in_bursts);
    {
      const std::lock_guard lock(mutex);
      stopped =
          stopped || (goes_on && !goes_on(command, static_cast<double>(done) / static_cast<double>(count)));
      if (stopped) return;
    }
    const CommandRun ran = job.run(words_for_result(words_of(command)));
    const std::lock_guard lock(mutex);
    ++done;
    stopped = stopped || ran.end == CommandRun::End::kStopped;
    if (auto ok = read(job, ran, composed ? &LadderLevels::composed : &LadderLevels::burst, row); !ok)
      row.failed = fmt::format("infold {}: {}", command, ok.error().message);
  });
  if (stopped) return sim::interrupted();
  return rows;
}

}  // namespace infold::study

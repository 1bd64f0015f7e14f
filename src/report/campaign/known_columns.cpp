// Lets each report write an empty result that has every optional part, and reads the columns off it.
#include "report/campaign/known_columns.h"

#include <algorithm>

#include "coll/algo/algorithms.h"
#include "report/bench_report.h"
#include "report/campaign/sweep_table.h"
#include "report/compare_report.h"
#include "report/explain_report.h"
#include "report/kernel_report.h"
#include "report/train_report.h"

namespace infold::report {

namespace {

const coll::Algorithm* in_network() {
  return coll::find_algorithm("nvls");
}

std::string bench_sample() {
  BenchRow row;
  row.estimate_us = 0;
  study::CollectiveResult& r = row.result;
  r.wrong = 0;
  r.in_network.emplace();
  r.error.emplace();
  r.replays = 1;
  r.host_bound = true;
  r.fault = study::FaultReport{.hit = false, .undisturbed = {}, .lost = {}, .finished_by = in_network()};
  r.ends = {sim::Time::us(1), sim::Time::us(1)};
  BenchReport report;
  report.rows.push_back(row);
  report.auto_loss.emplace();
  return bench_json(report);
}

std::string kernel_sample() {
  KernelReport report;
  report.copied = sim::Bytes{1};
  for (const char* name :
       {"m",    "n",     "k",      "batch", "height", "width", "channels", "filters",  "size",  "stride",
        "pass", "bytes", "engine", "op",    "rows",   "cols",  "grid",     "sequence", "heads", "head_size"})
    report.shape.emplace_back(name, "1");
  report.result.time = sim::Time::us(1);
  report.result.tile.emplace();
  report.beside.emplace();
  report.beside->hypothetical = false;
  return kernel_json(report);
}

StepLabel label() {
  StepLabel l;
  l.method.algorithm = in_network();
  l.gpus = 1;
  l.peak_flops_per_gpu = 1;
  return l;
}

study::StepResult step() {
  study::StepResult r;
  // Shares of nothing would not be numbers, so the times are not zero.
  r.end = r.forward = r.backward = sim::Time::us(1);
  r.alone.times.forward_ended = r.alone.times.backward_ended = sim::Time::us(1);
  return r;
}

}  // namespace

std::vector<std::string> known_columns(const std::vector<std::string>& words) {
  constexpr std::string_view kKernels[] = {"gemm", "conv", "copy", "stream", "attention"};
  const auto is_kernel = [&](const std::string& w) {
    return std::ranges::find(kKernels, w) != std::end(kKernels);
  };
  SweepTable table;
  const auto add = [&table](std::string json) {
    table.add(0, {.status = study::PointStatus::kDone, .message = {}, .result = std::move(json)});
  };
  if (words.empty()) return {};
  if (words.front() == "bench" && words.size() > 1 && is_kernel(words[1])) {
    add(kernel_sample());
  } else if (words.front() == "bench") {
    add(bench_sample());
  } else if (words.front() == "train") {
    add(step_json({.label = label(), .result = step(), .wall_s = {}}));
    add(train_json({}));
  } else if (words.front() == "compare") {
    study::CompareResult result;
    result.rows.push_back({.variant = {}, .method = label().method, .result = step(), .repaired = {}});
    add(compare_json({.label = label(), .result = std::move(result), .wall_s = {}}));
  } else if (words.front() == "explain") {
    study::ExplainResult result;
    result.result = step();
    for (study::Causes* c : {&result.step, &result.forward, &result.backward}) c->parts.emplace_back();
    add(explain_json({.label = label(), .sms = 1, .result = std::move(result), .wall_s = {}}));
  }
  std::vector<std::string> names;
  for (const study::ResultColumn& c : table.columns()) names.push_back(c.name);
  return names;
}

}  // namespace infold::report

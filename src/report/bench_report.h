// Results of `infold bench` as the table that users of nccl-tests know, and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/collective/bench_run.h"

namespace infold::report {

/// One line of results: what was run, and its result.
struct BenchRow {
  std::string system;
  std::string algo;
  std::string proto;
  bool chosen = false;  ///< algorithm or protocol was chosen by auto
  std::string engine;
  int gpus = 0;
  sim::Bytes bytes;
  std::int64_t count = 0;             ///< elements, counted as in nccl-tests
  bool hypothetical = false;          ///< the switches of the system cannot do what the algorithm asks for
  std::optional<double> estimate_us;  ///< the estimate that auto would have chosen by
  std::string fault;                  ///< as typed, if a part of the fabric fails
  study::CollectiveResult result;
};

struct BenchReport {
  std::string collective;
  std::string system;  ///< one system, or several separated by commas
  int gpus = 0;        ///< GPUs of the first system
  int nodes = 1;       ///< nodes that these are in
  bool mixed = false;  ///< the systems are of different sizes, each used whole
  std::string dtype;
  std::string op;
  bool residency = false;  ///< the table shows how long workgroups held SMs and moved data
  std::vector<BenchRow> rows;
  std::optional<study::AutoLoss> auto_loss;
  std::optional<double> wall_s;  ///< left out when the output must be the same on every run
};

/// The head of the table, then one line per row, then the notes below it.
std::string bench_header(const BenchReport& report);
std::string bench_line(const BenchReport& report, const BenchRow& row);
std::string bench_footer(const BenchReport& report);
std::string bench_json(const BenchReport& report);

}  // namespace infold::report

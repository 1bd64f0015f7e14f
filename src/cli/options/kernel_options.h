// The options of `infold bench gemm|conv|copy|stream|attention`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/what_if.h"
#include "cli/page.h"
#include "sim/result.h"
#include "study/kernel/kernel_run.h"

namespace CLI {
class App;
}

namespace infold::cli {

class Effects;

/// The options as typed. One struct serves all kernels: each kernel adds the options it has.
struct KernelArguments {
  std::string kernel;
  std::string gpu;  ///< if empty, a100-80, or the GPU of the system with --beside
  std::string dtype = "fp16";
  std::int64_t m = 4096, n = 4096, k = 4096;
  std::string tile;
  std::int64_t batch = 32, height = 56, width = 56, channels = 64, filters = 64, filter_size = 3, stride = 1;
  std::string pass = "forward";
  std::string size = "1G";
  std::string engine = "sm";
  std::string op = "elementwise";
  std::int64_t rows = 802816, cols = 256;
  std::string grid = "any";
  std::int64_t sequence = 512, heads = 16, head_size = 64;
  bool backward = false;
  int sms_taken = 0;
  int sms_reserved = 0;
  // What runs beside the kernel, if anything.
  std::string beside;
  std::string beside_size = "64M";
  std::string beside_engine = "sm";
  std::string system;  ///< if empty, dgx-a100 with --beside
  std::string algorithm = "ring";
  std::string protocol = "auto";
  std::string burst = "auto";
  int coll_channels = 0;  ///< 0 means as many as the system has
  int nodes = 0;          ///< 0 means as many as the system has
  int priority = 0;
  std::string without;
  WhatIf what_if;
  bool json = false;
  bool no_timing = false;
  std::vector<std::string> sets;
  PageArguments page;
};

/// Adds the options of one kernel ("gemm"), and those that all kernels have.
void add_kernel_arguments(CLI::App& command, const std::string& kernel, KernelArguments& args);

/// Declares when these options have an effect (cli/options/effects.h).
void add_kernel_effects(CLI::App& command, const KernelArguments& args, Effects& effects);

/// The options as understood.
struct KernelOptions {
  study::KernelChoice kernel;
  gpu::Precision precision = gpu::Precision::kFp16;
  std::vector<std::pair<std::string, std::string>> shape;  ///< for the report
};
/// What is not shared, from a list such as "sm,hbm", or an error. `several_collectives`: these may be at work
/// at the same time, and share links.
sim::Result<gpu::Contention> understand_contention(const std::string& without, bool several_collectives);

/// The options as understood, or an error of one line.
sim::Result<KernelOptions> understand(const KernelArguments& args);

}  // namespace infold::cli

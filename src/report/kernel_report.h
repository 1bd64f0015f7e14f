// Results of `infold bench gemm|conv|copy|stream|attention` as a table and as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/collective/beside_run.h"
#include "study/kernel/kernel_run.h"

namespace infold::report {

struct BesideReport {
  std::string collective;
  std::string system;
  std::string algorithm;
  std::string protocol;
  std::string engine;
  sim::Bytes bytes;
  std::optional<bool> hypothetical;  ///< whether the switches cannot do what an in-network algorithm asks for
  study::BesideResult result;
};

struct KernelReport {
  std::string kernel;
  std::string gpu;
  std::string dtype;
  std::vector<std::pair<std::string, std::string>> shape;  ///< as asked for: {"m", "4096"}, ...
  int sms_taken = 0;
  int sms_reserved = 0;
  sim::Bytes copied;                   ///< bytes that a copy moved
  study::KernelResult result;          ///< the kernel alone
  std::optional<BesideReport> beside;  ///< the kernel beside a collective, if asked for
  std::optional<double> wall_s;        ///< absent when the output must be the same on every run
};

std::string kernel_text(const KernelReport& report);
std::string kernel_json(const KernelReport& report);

}  // namespace infold::report

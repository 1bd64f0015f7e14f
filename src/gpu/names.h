// What kernels call by name: their number formats, and how their workgroups come to SMs.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/params.h"

namespace infold::gpu {

enum class Precision : std::uint8_t { kFp16, kBf16, kTf32, kFp32, kFp8 };
inline constexpr std::array kPrecisionNames = {
    sim::Named{Precision::kFp16, "fp16", "16-bit floating point in the matrix units"},
    sim::Named{Precision::kBf16, "bf16", "bfloat16 in the matrix units"},
    sim::Named{Precision::kTf32, "tf32", "fp32 in memory, tf32 in the matrix units"},
    sim::Named{Precision::kFp32, "fp32", "fp32, outside the matrix units"},
    sim::Named{Precision::kFp8, "fp8", "8-bit floating point in the matrix units, where a GPU has it"},
};
constexpr std::span<const sim::Named<Precision>> names_of(Precision) {
  return kPrecisionNames;
}

/// Which workgroups of a kernel are on SMs at the same time. With kTogether they wait for one another, so
/// none starts before there is room for all. With kFree the grid is cut to what fits beside the communication
/// workgroups.
enum class Residency : std::uint8_t { kAny, kTogether, kFree };
inline constexpr std::array kResidencyNames = {
    sim::Named{Residency::kAny, "any", "workgroups run as SMs become free; passes are kernels of their own"},
    sim::Named{Residency::kTogether, "together", "one kernel whose whole grid must be resident"},
    sim::Named{Residency::kFree, "free", "the same, with a grid cut to the SMs that are free"},
};
constexpr std::span<const sim::Named<Residency>> names_of(Residency) {
  return kResidencyNames;
}

}  // namespace infold::gpu

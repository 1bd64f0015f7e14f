// The engines that can carry out a rank's steps: which hardware of the GPU moves the data and folds them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/params.h"

namespace infold::coll {

enum class Engine : std::uint8_t { kSm, kDma, kAce, kCollectiveEngine };

inline constexpr std::array kEngineNames = {
    sim::Named{Engine::kSm, "sm", "workgroups that own their SMs while the collective runs"},
    sim::Named{Engine::kDma, "dma", "copy engines move, short kernels on SMs add (as ConCCL)"},
    sim::Named{Engine::kAce, "ace", "an accelerator at the GPU's ports with memory and adders of its own"},
    sim::Named{Engine::kCollectiveEngine, "collective",
               "the GPU's collective engine, which walks in-network programs"},
};
constexpr std::span<const sim::Named<Engine>> names_of(Engine) {
  return kEngineNames;
}

}  // namespace infold::coll

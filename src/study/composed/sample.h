// Short simulations in detail, from which profiles are made: a window of kernels alone, a communication
// alone, and both beside each other.
//
// Each sample is a value that is simulated on a machine of its own, so samples can run in any order and on
// any thread, and each has a key: what its result depends on, so that results can be kept (profile_store.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coll/program/program.h"
#include "gpu/machine.h"
#include "sim/go_on.h"
#include "sim/result.h"
#include "study/composed/content_key.h"
#include "study/composed/excerpt.h"
#include "study/prepared_system.h"
#include "work/graph.h"

namespace infold::study::composed {

/// What all samples of a step have in common.
struct Scene {
  SystemPtr system;
  gpu::CoreOptions core = {};
  sim::Bytes burst = {};
};

/// What runs beside kernels: a communication with its program, or a copy, again and again.
struct Partner {
  work::Operation op = {};                      ///< a collective, a transfer, or a copy within each GPU
  coll::Program program = {};                   ///< of a communication
  std::vector<int> members = {};                ///< the GPUs that take part, in the order of their ranks
  sim::Bytes bytes = {};                        ///< of its buffer
  std::optional<work::TensorSpec> copied = {};  ///< of a copy
  int priority = 0;                             ///< of its communicator

  bool communicates() const { return !copied; }
};

/// All times in picoseconds. Means over the GPUs that take part.
struct Sampled {
  /// By kernel of the window: from the end of the kernel before to its end, without the gap of a launch.
  std::vector<double> kernels = {};
  /// By kernel: how fast the partner went meanwhile, per picosecond: bytes that all its GPUs sent, or copies.
  std::vector<double> pace = {};
  double first = 0;  ///< a repetition of the partner that begins on idle GPUs
  double next = 0;   ///< one that follows another at once
  double sent = 0;   ///< bytes that all GPUs send for a repetition, without kernels
  double events = 0;
  double packet_hops = 0;
};

/// An excerpt's kernels (excerpt.h), a partner, or both. A partner alone finds L2 full of what others wrote,
/// as in the middle of a step. With a second partner and no kernels, `next` is of the first beside the
/// second.
struct Sample {
  work::Graph window = {};
  std::optional<Partner> partner = {};
  std::optional<Partner> beside = {};
  int repeats = 0;         ///< repetitions of the partner at least; with a window it goes on until that ends
  int beside_repeats = 0;  ///< the same of the other partner
};

std::string key_of(const Scene& scene, const Sample& sample, const std::string& version);
sim::Result<Sampled> simulate(const Scene& scene, const Sample& sample, const sim::GoOn& go_on);

}  // namespace infold::study::composed

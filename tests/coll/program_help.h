// What the tests of programs share: fabrics, small tunings that make many rounds of little data, compilation.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "coll/algo/algorithms.h"
#include "coll/program/checker.h"
#include "coll/program/chunking.h"
#include "sim/random.h"
#include "support/small_program.h"

namespace infold::coll {

inline net::Blueprint fabric_of(net::Topology topology, int gpus, std::vector<int> dims = {},
                                int groups = 1) {
  net::FabricSpec spec;
  spec.topology = topology;
  spec.dims = std::move(dims);
  spec.groups = groups;
  return net::draw(spec, gpus).value();
}

inline Tuning small_tuning(int channels) {
  Tuning t = help::few_channels(channels);
  t.buffer = 4_KiB;  // slices of 1 KiB, chunks of 2 KiB: several rounds for little
  return t;
}

/// Up to 20 channels, and buffers, slots and slices of any size that a program can have.
inline Tuning random_tuning(sim::Random& random) {
  Tuning t = small_tuning(1 + static_cast<int>(random.below(20)));
  t.buffer = sim::Bytes{static_cast<std::int64_t>(4'096 + random.below(5'000))};
  t.slice_steps = 1 + static_cast<int>(random.below(2));
  const auto slots = static_cast<std::uint64_t>(buffer_slots(t));
  t.slices_per_chunk = 1 + static_cast<int>(random.below(slots - 1));
  return t;
}

inline Program compiled(const Algorithm& algorithm, Collective collective, sim::Bytes bytes, int ranks,
                        const net::Blueprint& fabric, const Tuning& tuning, int root = 0) {
  std::vector<int> gpus(static_cast<std::size_t>(ranks));
  std::iota(gpus.begin(), gpus.end(), 0);
  return compile(algorithm, {.collective = collective,
                             .bytes = bytes,
                             .gpus = gpus,
                             .fabric = &fabric,
                             .tuning = tuning,
                             .root = root});
}

/// What is wrong with a program, or nothing.
inline std::string flaw_of(const Program& program) {
  const auto flaw = find_flaw(program);
  return flaw ? to_string(*flaw, program) : "";
}

inline std::int64_t bytes_sent(const Program& program) {
  std::int64_t sum = 0;
  for (const auto& list : program.lists) {
    for (const Step& s : list) sum += s.bytes.count() * s.to.size();
  }
  return sum;
}

/// Elements rounded up so that every rank has a whole share.
inline sim::Bytes size_for(Collective c, std::int64_t elements, std::int64_t size, int ranks) {
  if (c == Collective::kBarrier) return {};
  if (has_shares(c)) elements = (elements + ranks - 1) / ranks * ranks;
  return sim::Bytes{elements * size};
}

}  // namespace infold::coll

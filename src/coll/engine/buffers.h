// The memory of a communicator on its GPUs: what each rank reduces, where the results go, and the receive
// buffers of its connections. Collectives that follow each other use the same memory, so that caches hold
// what they would hold on a real machine.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "gpu/machine.h"
#include "sim/units.h"

namespace infold::coll {

class Buffers {
 public:
  struct Sizes {
    sim::Bytes input;
    sim::Bytes output;      ///< the output, followed by scratch memory
    bool in_place = false;  ///< the output is where the input is, as frameworks do it
  };
  Buffers(gpu::Machine& machine, std::vector<int> gpus, const Sizes& sizes)
      : machine_(machine), gpus_(std::move(gpus)), connections_(std::make_shared<Connections>()) {
    place(sizes);
  }
  /// What each rank reads and writes lies there already: the keys of the first blocks, by rank.
  struct Places {
    std::vector<std::uint64_t> inputs;
    std::vector<std::uint64_t> outputs;
  };
  Buffers(gpu::Machine& machine, std::vector<int> gpus, Places places)
      : machine_(machine),
        gpus_(std::move(gpus)),
        inputs_(std::move(places.inputs)),
        outputs_(std::move(places.outputs)),
        connections_(std::make_shared<Connections>()) {}
  Buffers(const Buffers& communicator, Places places)
      : machine_(communicator.machine_),
        gpus_(communicator.gpus_),
        inputs_(std::move(places.inputs)),
        outputs_(std::move(places.outputs)),
        connections_(communicator.connections_) {}
  /// Further vectors of the same communicator. The receive buffers are shared, so only one collective may run
  /// at a time.
  Buffers(const Buffers& communicator, const Sizes& sizes)
      : machine_(communicator.machine_), gpus_(communicator.gpus_), connections_(communicator.connections_) {
    place(sizes);
  }

  std::uint64_t input(int rank) const { return inputs_[static_cast<std::size_t>(rank)]; }
  std::uint64_t output(int rank) const { return outputs_[static_cast<std::size_t>(rank)]; }
  /// The buffer at rank `to` that rank `from` fills on a channel.
  std::uint64_t connection(int from, int to, int channel, sim::Bytes bytes) {
    const auto [place, added] = connections_->try_emplace({from, to, channel, bytes.count()}, 0);
    if (added) {
      const int gpu = gpus_[static_cast<std::size_t>(to)];
      place->second = machine_.gpu(gpu).core().addresses().buffer(bytes);
    }
    return place->second;
  }

  /// The buffer in rank `from`'s own memory from which its NIC sends what is for rank `to`, of another node.
  std::uint64_t sending(int from, int to, int channel, sim::Bytes bytes) {
    const auto [place, added] = connections_->try_emplace({to, from, -1 - channel, bytes.count()}, 0);
    if (added) {
      const int gpu = gpus_[static_cast<std::size_t>(from)];
      place->second = machine_.gpu(gpu).core().addresses().buffer(bytes);
    }
    return place->second;
  }

  /// The buffer in which a rank keeps the sums of a channel until they are sent. It is keyed as a connection
  /// of the rank to itself, which no program has.
  std::uint64_t sums(int rank, int channel, sim::Bytes bytes) {
    return connection(rank, rank, channel, bytes);
  }

 private:
  using Connections = std::map<std::tuple<int, int, int, std::int64_t>, std::uint64_t>;

  void place(const Sizes& sizes) {
    for (const int gpu : gpus_) {
      gpu::AddressSpace& space = machine_.gpu(gpu).core().addresses();
      inputs_.push_back(space.buffer(sizes.in_place ? sim::max(sizes.input, sizes.output) : sizes.input));
      outputs_.push_back(sizes.in_place ? inputs_.back() : space.buffer(sizes.output));
    }
  }

  gpu::Machine& machine_;
  std::vector<int> gpus_;
  std::vector<std::uint64_t> inputs_;
  std::vector<std::uint64_t> outputs_;
  std::shared_ptr<Connections> connections_;
};

}  // namespace infold::coll

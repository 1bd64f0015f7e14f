// In functional mode packets carry real values. They live beside the packets, so that a timing run
// (values off) pays nothing for them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "net/packet/packet.h"
#include "sim/check.h"
#include "sim/pool.h"

namespace infold::net {

class Payloads {
 public:
  /// Room for the values of a packet, to be filled by its sender. Valid until the next take.
  ValuesId take(std::size_t bytes) {
    const ValuesId id = blocks_.take();
    INFOLD_CHECK(id < static_cast<ValuesId>(kMaxNamed), "a packet can name its values");
    blocks_[id].resize(bytes);  // keeps its capacity for the next that has this id
    return id;
  }
  std::span<std::byte> operator[](ValuesId id) { return blocks_[id]; }
  void give_back(ValuesId id) { blocks_.give_back(id); }
  /// Values that are under way.
  std::size_t taken() const { return blocks_.used(); }

 private:
  sim::Pool<std::vector<std::byte>, ValuesId> blocks_;
};

}  // namespace infold::net

// In functional mode packets carry real values. They live beside the packets, so that a timing run
// (values off) pays nothing for them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "net/packet/packet.h"
#include "sim/check.h"

namespace infold::net {

class Payloads {
 public:
  /// Room for the values of a packet, to be filled by its sender. Valid until the next take.
  ValuesId take(std::size_t bytes) {
    if (free_.empty()) {
      INFOLD_CHECK(blocks_.size() < static_cast<std::size_t>(kMaxNamed), "a packet can name its values");
      free_.push_back(static_cast<ValuesId>(blocks_.size()));
      blocks_.emplace_back();
    }
    const ValuesId id = free_.back();
    free_.pop_back();
    blocks_[id].resize(bytes);  // keeps its capacity for the next that has this id
    return id;
  }
  std::span<std::byte> operator[](ValuesId id) { return blocks_[id]; }
  void give_back(ValuesId id) { free_.push_back(id); }
  /// Values that are under way.
  std::size_t taken() const { return blocks_.size() - free_.size(); }

 private:
  std::vector<std::vector<std::byte>> blocks_;
  std::vector<ValuesId> free_;
};

}  // namespace infold::net

// What streams slices of a collective's data through a GPU: a workgroup, copy engines, an accelerator.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/copy/move.h"
#include "sim/units.h"

namespace infold::gpu {

class DataPath {
 public:
  /// Begins a move. Requires: the last one was issued; move.bytes > 0.
  /// `copies` are moves of the same bytes to further GPUs: what `move` loads is stored to all of them. Only
  /// `move` is issued and produced; each is complete by itself.
  virtual void start(const Move& move, std::span<const Move> copies) = 0;
  /// For a move whose data carry their flags: everything received before `data` bytes is there now.
  virtual void available(sim::Bytes data) = 0;
  /// How long it has polled for data that were not there.
  virtual sim::Time polled() const = 0;
  /// The sender under which its flags take their turn at the links.
  virtual std::uint32_t sender() const = 0;

 protected:
  ~DataPath() = default;
};

}  // namespace infold::gpu

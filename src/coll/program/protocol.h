// The wire protocols of the collectives library: how a receiver learns that data are there, and what that
// costs in bytes. These are facts of NCCL (src/include/device.h, src/device/prims_*.h); sizes that a user may
// change are in coll/program/tuning.h.
#pragma once

#include "coll/program/names.h"
#include "gpu/copy/encoding.h"

namespace infold::coll {

/// How a protocol lays out the bytes in a buffer.
constexpr gpu::Encoding encoding_of(Protocol p) {
  switch (p) {
    case Protocol::kSimple:
      return {};
    case Protocol::kLl:  // a thread stores 16 bytes at once: data, flag, data, flag
      return {.line_data = 8, .line = 16, .whole = 8, .access = 256, .flags_inside = true};
    case Protocol::kLl128:
      // A warp stores 16 lines of 128 bytes at once, whether they are full or not. A reading warp polls until
      // all its flags are there, and then loads the lines once more, because only then is their data sure to
      // be new.
      return {.line_data = 120, .line = 128, .whole = 1920, .access = 1920, .flags_inside = true, .reads = 2};
  }
  return {};
}

/// The layout of what an accelerator at the ports receives: it sees data arrive, so the data need no flags
/// and are passed on as they come.
constexpr gpu::Encoding at_ports() {
  return {.line_data = 1, .line = 1, .whole = 1, .access = 256, .flags_inside = true};
}

}  // namespace infold::coll

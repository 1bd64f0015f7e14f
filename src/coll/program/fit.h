// A program that a user wrote, made to fit other sizes and protocols than it was written for: its steps are
// kept, and the pieces that they move grow or shrink with the message.
#pragma once

#include <string>

#include "coll/program/program.h"
#include "sim/result.h"

namespace infold::coll {

struct OwnProgram {
  std::string name;  ///< as reports show it
  Program program;   ///< passed find_flaw
  Tuning settings;   ///< of the library, before those of a protocol take their place (for_protocol)
};

/// Whether the steps can run with a protocol: stores into outputs need the fence of Simple, switches and
/// engines without threads know no other.
bool can_use(const Program& program, Protocol protocol);

/// The program for a message of `bytes` and a protocol. Each share of the message is cut into as many pieces
/// as the author cut it into, as equal as whole elements allow; steps whose piece is empty are left out. If a
/// piece would be longer than a chunk of the protocol (or than in the file, for the file's protocol), the
/// message is cut into windows, and the steps are repeated for each, as MSCCL does. The result has passed
/// find_flaw. Requires: `bytes` are whole elements, and where ranks have shares, whole elements per share.
sim::Result<Program> fit(const OwnProgram& own, sim::Bytes bytes, Protocol protocol, sim::Bytes element);

}  // namespace infold::coll

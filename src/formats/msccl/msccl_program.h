// Programs of MSCCL as programs of ours. A threadblock becomes a channel of its GPU: one workgroup that
// carries out its steps in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coll/program/fit.h"
#include "config/yaml/position.h"
#include "formats/notes.h"
#include "sim/result.h"

namespace infold::formats {

struct ProgramImport {
  coll::OwnProgram own;  ///< proved right
  Notes notes;
};

/// Reads an XML file of MSCCL. It says nothing of bytes: the program is for the size at which its longest
/// step is one chunk of the protocol, and is fitted to others like every program.
sim::Result<ProgramImport> read_msccl(std::string_view text, const std::string& file);

}  // namespace infold::formats

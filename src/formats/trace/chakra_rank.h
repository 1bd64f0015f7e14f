// A file of Chakra as what its rank did.
#pragma once

#include <optional>
#include <string>

#include "formats/notes.h"
#include "formats/text/byte_stream.h"
#include "formats/trace/trace_nodes.h"
#include "sim/result.h"

namespace infold::formats {

/// The most nodes of one trace that are kept.
inline constexpr std::size_t kMostTraceNodes = 1'000'000;

/// What is told of all files together.
struct ChakraCounts {
  std::int64_t nodes = 0;
  std::int64_t missing = 0;      ///< dependencies on nodes that are not in the file
  std::int64_t squares = 0;      ///< kernels of which only the number of operations is known
  std::int64_t memory = 0;       ///< loads and stores
  std::int64_t no_group = 0;     ///< collectives without a group
  bool without_control = false;  ///< control dependencies would make a circle
  std::string version;
};

class ChakraOwnReader;

/// `rank`: what the file's name says. A file of ours goes to `own`, and nothing is given.
sim::Result<std::optional<RankTrace>> read_chakra_rank(ByteStream& stream, const std::string& file, int rank,
                                                       ChakraCounts& counts, ChakraOwnReader& own);
void note_chakra(const ChakraCounts& counts, Notes& notes);

}  // namespace infold::formats

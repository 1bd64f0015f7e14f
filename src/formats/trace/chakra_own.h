// Workloads of ours in files of Chakra, so that nothing is lost on the way there and back: nodes have what
// the format knows, for other simulators, and attributes "infold.*" say the rest.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/trace/chakra_file.h"
#include "sim/result.h"
#include "study/replay/workload.h"

namespace infold::formats {

/// The attribute of the metadata that says that a trace is of infold.
inline constexpr std::string_view kOwnHeader = "infold.workload";

/// The file of one rank. Refuses what the format has no nodes for, and a workload that cannot end.
class ChakraExport {
 public:
  static sim::Result<ChakraExport> make(const study::Workload& workload);
  std::string file_of(int rank) const;

 private:
  explicit ChakraExport(const study::Workload& workload) : workload_(&workload) {}
  ChakraNode node_of(int rank, int op, int stream, int position) const;

  const study::Workload* workload_;
  std::vector<std::vector<int>> order_;  // by rank: operations
};

/// Puts the files of all ranks together again.
class ChakraOwnReader {
 public:
  bool any() const { return begun_; }
  /// A file begins.
  sim::Status begin(const std::string& file, const std::string& header);
  sim::Status take(const ChakraNode& node);
  /// Requires: any().
  sim::Result<study::Workload> finish();

 private:
  struct Placed {
    int position = 0;
    int op = 0;
  };
  struct OwnStream {
    work::Stream stream;
    std::vector<Placed> ops;
  };
  struct OwnRank {
    std::string file;
    int script = 0;
    std::vector<OwnStream> streams;
    std::vector<int> idle;
  };

  sim::Status add_operation(const std::string& text, int op, const std::string& where);

  bool begun_ = false;
  study::Workload workload_;
  std::string first_file_;
  std::string common_;  // what all headers say
  std::map<int, OwnRank> ranks_;
  OwnRank* rank_ = nullptr;                // whose file is read
  std::map<int, std::string> operations_;  // as JSON
};

}  // namespace infold::formats

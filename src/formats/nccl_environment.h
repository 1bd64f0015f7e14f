// The environment variables of NCCL and RCCL: as a list ("NCCL_ALGO=Ring NCCL_PROTO=^LL"), or as a file in
// the style of nccl.conf, and what they mean here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coll/program/names.h"
#include "formats/notes.h"
#include "sim/result.h"

namespace infold::formats {

/// Algorithms or protocols that the library may choose, for one collective or for all.
struct AllowedNames {
  std::optional<coll::Collective> collective;  ///< nothing: all
  std::vector<std::string> names;              ///< as infold calls them
};

struct NcclEnvironment {
  std::optional<int> max_channels;
  std::optional<int> min_channels;
  bool p2p_off = false;
  std::vector<std::string> sets;  ///< as --set takes them: "coll.threads=256"
  std::vector<AllowedNames> algorithms;
  std::vector<AllowedNames> protocols;
  /// `ignored` names variables without effect here, and those that are not known.
  Notes notes;

  /// The names that are left for a collective; nothing if the variable was not set for it.
  static std::optional<std::vector<std::string>> allowed(const std::vector<AllowedNames>& rules,
                                                         coll::Collective collective);
};

/// `file` is what messages name: a file, or the option. A value that NCCL would not understand is refused.
sim::Result<NcclEnvironment> read_nccl_environment(std::string_view text, const std::string& file);

}  // namespace infold::formats

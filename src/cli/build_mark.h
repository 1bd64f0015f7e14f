// What a result depends on besides its command: this build of the program, and the files that the command
// reads.
#pragma once

#include <set>
#include <string>

namespace infold::cli {

/// "0.1.0 (89abcdef01234567)", optionally with a hash of the contents of files. Two runs with the same mark
/// and the same command give the same result.
std::string build_mark(const std::set<std::string>& files);

}  // namespace infold::cli

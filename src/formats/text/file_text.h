// The text of a foreign file. It may be packed with gzip; what comes out is bounded like what goes in, so a
// small file cannot fill the memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/result.h"

namespace infold::formats {

inline constexpr std::size_t kLargestFile = std::size_t{64} << 20;

struct FileText {
  std::string file;    ///< as messages name it
  std::string stem;    ///< its name without folder and endings: the name of what it holds
  std::string folder;  ///< the name of the folder that it is in; empty if the path does not say
  std::string text;    ///< unpacked
};

/// Reads a regular file of at most `largest` bytes, packed and unpacked.
sim::Result<FileText> read_file(const std::string& file, std::size_t largest = kLargestFile);

bool is_gzip(std::string_view bytes);
/// Unpacks one gzip stream, or several that follow one another.
sim::Result<std::string> unpack(std::string_view bytes, std::size_t largest);

}  // namespace infold::formats

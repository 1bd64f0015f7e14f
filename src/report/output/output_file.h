// A file that appears whole or not at all: it is written next to its place, then renamed.
#pragma once

#include <string>
#include <string_view>

#include "sim/result.h"

namespace infold::report {

class OutputFile {
 public:
  /// Begins the file, so that a path that cannot be written is known before there is anything to write. A
  /// file that is there already stays until commit().
  static sim::Result<OutputFile> open(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Without commit() nothing is left behind.
  ~OutputFile();

  /// Writes all of it and puts it in its place. Requires: it is called once.
  sim::Status commit(std::string_view text);

 private:
  OutputFile(int file, std::string temporary, std::string path)
      : file_(file), temporary_(std::move(temporary)), path_(std::move(path)) {}
  int file_;
  std::string temporary_;  // empty while it has no name, and once it is in its place
  std::string path_;
};

}  // namespace infold::report

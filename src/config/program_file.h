// A program of a collective as a file: what `infold program show --json` prints, or the same as YAML.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coll/program/program.h"
#include "config/yaml/diagnostic.h"

namespace infold::config {

inline constexpr std::size_t kLargestProgram = std::size_t{16} << 20;

struct ProgramFile {
  coll::Program program;
  std::string file;
  std::vector<std::vector<Position>> steps;  ///< where each step of each list stands
};

/// Reads a program and proves it right (coll::find_flaw); every error names its place.
Result<ProgramFile> load_program(const std::string& file);

}  // namespace infold::config

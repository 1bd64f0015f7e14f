// A program of a collective as a file: what `infold program show --json` prints, or the same as YAML.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coll/program/fit.h"
#include "config/yaml/position.h"
#include "config/yaml/yaml_tree.h"

namespace infold::config {

inline constexpr std::size_t kLargestProgram = std::size_t{16} << 20;
inline constexpr YamlLimits kProgramLimits{.children = 100'000, .nodes = 2'000'000, .brackets = 1'000'000};

struct ProgramFile {
  coll::OwnProgram own;  ///< called by its file's name, without the folder
  std::string file;
  std::vector<std::vector<Position>> steps;  ///< the position of each step of each list
};

/// Reads a program and proves it right (coll::find_flaw). Every error has its place in the file.
sim::Result<ProgramFile> load_program(const std::string& file);

}  // namespace infold::config

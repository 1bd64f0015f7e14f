// A compiled program as text and as JSON that `infold bench --program` reads back.
#pragma once

#include <string>
#include <string_view>

#include "coll/program/program.h"

namespace infold::report {

struct ProgramHeading {
  std::string_view algo;
  std::string_view system;  ///< empty: it was compiled for none in particular
};
std::string program_text(const coll::Program& program, const ProgramHeading& heading);
std::string program_json(const coll::Program& program, const ProgramHeading& heading);

}  // namespace infold::report

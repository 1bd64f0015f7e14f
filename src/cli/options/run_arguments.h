// What commands that simulate have in common, as typed: what is assumed and changed, and what is written.
#pragma once

#include <string>
#include <vector>

#include "cli/options/environment.h"
#include "cli/options/what_if.h"
#include "cli/page.h"
#include "cli/trace_file.h"

namespace infold::cli {

struct RunArguments {
  bool json = false;
  bool no_timing = false;
  std::vector<std::string> sets;
  int nodes = 0;  ///< 0 means as many as the system has
  EnvironmentArguments env;
  bool algorithm_typed = false;  ///< whether --algo was given
  bool protocol_typed = false;   ///< whether --proto was given
  WhatIf what_if;
  PageArguments page;
  TraceArguments trace;
};

}  // namespace infold::cli

// A command's result as a page: one HTML file that holds everything it needs (docs/report.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/describe.h"
#include "report/output/page_counters.h"
#include "study/link_use.h"

namespace infold::report {

/// A system whose parameters the page lists.
struct PageSystem {
  std::string name;
  std::string summary;
  std::vector<config::Parameter> parameters;
};

/// A machine to be drawn, with how busy its links were in one run.
struct PageMachine {
  std::string label;       ///< name of the run
  std::int64_t bytes = 0;  ///< bytes of the message; 0 if there are several sizes, or none
  study::FabricUse use;
};

/// A published time to be drawn beside the simulated ones.
struct PagePublished {
  std::string system;
  std::string algo;
  std::int64_t bytes = 0;
  double time_us = 0;
  std::string source;
};

struct Page {
  std::string version;
  std::string typed;  ///< the command line, so that it can be run again
  std::vector<PageSystem> systems;
  std::vector<PageMachine> machines;
  std::vector<PagePublished> published;
  std::vector<PageCounters> counters;
  std::string history = "null";  ///< JSON of a training step's history, if there is one
  std::string result;            ///< what --json prints
};

std::string html_page(const Page& page);

/// JSON that can be placed in a script element: nothing in it can end the element or begin a comment. It
/// reads back as the same values.
std::string inside_script(std::string_view json);

}  // namespace infold::report

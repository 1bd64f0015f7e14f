// A command's result as a page: one HTML file that holds everything it needs (docs/report.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/describe.h"

namespace infold::report {

/// A system whose parameters the page lists.
struct PageSystem {
  std::string name;
  std::string summary;
  std::vector<config::Parameter> parameters;
};

struct Page {
  std::string version;
  std::string typed;  ///< the command line, to be run again
  std::vector<PageSystem> systems;
  std::string result;  ///< what --json prints
};

std::string html_page(const Page& page);

/// JSON that can stand in a script element: nothing in it can end the element or begin a comment. It reads
/// back as the same values.
std::string inside_script(std::string_view json);

}  // namespace infold::report

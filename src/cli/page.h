// --report FILE.html, which commands that print results share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/html_report.h"
#include "report/output_file.h"
#include "study/system_spec.h"

namespace CLI {
class App;
}

namespace infold::cli {

/// The words of the command line as a shell would take them again.
std::string typed_again(int argc, const char* const* argv);

struct PageArguments {
  std::string file;   ///< empty: no page
  std::string typed;  ///< the command line
};
void add_page_argument(CLI::App& command, PageArguments& args);

/// The page of one run of a command. Does nothing if none was asked for.
class PageWriter {
 public:
  explicit PageWriter(const PageArguments& args) : args_(args) {}

  /// Before the simulation, so that nobody waits for a page that can not be written. kDone, or the exit code
  /// when it has been said why not.
  int open();
  /// A system whose parameters are to be listed, once by name.
  void add(const study::SystemSpec& system);
  /// `json` is what --json prints.
  int write(const std::string& json);
  bool wanted() const { return !args_.file.empty(); }

 private:
  const PageArguments& args_;
  std::optional<report::OutputFile> file_;
  std::vector<report::PageSystem> systems_;
};

}  // namespace infold::cli

// The option --report FILE.html, which commands that print results share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/named_output.h"
#include "report/output/html_report.h"
#include "study/step/step_history.h"
#include "study/system_spec.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace infold::cli {

/// The words of the command line, quoted so that a shell accepts them again.
std::string typed_again(int argc, const char* const* argv);

struct PageArguments {
  std::string file;   ///< empty if there is no page
  std::string typed;  ///< the command line
};
CLI::Option* add_page_argument(CLI::App& command, PageArguments& args);

/// The page of one run of a command. Does nothing if no page was asked for.
class PageWriter {
 public:
  explicit PageWriter(const PageArguments& args) : args_(args), file_({"--report", args.file}) {}

  /// Call it before the simulation, so that a user does not wait for a page that cannot be written. Returns
  /// kDone, or the exit code after the reason was printed.
  int open() { return file_.open(); }
  /// A system whose parameters are to be listed; each name is listed once.
  void add(const study::SystemSpec& system);
  /// The same for a GPU without a system.
  void add(const gpu::GpuSpec& gpu);
  /// A machine to draw. `bytes` is the size of the message, 0 if there were several.
  void add(std::string label, std::int64_t bytes, const study::FabricUse& use);
  /// What a run must record so that the page can show it, if no trace asks for more; nothing without a page.
  std::optional<sim::TraceSpec> recording(std::size_t runs = 1) const;
  /// Adds what the run recorded. `row` is the row of the result, if it has rows.
  void add(const sim::TraceRecorder& trace, std::size_t row = 0);
  /// The history of a training step.
  void add(const study::StepHistory& history);
  /// Adds published times of this collective on the systems so far, with all of their GPUs taking part.
  void add_published(const std::string& collective);
  /// `json` is what --json prints.
  int write(const std::string& json);
  bool wanted() const { return file_.wanted(); }

 private:
  const PageArguments& args_;
  NamedOutput file_;
  std::vector<report::PageSystem> systems_;
  std::vector<report::PageMachine> machines_;
  std::vector<report::PagePublished> published_;
  std::vector<report::PageCounters> counters_;
  std::string history_ = "null";
};

}  // namespace infold::cli

// --trace FILE.pftrace, which commands that simulate share.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "cli/named_output.h"
#include "report/output/perfetto_trace.h"
#include "sim/trace.h"

namespace CLI {
class App;
}

namespace infold::cli {

struct TraceArguments {
  std::string file;  ///< empty: no trace
  std::string interval = "1us";
};
void add_trace_arguments(CLI::App& command, TraceArguments& args);

/// The trace of one run of a command. Does nothing if none was asked for.
class TraceWriter {
 public:
  /// `typed`: the command line.
  TraceWriter(const TraceArguments& args, std::string typed)
      : args_(args), typed_(std::move(typed)), file_({"--trace", args.file}) {}

  /// Before the simulation, so that nobody waits for a file that can not be written. kDone, or the exit code
  /// when it has been said why not.
  int open();
  bool wanted() const { return file_.wanted(); }
  /// What each of about so many simulations is to record; none if none is wanted. Requires: open().
  std::optional<sim::TraceSpec> spec(std::size_t runs = 1) const;

  /// A simulation beside the others, from the time line's beginning on.
  void add_beside(const std::string& label, sim::TraceRecorder trace);
  /// One after all so far, on the same tracks where the place is the same.
  void add_after(std::string place, std::string label, sim::TraceRecorder trace);
  int write();

 private:
  const TraceArguments& args_;
  std::string typed_;
  NamedOutput file_;
  sim::TraceSpec spec_;
  std::deque<sim::TraceRecorder> traces_;
  report::TraceFile content_;
  sim::Time end_;
};

}  // namespace infold::cli

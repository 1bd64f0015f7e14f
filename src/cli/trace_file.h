// The option --trace FILE.pftrace, which commands that simulate share.
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
  std::string file;  ///< empty if there is no trace
  std::string interval = "1us";
};
void add_trace_arguments(CLI::App& command, TraceArguments& args);

/// The trace of one run of a command. Does nothing if no trace was asked for.
class TraceWriter {
 public:
  /// `typed` is the command line.
  TraceWriter(const TraceArguments& args, std::string typed)
      : args_(args), typed_(std::move(typed)), file_({"--trace", args.file}) {}

  /// Call it before the simulation, so that a user does not wait for a file that cannot be written. Returns
  /// kDone, or the exit code after the reason was printed.
  int open();
  bool wanted() const { return file_.wanted(); }
  /// What each of about `runs` simulations must record; nothing if there is no trace. Requires: open().
  std::optional<sim::TraceSpec> spec(std::size_t runs = 1) const;

  /// Adds a simulation beside the others, from the beginning of the timeline on.
  void add_beside(const std::string& label, sim::TraceRecorder trace);
  /// Adds a simulation after all others so far, on the same tracks where the place is the same.
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

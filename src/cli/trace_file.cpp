// From --trace to a file.
#include "cli/trace_file.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <utility>

#include "cli/app.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "config/yaml/units.h"

namespace infold::cli {

namespace {
/// The gap between two simulations on one timeline, so that they can be told apart.
constexpr sim::Time kGap = sim::Time::us(10);
}  // namespace

void add_trace_arguments(CLI::App& command, TraceArguments& args) {
  command
      .add_option("--trace", args.file,
                  "also write what happened when, for ui.perfetto.dev, e.g. out.pftrace")
      ->check(valid_file_name);
  command
      .add_option("--trace-interval", args.interval,
                  "time between two samples of a counter; it is doubled until the file is not too large")
      ->capture_default_str();
}

int TraceWriter::open() {
  if (!wanted()) return kDone;
  const auto parsed = config::parse_time(args_.interval);
  if (!parsed) return failure(parsed.error(), "--trace-interval");
  spec_.interval = *parsed;
  if (spec_.interval < sim::Time::ns(1) || spec_.interval > sim::Time::us(1'000'000))
    return bad_input(fmt::format("--trace-interval: {} is not between 1 ns and 1 s", args_.interval));
  return file_.open();
}

std::optional<sim::TraceSpec> TraceWriter::spec(std::size_t runs) const {
  if (!wanted()) return std::nullopt;
  return spec_.shared_by(runs);
}

void TraceWriter::add_beside(const std::string& label, sim::TraceRecorder trace) {
  traces_.push_back(std::move(trace));
  content_.runs.push_back({.place = label, .label = label, .begins = {}, .trace = &traces_.back()});
}

void TraceWriter::add_after(std::string place, std::string label, sim::TraceRecorder trace) {
  traces_.push_back(std::move(trace));
  const sim::Time begins = content_.runs.empty() ? sim::Time{} : end_ + kGap;
  content_.runs.push_back(
      {.place = std::move(place), .label = std::move(label), .begins = begins, .trace = &traces_.back()});
  end_ = begins + report::end_of(traces_.back());
}

int TraceWriter::write() {
  if (!wanted()) return kDone;
  content_.version = kVersion;
  content_.typed = typed_;
  return file_.write(report::perfetto_trace(content_));
}

}  // namespace infold::cli

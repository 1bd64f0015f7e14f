// From --report to a file.
#include "cli/page.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/app.h"
#include "config/validation_file.h"
#include "config/yaml/describe.h"
#include "config/yaml/units.h"
#include "report/step_history_report.h"
#include "study/campaign/command_run.h"

namespace infold::cli {

namespace {

std::string quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + '\'';
}

/// The word that follows an option of a command line.
std::string_view behind(const std::vector<std::string>& words, std::string_view option) {
  const auto at = std::ranges::find(words, option);
  return at == words.end() || at + 1 == words.end() ? std::string_view{} : std::string_view(*(at + 1));
}

/// Whether a row is the time of one message of this collective on all GPUs of a system.
std::optional<report::PagePublished> published_point(const study::ValidationRow& row,
                                                     const std::string& collective) {
  const std::vector<std::string> words = study::words_of(row.figure.run);
  if (words.size() < 2 || words[0] != "bench" || words[1] != collective) return std::nullopt;
  if (row.over || row.unit != "us" || row.figure.read != "/results/0/time_us") return std::nullopt;
  if (std::ranges::find(words, "-g") != words.end()) return std::nullopt;
  const auto bytes = config::parse_size(behind(words, "-b"));
  if (behind(words, "-b") != behind(words, "-e") || !bytes) return std::nullopt;
  const auto algo = behind(words, "--algo");
  return report::PagePublished{.system = std::string(behind(words, "--system")),
                               .algo = std::string(algo.empty() ? "ring" : algo),
                               .bytes = bytes->count(),
                               .time_us = row.published,
                               .source = row.source};
}

}  // namespace

std::string typed_again(int argc, const char* const* argv) {
  std::string text = "infold";
  for (int i = 1; i < argc; ++i) text += fmt::format(" {}", quoted(argv[i]));
  return text;
}

CLI::Option* add_page_argument(CLI::App& command, PageArguments& args) {
  return command
      .add_option("--report", args.file, "also write the result as a page with charts, e.g. out.html")
      ->check(valid_file_name);
}

void PageWriter::add(const study::SystemSpec& system) {
  if (!wanted() || std::ranges::any_of(systems_, [&](const auto& s) { return s.name == system.name; }))
    return;
  systems_.push_back({system.name, system.summary, config::parameters(system)});
}

void PageWriter::add(const gpu::GpuSpec& gpu) {
  if (wanted()) systems_.push_back({gpu.name, gpu.summary, config::parameters(gpu)});
}

void PageWriter::add(std::string label, std::int64_t bytes, const study::FabricUse& use) {
  if (!wanted() || use.links.empty()) return;
  if (use.nodes_of_machine > 1)
    label += fmt::format(" on {} nodes (each GPU's NIC is drawn as a switch)", use.nodes_of_machine);
  machines_.push_back({std::move(label), bytes, use});
}

std::optional<sim::TraceSpec> PageWriter::recording(std::size_t runs) const {
  if (!wanted()) return std::nullopt;
  // Some hundred values of each counter are kept, and no spans, which the result contains already.
  sim::TraceSpec spec;
  spec.most_spans = spec.most_details = 0;
  spec.most_samples = 40'000 * runs;
  return spec;
}

void PageWriter::add(const sim::TraceRecorder& trace, std::size_t row) {
  if (wanted()) counters_.push_back(report::counters_of(trace, row));
}

void PageWriter::add(const study::StepHistory& history) {
  if (wanted()) history_ = report::history_json(history).dump();
}

void PageWriter::add_published(const std::string& collective) {
  if (!wanted()) return;
  const auto loaded = config::built_in_validation();
  for (const study::ValidationRow& row : loaded->rows) {
    auto point = published_point(row, collective);
    if (point && std::ranges::any_of(systems_, [&](const auto& s) { return s.name == point->system; }))
      published_.push_back(std::move(*point));
  }
}

int PageWriter::write(const std::string& json) {
  if (!wanted()) return kDone;
  const report::Page page{.version = std::string(kVersion),
                          .typed = args_.typed,
                          .systems = systems_,
                          .machines = machines_,
                          .published = published_,
                          .counters = counters_,
                          .history = history_,
                          .result = json};
  return file_.write(report::html_page(page));
}

}  // namespace infold::cli

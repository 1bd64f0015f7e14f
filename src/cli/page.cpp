// From --report to a file.
#include "cli/page.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <variant>

#include "cli/app.h"
#include "cli/systems.h"
#include "config/describe.h"

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

}  // namespace

std::string typed_again(int argc, const char* const* argv) {
  std::string text = "infold";
  for (int i = 1; i < argc; ++i) text += fmt::format(" {}", quoted(argv[i]));
  return text;
}

void add_page_argument(CLI::App& command, PageArguments& args) {
  command.add_option("--report", args.file, "also write the result as a page with charts, e.g. out.html")
      ->check(
          [](const std::string& file) { return std::string(file.empty() ? "the file has no name" : ""); });
}

int PageWriter::open() {
  if (!wanted()) return kDone;
  auto opened = report::OutputFile::open(args_.file);
  if (const auto* why = std::get_if<std::string>(&opened))
    return bad_input(fmt::format("--report: {}", *why));
  file_.emplace(std::get<report::OutputFile>(std::move(opened)));
  return kDone;
}

void PageWriter::add(const study::SystemSpec& system) {
  if (!wanted() || std::ranges::any_of(systems_, [&](const auto& s) { return s.name == system.name; }))
    return;
  systems_.push_back({system.name, system.summary, config::parameters(system)});
}

int PageWriter::write(const std::string& json) {
  if (!wanted()) return kDone;
  const report::Page page{
      .version = std::string(kVersion), .typed = args_.typed, .systems = systems_, .result = json};
  const std::string why = file_->commit(report::html_page(page));
  if (why.empty()) return kDone;
  bad_input(fmt::format("--report: {}", why));
  return kFailed;
}

}  // namespace infold::cli

// Facts as a table, what was assumed and ignored as lists.
#include "report/import_report.h"

#include <fmt/format.h>

#include <variant>

#include "config/model_dump.h"
#include "config/yaml/dump.h"
#include "formats/workload/workload_file.h"
#include "report/json.h"
#include "report/program_report.h"

namespace infold::report {

namespace {

std::string notes_text(std::string_view label, const std::vector<std::string>& items) {
  if (items.empty()) return {};
  std::string text = fmt::format("\n{}:\n", label);
  for (const std::string& item : items) text += fmt::format("  - {}\n", item);
  return text;
}

Json run_json(const formats::MeasuredRun& run) {
  Json results = Json::array();
  for (const formats::MeasuredRow& row : run.rows) {
    Json result = {{"bytes", row.bytes.count()},
                   {"dtype", row.dtype},
                   {"op", row.op},
                   {"root", row.root},
                   {"time_us", row.time_us}};
    if (row.in_place_us) result["in_place_us"] = *row.in_place_us;
    result["wrong"] = row.wrong;
    results.push_back(std::move(result));
  }
  Json out = {{"collective", nullptr},
              {"gpus", run.ranks},
              {"hosts", run.hosts},
              {"gpu", run.gpu},
              {"nccl", run.version}};
  if (run.collective) out["collective"] = sim::name_of(*run.collective);
  out["results"] = std::move(results);
  return out;
}

std::string measurements_json(const formats::Measurements& measurements) {
  Json runs = Json::array();
  for (const formats::MeasuredRun& run : measurements.runs) runs.push_back(run_json(run));
  return Json{{"schema", 1}, {"kind", "measurements"}, {"runs", std::move(runs)}}.dump(1) + "\n";
}

}  // namespace

std::string import_text(const formats::Imported& imported, const std::string& file) {
  std::string text = fmt::format("{}: {} ({}): a {}\n\n", file, formats::meaning_of(imported.format),
                                 sim::name_of(imported.format), formats::kind_of(imported));
  for (const formats::Fact& fact : imported.notes.understood) {
    text += fmt::format("  {:<20} ", fact.name);
    std::visit([&](const auto& value) { text += fmt::format("{}\n", value); }, fact.value);
  }
  return text + notes_text("assumed", imported.notes.assumed) + notes_text("ignored", imported.notes.ignored);
}

std::string import_json(const formats::Imported& imported) {
  Json understood = Json::object();
  for (const formats::Fact& fact : imported.notes.understood)
    std::visit([&](const auto& value) { understood[fact.name] = value; }, fact.value);
  return Json{{"schema", 1},
              {"command", "import"},
              {"format", sim::name_of(imported.format)},
              {"kind", formats::kind_of(imported)},
              {"understood", understood},
              {"assumed", imported.notes.assumed},
              {"ignored", imported.notes.ignored}}
             .dump(1) +
         "\n";
}

std::string import_file_text(const formats::Imported& imported) {
  if (const auto* system = std::get_if<study::SystemSpec>(&imported.value)) return config::to_yaml(*system);
  if (const auto* model = std::get_if<train::Model>(&imported.value)) return config::to_yaml(*model);
  if (const auto* own = std::get_if<coll::OwnProgram>(&imported.value))
    return program_json(own->program, {own->name, ""});
  if (const auto* workload = std::get_if<study::Workload>(&imported.value))
    return formats::workload_text(*workload);
  return measurements_json(std::get<formats::Measurements>(imported.value));
}

}  // namespace infold::report

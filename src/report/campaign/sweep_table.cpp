// Members of objects become columns, named by their path; lists other than the rows are left out.
#include "report/campaign/sweep_table.h"
#include "report/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace infold::report {

namespace {

using Visit = std::function<void(const std::string& name, const std::string& path, const Json& value)>;

constexpr std::array<std::string_view, 3> kRows = {"results", "rows", "causes"};

/// Members that the results of a command do not always have. A test compares this list with golden outputs.
constexpr std::array<std::string_view, 37> kOnlyInSome = {
    // bench: with a choice, values, a fault, several at once, switches that reduce, a host that is too slow
    "estimate_us", "auto_loss", "error", "fault", "replays", "fairness", "inc", "hypothetical", "host_bound",
    // bench of a kernel
    "copy_gbps", "tile", "stages", "split", "beside", "shape",
    // train: on one GPU, on several
    "tflops", "hbm_bytes", "kernels", "kernel_ms", "burst_bytes", "comm_in_backward_ms", "comm_sms", "engine",
    "fidelity", "fidelity_error", "gpus_simulated", "last_pass_ms", "slowdown_while_communicating",
    "bubble_ms", "exposed_comm_ms", "forward_slowdown", "memory_gb", "mfu", "micro_batches", "parallel",
    "parameters", "tokens_per_s_per_gpu"};

void walk(const Json& object, const std::string& name, const std::string& path, const Visit& visit) {
  for (const auto& [key, value] : object.items()) {
    const std::string inner = name.empty() ? key : fmt::format("{}.{}", name, key);
    const std::string inner_path = fmt::format("{}.\"{}\"", path, key);
    if (value.is_object()) {
      walk(value, inner, inner_path, visit);
    } else if (!value.is_array()) {
      visit(inner, inner_path, value);
    }
  }
}

}  // namespace

std::optional<std::string> one_line_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? std::optional(json.dump()) : std::nullopt;
}

bool only_in_some(std::string_view column) {
  if (column == "sim.packet_hops") return true;  // only train on several GPUs has it
  return std::ranges::find(kOnlyInSome, column.substr(0, column.find('.'))) != kOnlyInSome.end();
}

std::string plain(std::string_view json) {
  if (json.empty() || json == "null") return "";
  if (json.front() != '"') return std::string(json);
  return Json::parse(json, nullptr, false).get<std::string>();
}

std::size_t SweepTable::column(const std::string& name, const std::string& path, bool in_row) {
  if (const auto found = find(name)) return *found;
  columns_.push_back({name, path, in_row});
  return columns_.size() - 1;
}

std::optional<std::size_t> SweepTable::find(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &study::ResultColumn::name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

std::size_t SweepTable::count(study::PointStatus status) const {
  return counts_[static_cast<std::size_t>(status)];
}

void SweepTable::add(std::size_t point, study::PointResult result) {
  ++counts_[static_cast<std::size_t>(result.status)];
  Row row{.point = point, .status = result.status, .message = std::move(result.message), .cells = {}};
  const Json json = Json::parse(result.result, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return rows_.push_back(std::move(row));
  const auto fill = [this](Row& target, bool in_row) {
    return [this, &target, in_row](const std::string& name, const std::string& path, const Json& value) {
      // These are of no interest in a table of one command.
      if (!in_row && (name == "schema" || name == "command")) return;
      const std::size_t at = column(name, path, in_row);
      if (target.cells.size() <= at) target.cells.resize(at + 1);
      if (target.cells[at].empty()) target.cells[at] = value.dump();
    };
  };
  const Json* list = nullptr;
  for (const std::string_view key : kRows) {
    const auto found = json.find(key);
    if (list != nullptr || found == json.end() || !found->is_array()) continue;
    list = &*found;
    rows_key_ = key;
  }
  const std::size_t many = list == nullptr ? 1 : list->size();
  for (std::size_t i = 0; i < many; ++i) {
    Row one = row;
    if (list != nullptr && (*list)[i].is_object()) walk((*list)[i], "", "$", fill(one, true));
    // A value of the row itself takes precedence over the same one of the whole result.
    walk(json, "", "$", fill(one, false));
    rows_.push_back(std::move(one));
  }
}

}  // namespace infold::report

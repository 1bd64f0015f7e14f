// One curve per run of the log; several types in one run become several curves.
#include "cli/options/measured_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "config/yaml/position.h"
#include "study/collective/bench_run.h"

namespace infold::cli {

namespace {

/// A log of all collectives in all types is more than anybody diagnoses at once.
constexpr std::size_t kMostCurves = 16;

struct TypeName {
  std::string_view log;
  coll::DataType type;
  bool same;  ///< or one that moves as many bytes, and is summed at another rate
};
constexpr std::array kTypes = {
    TypeName{"float", coll::DataType::kFp32, true},     TypeName{"half", coll::DataType::kFp16, true},
    TypeName{"bfloat16", coll::DataType::kBf16, true},  TypeName{"int32", coll::DataType::kInt32, true},
    TypeName{"double", coll::DataType::kFp32, false},   TypeName{"int64", coll::DataType::kInt32, false},
    TypeName{"uint64", coll::DataType::kInt32, false},  TypeName{"uint32", coll::DataType::kInt32, false},
    TypeName{"int8", coll::DataType::kFp16, false},     TypeName{"uint8", coll::DataType::kFp16, false},
    TypeName{"f8e4m3", coll::DataType::kFp16, false},   TypeName{"f8e5m2", coll::DataType::kFp16, false},
    TypeName{"fp8_e4m3", coll::DataType::kFp16, false}, TypeName{"fp8_e5m2", coll::DataType::kFp16, false},
};

const TypeName* type_of(std::string_view name) {
  const auto* const found = std::ranges::find(kTypes, name, &TypeName::log);
  return found == kTypes.end() ? nullptr : found;
}

coll::ReduceOp op_of(std::string_view name) {
  for (const auto& op : coll::kReduceOpNames) {
    if (op.name == name) return op.value;
  }
  return coll::ReduceOp::kSum;
}

class LogComparison {
 public:
  LogComparison(const std::string& file, const study::PreparedSystem& system, bool in_place)
      : file_(file), system_(system), in_place_(in_place) {}

  sim::Status add(const formats::MeasuredRun& run) {
    if (run.hosts > 1) {
      return refuse(run, fmt::format("it was measured on {} nodes; only logs of one node are compared so far",
                                     run.hosts));
    }
    const int gpus = run.ranks > 0 ? run.ranks : system_.machine.gpus;
    if (run.ranks == 0) note(fmt::format("the log does not list its ranks: {} GPUs are assumed", gpus));
    if (gpus > system_.machine.gpus)
      return refuse(run, fmt::format("it was measured on {} GPUs, and {} has {}", gpus, system_.name,
                                     system_.machine.gpus));
    if (gpus < 2) return refuse(run, "it was measured on one GPU, where nothing is communicated");
    if (!run.collective) {
      note(fmt::format("the run from line {} on is left out: it does not say which test it is of", run.line));
      return {};
    }
    std::map<std::string, study::MeasuredCurve> curves;  // by type
    for (const formats::MeasuredRow& row : run.rows) add(run, row, gpus, curves[row.dtype]);
    for (auto& [type, curve] : curves) {
      if (curve.points.empty()) continue;
      std::ranges::stable_sort(curve.points, {}, &study::MeasuredPoint::bytes);
      merge_equal_sizes(curve.points);
      if (out_.curves.size() == kMostCurves) {
        note(fmt::format("only the first {} runs are compared", kMostCurves));
        return {};
      }
      out_.curves.push_back(std::move(curve));
    }
    return {};
  }

  sim::Result<MeasuredLog> finish() {
    if (empty_ > 0) note(fmt::format("{} rows without data are left out", empty_));
    if (wrong_ > 0)
      note(fmt::format(
          "the log counts {} wrong values: the machine or the library is broken, whatever its times",
          wrong_));
    if (out_.curves.empty())
      return sim::fail(config::at(file_, {1, 1}, "there is no row that can be compared"));
    return std::move(out_);
  }

 private:
  sim::Status refuse(const formats::MeasuredRun& run, std::string why) const {
    return sim::fail(config::at(file_, {run.line, 1}, std::move(why)));
  }
  void note(std::string text) {
    if (std::ranges::find(out_.notes, text) == out_.notes.end()) out_.notes.push_back(std::move(text));
  }

  void add(const formats::MeasuredRun& run, const formats::MeasuredRow& row, int gpus,
           study::MeasuredCurve& curve) {
    wrong_ += row.wrong;
    const TypeName* type = type_of(row.dtype);
    if (type == nullptr) return note(fmt::format("rows of type {} are left out", row.dtype));
    if (!type->same && coll::reduces(*run.collective))
      note(fmt::format("{} is simulated as {} of as many bytes", row.dtype, sim::name_of(type->type)));
    const std::optional<double> us = in_place_ ? row.in_place_us : std::optional(row.time_us);
    if (!us || !(*us > 0)) return note("rows without a time in place are left out");
    curve.collective = *run.collective;
    curve.type = type->type;
    curve.op = op_of(row.op);
    curve.root = std::clamp(row.root, 0, gpus - 1);
    curve.gpus = gpus;
    const sim::Bytes bytes = study::whole_elements(curve.collective, curve.type, row.bytes, gpus);
    if (bytes == sim::Bytes{}) {
      ++empty_;
      return;
    }
    curve.points.push_back({bytes, *us});
  }

  /// Several rows of a size are one point, the fastest: what disturbs a measurement makes it slower.
  static void merge_equal_sizes(std::vector<study::MeasuredPoint>& points) {
    std::vector<study::MeasuredPoint> merged;
    for (const study::MeasuredPoint& p : points) {
      if (!merged.empty() && merged.back().bytes == p.bytes) {
        merged.back().us = std::min(merged.back().us, p.us);
      } else {
        merged.push_back(p);
      }
    }
    points = std::move(merged);
  }

  const std::string& file_;
  const study::PreparedSystem& system_;
  bool in_place_;
  MeasuredLog out_;
  std::int64_t wrong_ = 0;
  int empty_ = 0;
};

}  // namespace

sim::Result<MeasuredLog> curves_of(const formats::Measurements& measurements, const std::string& file,
                                   const study::PreparedSystem& system, bool in_place) {
  LogComparison comparison(file, system, in_place);
  for (const formats::MeasuredRun& run : measurements.runs) {
    if (auto added = comparison.add(run); !added) return sim::fail_as(std::move(added));
  }
  return comparison.finish();
}

}  // namespace infold::cli

// Picks the events that matter, whatever version of the profiler wrote them.
#include "formats/trace/kineto_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "config/yaml/position.h"
#include "config/yaml/text.h"
#include "formats/trace/chakra_rank.h"
#include "formats/trace/json_stream.h"

namespace infold::formats {

namespace {

using Value = nlohmann::json;

constexpr std::size_t kMostCalls = 4'000'000;
constexpr double kLatest = 1e18;  // microseconds

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

const Value* member(const Value& map, const char* key) {
  if (!map.is_object()) return nullptr;
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &*at;
}

/// A number, also one that is written as text; older versions write some so.
double number_of(const Value* value, double otherwise) {
  if (value == nullptr) return otherwise;
  double number = otherwise;
  if (value->is_number()) {
    number = value->get<double>();
  } else if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || stop != text.data() + text.size()) return otherwise;
  }
  return std::isfinite(number) && std::abs(number) < kLatest ? number : otherwise;
}
std::int64_t whole_of(const Value* value, std::int64_t otherwise) {
  if (value != nullptr && value->is_number_integer()) return value->get<std::int64_t>();
  return static_cast<std::int64_t>(number_of(value, static_cast<double>(otherwise)));
}
std::string text_of(const Value* value) {
  if (value == nullptr) return {};
  if (value->is_string()) return config::shown(value->get_ref<const std::string&>(), 200);
  return value->is_number_integer() ? std::to_string(value->get<std::int64_t>()) : std::string();
}

/// "[0, 1]" or a list. A list that was cut off ("[0, 1, ...]") is not known.
std::vector<int> ranks_of(const Value* value) {
  constexpr int kHighestRank = 1'000'000;
  std::vector<int> ranks;
  if (value == nullptr) return ranks;
  if (value->is_array()) {
    for (const Value& r : *value) {
      const std::int64_t rank = whole_of(&r, -1);
      if (rank < 0 || rank > kHighestRank) return {};
      ranks.push_back(static_cast<int>(rank));
    }
    return ranks;
  }
  if (!value->is_string() || contains(value->get_ref<const std::string&>(), "..")) return ranks;
  int rank = -1;
  for (const char c : value->get_ref<const std::string&>() + "]") {
    if (config::is_digit(c)) {
      if (rank > kHighestRank / 10) return {};
      rank = std::max(rank, 0) * 10 + (c - '0');
    } else if (rank >= 0) {
      ranks.push_back(rank);
      rank = -1;
    }
  }
  return ranks;
}

/// The product of the numbers of "grid".
std::int64_t product_of(const Value* value) {
  constexpr std::int64_t kMostBlocks = std::int64_t{1} << 40;
  if (value == nullptr || !value->is_array()) return 0;
  std::int64_t product = 1;
  for (const Value& side : *value) {
    const std::int64_t n = whole_of(&side, 1);
    if (n < 1 || n > kMostBlocks / product) return 0;
    product *= n;
  }
  return product;
}

/// The sum of "[4, 12]".
std::int64_t sum_of(const Value* value) {
  std::int64_t sum = 0;
  for (const int n : ranks_of(value)) sum += n;
  return sum;
}

class KinetoCollector {
 public:
  void event(const Value& e) {
    ++out.events;
    const std::string phase = text_of(member(e, "ph"));
    if (phase != "X" || !fault_.empty()) return;
    limit(out.inside_nccl.size() + out.operators.size() + out.collectives.size() + out.steps.size(),
          kMostCalls, "operators that matter");
    const std::string category = lower_case(text_of(member(e, "cat")));
    const Value* args = member(e, "args");
    static const Value kNothing = Value::object();
    const Value& a = args == nullptr ? kNothing : *args;
    KinetoSpan span{.name = text_of(member(e, "name")),
                    .begin = number_of(member(e, "ts"), 0),
                    .end = 0,
                    .thread = whole_of(member(e, "tid"), 0)};
    span.end = span.begin + std::max(0.0, number_of(member(e, "dur"), 0));
    if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" ||
        category == "memcpy" || category == "memset") {
      activity(category, span, a, whole_of(member(e, "pid"), 0));
    } else if (category == "cuda_runtime" || category == "cuda_driver" || category == "runtime" ||
               category == "hip_runtime" || category == "driver") {
      call(span, a);
    } else if (category == "cuda_sync") {
      wait(span, a);
    } else if (category == "cpu_op" || category == "operator") {
      host_operator(span, a);
    } else if (category == "user_annotation") {
      if (span.name.starts_with("ProfilerStep")) out.steps.push_back(span);
      if (span.name.starts_with("nccl:")) out.inside_nccl.push_back(span);
    }
  }

  void value(const std::string& key, const Value& v) {
    if (key == "deviceProperties" && v.is_array() && !v.empty()) {
      out.sms = static_cast<int>(std::clamp<std::int64_t>(whole_of(member(v[0], "numSms"), 0), 0, 100'000));
      out.gpu = text_of(member(v[0], "name"));
    }
    if (key != "distributedInfo") return;
    out.rank = static_cast<int>(std::clamp<std::int64_t>(whole_of(member(v, "rank"), -1), -1, 1'000'000));
    out.world =
        static_cast<int>(std::clamp<std::int64_t>(whole_of(member(v, "world_size"), 0), 0, 1'000'000));
    const Value* groups = member(v, "pg_config");
    if (groups == nullptr || !groups->is_array()) return;
    for (const Value& g : *groups) {
      const std::string name = text_of(member(g, "pg_name"));
      if (const auto ranks = ranks_of(member(g, "ranks")); !ranks.empty()) out.groups[name] = ranks;
    }
  }

  const std::string& fault() const { return fault_; }

  KinetoTrace out;

 private:
  void limit(std::size_t n, std::size_t most, const char* what) {
    if (n > most && fault_.empty()) fault_ = fmt::format("more than {} {}", most, what);
  }

  void activity(const std::string& category, const KinetoSpan& span, const Value& a, std::int64_t device) {
    if (out.activities.size() > kMostTraceNodes)
      return limit(out.activities.size(), kMostTraceNodes, "kernels");
    KinetoActivity k{.kind = contains(category, "memcpy")   ? KinetoActivity::Kind::kCopy
                             : contains(category, "memset") ? KinetoActivity::Kind::kSet
                                                            : KinetoActivity::Kind::kKernel,
                     .name = span.name,
                     .begin = span.begin,
                     .end = span.end,
                     .stream = whole_of(member(a, "stream"), span.thread),
                     .device = whole_of(member(a, "device"), device),
                     .correlation = whole_of(member(a, "correlation"), -1),
                     .external = whole_of(member(a, "External id"), whole_of(member(a, "external id"), -1)),
                     .blocks = product_of(member(a, "grid")),
                     .bytes = std::max<std::int64_t>(0, whole_of(member(a, "bytes"), 0))};
    if (member(a, "Collective name") != nullptr) k.collective = collective(a);
    out.activities.push_back(std::move(k));
  }

  int collective(const Value& a) {
    out.collectives.push_back(
        {.name = text_of(member(a, "Collective name")),
         .type = text_of(member(a, "dtype")),
         .in = std::max(whole_of(member(a, "In msg nelems"), 0), sum_of(member(a, "In split size"))),
         .out = std::max(whole_of(member(a, "Out msg nelems"), 0), sum_of(member(a, "Out split size"))),
         .group_size =
             static_cast<int>(std::clamp<std::int64_t>(whole_of(member(a, "Group size"), 0), 0, 1'000'000)),
         .group = text_of(member(a, "Process Group Name")),
         .group_about = text_of(member(a, "Process Group Description")),
         .ranks = ranks_of(member(a, "Process Group Ranks")),
         .source =
             static_cast<int>(std::clamp<std::int64_t>(whole_of(member(a, "Src Rank"), -1), -1, 1'000'000)),
         .destination =
             static_cast<int>(std::clamp<std::int64_t>(whole_of(member(a, "Dst Rank"), -1), -1, 1'000'000))});
    return static_cast<int>(out.collectives.size()) - 1;
  }

  void call(const KinetoSpan& span, const Value& a) {
    std::optional<KinetoCall::Kind> kind;
    if (contains(span.name, "Launch") || contains(span.name, "Memset")) kind = KinetoCall::Kind::kLaunch;
    // A copy that is not asynchronous is launched, and waited for.
    if (contains(span.name, "Memcpy")) kind = KinetoCall::Kind::kLaunch;
    if (contains(span.name, "EventRecord")) kind = KinetoCall::Kind::kRecord;
    if (contains(span.name, "StreamWaitEvent")) kind = KinetoCall::Kind::kWaitEvent;
    if (contains(span.name, "Synchronize")) kind = KinetoCall::Kind::kSynchronize;
    if (!kind) return;
    if (out.calls.size() > kMostCalls) return limit(out.calls.size(), kMostCalls, "calls of the runtime");
    out.calls.push_back({.kind = *kind,
                         .begin = span.begin,
                         .end = span.end,
                         .thread = span.thread,
                         .correlation = whole_of(member(a, "correlation"), -1)});
  }

  void wait(const KinetoSpan& span, const Value& a) {
    const std::string kind = text_of(member(a, "cuda_sync_kind"));
    if (kind != "Stream Wait Event" && !contains(span.name, "Stream Wait Event")) return;
    const KinetoWait w{.stream = whole_of(member(a, "stream"), span.thread),
                       .correlation = whole_of(member(a, "correlation"), -1),
                       .other = whole_of(member(a, "wait_on_stream"), -1),
                       .recorded = whole_of(member(a, "wait_on_cuda_event_record_corr_id"), -1)};
    if (w.other >= 0 && out.waits.size() < kMostCalls) out.waits.push_back(w);
  }

  void host_operator(const KinetoSpan& span, const Value& a) {
    const std::int64_t external = whole_of(member(a, "External id"), whole_of(member(a, "external id"), -1));
    if (span.name.starts_with("c10d::") || span.name.starts_with("nccl:") ||
        contains(span.name, "record_param_comms"))
      out.inside_nccl.push_back(span);
    if (member(a, "Collective name") != nullptr) {
      out.collective_of_operator.emplace(external, collective(a));
      return;
    }
    const Value* dims = member(a, "Input Dims");
    if (dims == nullptr) dims = member(a, "Input dims");
    if (dims == nullptr || !dims->is_array() || external < 0) return;
    if (span.name != "aten::mm" && span.name != "aten::addmm" && span.name != "aten::bmm" &&
        span.name != "aten::baddbmm" && span.name != "aten::_scaled_mm" && span.name != "aten::linear")
      return;
    KinetoOperator op{.name = span.name, .dims = {}, .types = {}};
    for (const Value& shape : *dims) {
      op.dims.emplace_back();
      if (!shape.is_array()) continue;
      for (const Value& side : shape) op.dims.back().push_back(whole_of(&side, 0));
    }
    if (const Value* types = member(a, "Input type"); types != nullptr && types->is_array()) {
      for (const Value& t : *types) op.types.push_back(text_of(&t));
    }
    out.operators.emplace(external, std::move(op));
  }

  std::string fault_;
};

}  // namespace

sim::Result<KinetoTrace> read_kineto_events(ByteStream& stream, const std::string& file) {
  KinetoCollector collector;
  const JsonStreamWatch watch{
      .list = "traceEvents",
      .item = [&](const Value& e) { collector.event(e); },
      .also = {"deviceProperties", "distributedInfo"},
      .value = [&](const std::string& key, const Value& v) { collector.value(key, v); },
  };
  if (auto read = stream_json(stream, file, watch); !read) return sim::fail_as(std::move(read));
  if (!collector.fault().empty()) return sim::fail(config::at(file, {}, collector.fault()));
  return std::move(collector.out);
}

}  // namespace infold::formats

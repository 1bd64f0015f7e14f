// Formatting of a kernel's result.
#include "report/kernel_report.h"
#include "report/json.h"
#include "report/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace infold::report {

namespace {

struct Rates {
  double tflops = 0;
  double hbm_gbps = 0;
  double copy_gbps = 0;
  double l2_hit = 0;
};
Rates rates_of(const KernelReport& report) {
  const study::KernelResult& r = report.result;
  Rates out;
  const double s = r.time.in_s();
  if (s > 0) {
    out.tflops = r.flops / s * 1e-12;
    out.hbm_gbps = static_cast<double>(r.hbm_bytes) / s * 1e-9;
    out.copy_gbps = 2 * static_cast<double>(report.copied.count()) / s * 1e-9;
  }
  if (r.l2_read_bytes > 0) {
    // A block is fetched once for all reads of it. If L2 is so small that the block is evicted before they
    // come, more is fetched than read, and nothing hits.
    out.l2_hit =
        std::max(1 - static_cast<double>(r.hbm_read_bytes) / static_cast<double>(r.l2_read_bytes), 0.0);
  }
  return out;
}

std::string tile_text(const gpu::TilePlan& t) {
  return fmt::format("{}x{}x{}", t.m, t.n, t.k);
}

nlohmann::ordered_json value_of(const std::string& text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error == std::errc{} && end == text.data() + text.size()) return n;
  return text;
}

std::string beside_text(const BesideReport& b) {
  const study::BesideResult& r = b.result;
  std::string text = fmt::format("# beside {} of {} bytes by {}/{}/{} on {}, {} SMs per GPU\n", b.collective,
                                 b.bytes.count(), b.algorithm, b.protocol, b.engine, b.system, r.sms);
  const auto row = [&](std::string_view name, sim::Time alone, sim::Time beside, double slowdown, int count) {
    text += fmt::format("{:<16} {:>12.2f} us alone {:>12.2f} us beside {:>+8.1f} %  ({} timed)\n", name,
                        alone.in_us(), beside.in_us(), slowdown * 100, count);
  };
  row("kernel", r.kernel_alone, r.kernel, r.kernel_slowdown(), r.kernels);
  row("collective", r.collective_alone, r.collective, r.collective_slowdown(), r.collectives);
  if (b.hypothetical.value_or(false)) {
    text += fmt::format("# hypothetical: {} on {}: its switches are not built to do this\n", b.algorithm,
                        b.system);
  }
  return text;
}

nlohmann::ordered_json beside_json(const BesideReport& b) {
  const study::BesideResult& r = b.result;
  Json actors = Json::object();
  for (const auto& [name, actor] :
       {std::pair{"compute", gpu::Actor::kCompute}, std::pair{"collective", gpu::Actor::kCollective},
        std::pair{"copy", gpu::Actor::kCopy}}) {
    const gpu::Traffic& t = r.traffic[actor];
    actors[name] = {{"hbm_bytes", t.hbm_read + t.hbm_written},
                    {"l2_bytes", t.l2_read + t.l2_written},
                    {"sm_us", rounded(r.sm_time[actor].in_us())}};
  }
  Json json = {{"collective", b.collective},
               {"system", b.system},
               {"algo", b.algorithm},
               {"proto", b.protocol},
               {"engine", b.engine},
               {"bytes", b.bytes.count()},
               {"sms", r.sms},
               {"kernel_alone_us", rounded(r.kernel_alone.in_us())},
               {"kernel_us", rounded(r.kernel.in_us())},
               {"collective_alone_us", rounded(r.collective_alone.in_us())},
               {"collective_us", rounded(r.collective.in_us())},
               {"kernel_slowdown", rounded(r.kernel_slowdown())},
               {"collective_slowdown", rounded(r.collective_slowdown())},
               {"actors", actors}};
  if (b.hypothetical) json["hypothetical"] = *b.hypothetical;
  return json;
}

}  // namespace

std::string kernel_text(const KernelReport& report) {
  const study::KernelResult& r = report.result;
  const Rates rates = rates_of(report);
  std::string shape;
  for (const auto& [name, value] : report.shape) shape += fmt::format(" {} {}", name, value);
  std::string text =
      fmt::format("# infold bench {}: {} {}{}\n", report.kernel, report.gpu, report.dtype, shape);
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<16} {:>12}\n", name, value);
  };
  line("time (us)", fmt::format("{:.2f}", r.time.in_us()));
  if (r.flops > 0) line("TFLOPS", fmt::format("{:.2f}", rates.tflops));
  if (report.copied > sim::Bytes{}) line("copy (GB/s)", fmt::format("{:.1f}", rates.copy_gbps));
  line("HBM (GB/s)", fmt::format("{:.1f}", rates.hbm_gbps));
  line("HBM (MB)", fmt::format("{:.2f}", static_cast<double>(r.hbm_bytes) * 1e-6));
  line("L2 (MB)", fmt::format("{:.2f}", static_cast<double>(r.l2_bytes) * 1e-6));
  line("L2 hits", fmt::format("{:.1f} %", rates.l2_hit * 100));
  if (r.tile) {
    line("tile", tile_text(*r.tile));
    line("split", fmt::format("{}", r.tile->split));
  }
  if (r.kernels > 0) {
    line("workgroups", fmt::format("{}", r.workgroups));
    line("waves", fmt::format("{}", r.waves));
  }
  if (report.sms_taken > 0) line("SMs taken", fmt::format("{}", report.sms_taken));
  if (report.sms_reserved > 0) line("SMs reserved", fmt::format("{}", report.sms_reserved));
  if (report.beside) text += beside_text(*report.beside);
  if (report.wall_s) {
    text += fmt::format("# simulated {:.2f} million events in {:.2f} s\n",
                        static_cast<double>(r.events) * 1e-6, *report.wall_s);
  }
  return text;
}

std::string kernel_json(const KernelReport& report) {
  const study::KernelResult& r = report.result;
  const Rates rates = rates_of(report);
  Json shape = Json::object();
  for (const auto& [name, value] : report.shape) shape[name] = value_of(value);
  Json json = {{"schema", 1},
               {"command", "bench"},
               {"kernel", report.kernel},
               {"gpu", report.gpu},
               {"dtype", report.dtype},
               {"shape", shape},
               {"time_us", rounded(r.time.in_us())},
               {"tflops", rounded(rates.tflops)},
               {"hbm_gbps", rounded(rates.hbm_gbps)},
               {"l2_hit", rounded(rates.l2_hit)},
               {"waves", r.waves},
               {"workgroups", r.workgroups},
               {"kernels", r.kernels},
               {"flops", r.flops},
               {"hbm_bytes", r.hbm_bytes},
               {"l2_bytes", r.l2_bytes},
               {"sms_taken", report.sms_taken},
               {"sms_reserved", report.sms_reserved}};
  if (report.copied > sim::Bytes{}) json["copy_gbps"] = rounded(rates.copy_gbps);
  if (r.tile) {
    json["tile"] = tile_text(*r.tile);
    json["stages"] = r.tile->stages;
    json["split"] = r.tile->split;
  }
  if (report.beside) json["beside"] = beside_json(*report.beside);
  Json sim = {{"events", r.events}};
  if (report.wall_s) sim["wall_s"] = *report.wall_s;
  json["sim"] = sim;
  return json.dump(1) + "\n";
}

}  // namespace infold::report

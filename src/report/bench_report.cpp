// Formatting of bench results.
#include "report/bench_report.h"
#include "report/json.h"
#include "report/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "study/collective/fairness.h"

namespace infold::report {

namespace {

std::string burst_text(sim::Bytes burst) {
  if (burst == sim::Bytes{}) return "packet";
  return burst.count() % 1024 == 0 ? fmt::format("{} KiB", burst.count() / 1024)
                                   : fmt::format("{} B", burst.count());
}

/// Significant digits as nccl-tests prints them: narrow numbers keep more decimals.
std::string narrow(double v) {
  if (v >= 10000) return fmt::format("{:.0f}", v);
  if (v >= 1000) return fmt::format("{:.1f}", v);
  return fmt::format("{:.2f}", v);
}

/// What a failure cost; empty if nothing failed.
std::string fault_text(const BenchRow& row) {
  if (!row.result.fault) return {};
  const study::FaultReport& f = *row.result.fault;
  if (!f.hit) return fmt::format("# {} fails: too late to matter\n", row.fault);
  return fmt::format("# {} fails: {} us lost, finished by {}\n", row.fault, narrow(f.lost.in_us()),
                     f.finished_by->name);
}

/// Which rows are of machines that do not exist; empty if all do.
std::string hypothetical_text(const BenchReport& report) {
  std::vector<std::string> which;
  for (const BenchRow& row : report.rows) {
    std::string name = fmt::format("{} on {}", row.algo, row.system);
    if (row.hypothetical && std::find(which.begin(), which.end(), name) == which.end())
      which.push_back(std::move(name));
  }
  if (which.empty()) return {};
  return fmt::format("# hypothetical: {}: its switches are not built to do this\n", fmt::join(which, ", "));
}

/// Up to which size the host is slower than the collective; empty if it nowhere is.
std::string host_text(const BenchReport& report) {
  sim::Bytes most;
  std::size_t rows = 0;
  for (const BenchRow& row : report.rows) {
    if (!row.result.host_bound) continue;
    most = sim::max(most, row.bytes);
    ++rows;
  }
  if (rows == 0) return {};
  const std::string sizes = most > sim::Bytes{} ? fmt::format(" (up to {} B)", most.count()) : std::string();
  return fmt::format(
      "# host: {} of {} rows{} take as long as the host needs to enqueue a collective (gpu.host_enqueue)\n",
      rows, report.rows.size(), sizes);
}

/// How collectives that ran at once shared the machine; empty for one.
std::string at_once_text(const study::CollectiveResult& r) {
  if (r.ends.empty()) return {};
  const study::Fairness f = study::fairness_of(r.ends);
  // Among many the ends alone say nothing about how little the slowest had when the first was through.
  const std::string share =
      f.least > 0 ? fmt::format("the slowest had at least {:.1f} % of the fastest's share", f.least * 100)
                  : fmt::format("the last ended {:.1f} % later than the first", f.last_after_first * 100);
  return fmt::format("# {} at once: {:.2f} GB/s of busbw together; {} (Jain's index {:.4f})\n", r.ends.size(),
                     r.busbw_gbps * static_cast<double>(r.ends.size()), share, f.jain);
}

/// Systems of different sizes, each used as a whole: no single number describes all of them.
std::string same_gpus(const BenchReport& report) {
  if (report.mixed) return "all GPUs of ";
  if (report.nodes > 1) return fmt::format("{} GPUs in {} nodes of ", report.gpus, report.nodes);
  return fmt::format("{} GPUs of ", report.gpus);
}

}  // namespace

std::string bench_header(const BenchReport& report) {
  const char* more = report.residency ? " resident   moving" : "";
  const char* units = report.residency ? "             (us)     (us)" : "";
  return fmt::format(
      "# infold bench {}: {}{}\n"
      "#\n"
      "# {:>12} {:>13} {:>6} {:>6} {:>13} {:>16} {:>6} {:>10} {:>8} {:>8} {:>7}{}  {}\n"
      "# {:>12} {:>13} {:>6} {:>6} {:>13} {:>16} {:>6} {:>10} {:>8} {:>8}{}\n",
      report.collective, same_gpus(report), report.system, "size", "count", "type", "redop", "system", "algo",
      "proto", "time", "algbw", "busbw", "#wrong", more, "burst", "(B)", "(elements)", "", "", "", "", "",
      "(us)", "(GB/s)", "(GB/s)", units);
}

std::string bench_line(const BenchReport& report, const BenchRow& row) {
  const study::CollectiveResult& r = row.result;
  const std::string more =
      report.residency ? fmt::format(" {:>8} {:>8}", narrow(r.resident.in_us()), narrow(r.moving.in_us()))
                       : "";
  // The default engine is not printed, nor the one that an in-network algorithm implies.
  const bool plain = row.engine == "sm" || row.result.in_network;
  const std::string algo = plain ? row.algo : fmt::format("{}/{}", row.algo, row.engine);
  const std::string wrong = r.wrong ? fmt::format("{}", *r.wrong) : "N/A";
  return fmt::format("  {:>12} {:>13} {:>6} {:>6} {:>13} {:>16} {:>6} {:>10} {:>8.2f} {:>8.2f} {:>7}{}  {}\n",
                     row.bytes.count(), row.count, report.dtype, report.op, row.system, algo, row.proto,
                     narrow(r.time.in_us()), r.algbw_gbps, r.busbw_gbps, wrong, more, burst_text(r.burst)) +
         fault_text(row) + at_once_text(r);
}

std::string bench_footer(const BenchReport& report) {
  double sum = 0;
  std::uint64_t wrong = 0;
  std::uint64_t hops = 0;
  for (const BenchRow& row : report.rows) {
    sum += row.result.busbw_gbps;
    wrong += row.result.wrong.value_or(0);
    hops += row.result.packet_hops;
  }
  const double mean = report.rows.empty() ? 0 : sum / static_cast<double>(report.rows.size());
  std::string text = "#\n";
  bool chosen = false;
  for (const BenchRow& row : report.rows) chosen = chosen || row.chosen;
  if (wrong > 0) text += fmt::format("# {} values are WRONG\n", wrong);
  text += fmt::format("# Avg bus bandwidth    : {:.3f}\n", mean);
  if (chosen) text += "# auto: algo or proto, where not named, was chosen for each size\n";
  text += hypothetical_text(report);
  text += host_text(report);
  if (report.auto_loss && report.auto_loss->share > 0) {
    text += fmt::format("# auto would take at most {:.1f} % longer than the best (at {} B)\n",
                        report.auto_loss->share * 100, report.auto_loss->bytes.count());
  } else if (report.auto_loss) {
    text += "# auto would take the best at every size\n";
  }
  if (report.residency)
    text += "# resident: a workgroup on its SM; moving: of that, not waiting for data, room or other ranks\n";
  text += fmt::format(
      "# burst: packets simulated one by one (packet), or up to this many bytes of them as one\n");
  if (report.wall_s) {
    text += fmt::format("# simulated {:.1f} million packet-hops in {:.2f} s\n",
                        static_cast<double>(hops) * 1e-6, *report.wall_s);
  }
  return text;
}

std::string bench_json(const BenchReport& report) {
  Json results = Json::array();
  std::uint64_t hops = 0;
  std::uint64_t events = 0;
  for (const BenchRow& row : report.rows) {
    const study::CollectiveResult& r = row.result;
    results.push_back({{"system", row.system},
                       {"gpus", row.gpus},
                       {"algo", row.algo},
                       {"proto", row.proto},
                       {"auto", row.chosen},
                       {"engine", row.engine},
                       {"bytes", row.bytes.count()},
                       {"count", row.count},
                       {"time_us", rounded(r.time.in_us())},
                       {"algbw_gbps", rounded(r.algbw_gbps)},
                       {"busbw_gbps", rounded(r.busbw_gbps)},
                       {"busbw_bound_gbps", rounded(r.bound_gbps)},
                       {"wrong", r.wrong ? Json(*r.wrong) : Json(nullptr)},
                       {"link_bytes_per_gpu", r.link_bytes_per_gpu},
                       {"wire_bytes_per_gpu", r.wire_bytes_per_gpu},
                       {"hbm_bytes_per_gpu", r.hbm_bytes_per_gpu},
                       {"l2_bytes_per_gpu", r.l2_bytes_per_gpu},
                       {"sms", r.sms},
                       {"sm_us_per_gpu", rounded(r.sm_time.in_us())},
                       {"resident_us", rounded(r.resident.in_us())},
                       {"moving_us", rounded(r.moving.in_us())},
                       {"burst_bytes", r.burst.count()}});
    if (row.estimate_us && std::isfinite(*row.estimate_us))
      results.back()["estimate_us"] = rounded(*row.estimate_us);
    if (r.error) results.back()["error"] = {{"largest", r.error->largest}, {"mean", r.error->mean}};
    if (r.fault) {
      results.back()["fault"] = {{"what", row.fault},
                                 {"hit", r.fault->hit},
                                 {"undisturbed_us", rounded(r.fault->undisturbed.in_us())},
                                 {"lost_us", rounded(r.fault->lost.in_us())},
                                 {"finished_by", r.fault->finished_by->name}};
    }
    if (r.replays > 0) results.back()["replays"] = r.replays;
    if (!r.ends.empty()) {
      Json ends = Json::array();
      for (const sim::Time t : r.ends) ends.push_back(rounded(t.in_us()));
      results.back()["ends_us"] = std::move(ends);
      const study::Fairness f = study::fairness_of(r.ends);
      results.back()["fairness"] = {
          {"total_busbw_gbps", rounded(r.busbw_gbps * static_cast<double>(r.ends.size()))},
          {"least_share", rounded(f.least)},
          {"last_after_first", rounded(f.last_after_first)},
          {"jain", rounded(f.jain)}};
    }
    if (r.host_bound) results.back()["host_bound"] = true;
    if (r.in_network) results.back()["hypothetical"] = row.hypothetical;
    if (r.in_network)
      results.back()["inc"] = {{"table_peak_entries", r.in_network->table_peak_entries},
                               {"stalls", r.in_network->stalls},
                               {"evictions", r.in_network->evictions},
                               {"bypasses", r.in_network->bypasses},
                               {"finished_at_gpus", r.in_network->finished_at_gpus},
                               {"port_gates", std::llround(r.in_network->port_gates)},
                               {"port_sram_bytes", r.in_network->port_sram.count()},
                               {"packet_latency_us", rounded(r.in_network->packet_latency.in_us())}};
    hops += r.packet_hops;
    events += r.events;
  }
  Json sim = {{"packet_hops", hops}, {"events", events}};
  if (report.wall_s) sim["wall_s"] = *report.wall_s;
  Json json = {{"schema", 1},
               {"command", "bench"},
               {"collective", report.collective},
               {"system", report.system},
               {"gpus", report.gpus},
               {"dtype", report.dtype},
               {"op", report.op},
               {"results", results},
               {"sim", sim}};
  if (report.nodes > 1) json["nodes"] = report.nodes;
  if (report.auto_loss)
    json["auto_loss"] = {{"share", rounded(report.auto_loss->share)},
                         {"bytes", report.auto_loss->bytes.count()}};
  return json.dump(1) + "\n";
}

}  // namespace infold::report

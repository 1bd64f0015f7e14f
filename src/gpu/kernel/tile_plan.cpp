// Candidates, and how long each would take.
#include "gpu/kernel/tile_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "gpu/sm/sm.h"

namespace infold::gpu {

namespace {

constexpr std::array<std::pair<int, int>, 9> kTiles = {
    {{256, 256}, {256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}, {256, 64}, {64, 256}}};
constexpr int kAccumulatorBytes = 4;
constexpr std::int64_t kThreadRegisters = std::int64_t{64} * 4;
constexpr int kMostSplitPerSm = 16;
constexpr double kNever = 1e30;

double seconds(sim::Time t) {
  return t.in_s();
}

/// The parts of an estimate that depend on how many workgroups run at the same time.
class WaveEstimate {
 public:
  WaveEstimate(const GpuSpec& spec, int sms, const Product& product, const TilePlan& plan)
      : spec_(spec),
        sms_(sms),
        product_(product),
        plan_(plan),
        pace_(pace_of(spec, plan, product.precision)) {
    e_ = element_bytes(product.precision);
    l2_rate_ = static_cast<double>(spec.l2.slice_port.count() * spec.clock.count_hz()) * spec.l2.slices;
    hbm_rate_ = static_cast<double>(spec.hbm.bandwidth.count_bytes_per_s()) * 0.9;
    const std::int64_t slabs = (plan.slabs(product) + plan.split - 1) / plan.split;
    slabs_ = static_cast<double>(slabs);
  }

  /// Time of `workgroups` that are resident together.
  double wave(double workgroups) const {
    const double deepest = std::ceil(workgroups / sms_);  // most workgroups on one SM
    const double m = plan_.m;
    const double n = plan_.n;
    const double k = plan_.k;
    const double multicast = spec_.sm.cluster;
    // Neighbouring tiles share rows and columns: together they load two sides of a square.
    const double down =
        std::clamp(std::sqrt(workgroups * n / m), 1.0, static_cast<double>(plan_.tiles_down(product_)));
    const double frame = (down * m + workgroups / down * n) * k * e_;
    const double latency = seconds(spec_.l2.latency) + seconds(spec_.hbm.access) / 2;
    double slab = seconds(pace_.matrix + pace_.issue) * deepest;
    slab = std::max(slab, seconds(pace_.matrix + pace_.issue + pace_.sync));
    slab = std::max(slab, seconds(pace_.load_port) * deepest);
    slab = std::max(slab, latency / (plan_.stages - 1));
    slab = std::max(slab, workgroups * (m + n / multicast) * k * e_ / l2_rate_);
    slab = std::max(slab, std::min(frame, input_a_slab(workgroups)) / hbm_rate_);
    const double stored = m * n * (plan_.split > 1 ? kAccumulatorBytes : result_bytes(product_.precision));
    const double store = std::max(seconds(pace_.store_port) * deepest, workgroups * stored / hbm_rate_);
    return seconds(spec_.sm.workgroup_start) + latency + slabs_ * slab + store;
  }

 private:
  /// When both operands stay in L2, they are read from memory only once.
  double input_a_slab(double workgroups) const {
    const auto input = static_cast<double>(product_.input.count());
    if (input > static_cast<double>(spec_.l2.capacity.count()) / spec_.l2.copies) return 1e30;
    const double all = static_cast<double>(plan_.tiles(product_)) * plan_.split;
    return input / (slabs_ * std::max(all / workgroups, 1.0));
  }

  const GpuSpec& spec_;
  double sms_;
  const Product& product_;
  const TilePlan& plan_;
  TileLoop::Pace pace_;
  int e_ = 2;
  double l2_rate_ = 0;
  double hbm_rate_ = 0;
  double slabs_ = 0;
};

}  // namespace

Footprint TilePlan::footprint(Precision p) const {
  const int threads = m * n >= 128 * 128 ? 256 : 128;
  // Registers for the sums, and what each thread needs for operands and addresses.
  const std::int64_t registers = std::int64_t{m} * n * kAccumulatorBytes + threads * kThreadRegisters;
  return {.threads = threads,
          .shared_memory = sim::Bytes{static_cast<std::int64_t>(stages) * (m + n) * k * element_bytes(p)},
          .registers = sim::Bytes{registers}};
}

TileLoop::Pace pace_of(const GpuSpec& spec, const TilePlan& plan, Precision precision) {
  const SmSpec& sm = spec.sm;
  const double m = plan.m;
  const double n = plan.n;
  const double k = plan.k;
  const double e = element_bytes(precision);
  const double matrix = 2 * m * n * k / matrix_ops(sm, precision);
  // Operands are written to shared memory once, and read by every fragment of the tile that needs them.
  double columns = std::ceil(n / sm.fragment_cols);
  double rows = std::ceil(m / sm.fragment_rows);
  while (columns * rows < sm.fragments) (n / columns > m / rows ? columns : rows) *= 2;
  const double shared =
      ((m + n) + m * columns + n * rows) * k * e / static_cast<double>(sm.shared_port.count());
  const double port = static_cast<double>(spec.sm_port.count());
  const double stored = m * n * (plan.split > 1 ? kAccumulatorBytes : result_bytes(precision));
  // Barriers and the like cost clocks for every 128 bytes of the depth of a slab.
  const double pieces = std::max(k * e / 128, 0.5);
  return {.matrix = clocks(std::max(matrix, shared), sm.matrix_clock),
          .issue = clocks(sm.slab_issue * pieces, sm.matrix_clock),
          .sync = clocks(sm.slab_sync * pieces, sm.matrix_clock),
          .load_port = clocks((m + n) * k * e / port, sm.matrix_clock),
          .store_port = clocks(stored / port, sm.matrix_clock)};
}

double estimate(const GpuSpec& spec, int sms, const Product& product, const TilePlan& plan) {
  const int per_sm = workgroups_per_sm(spec.sm, plan.footprint(product.precision));
  const double together = static_cast<double>(per_sm) * sms;
  const double all = static_cast<double>(plan.tiles(product)) * plan.split;
  const WaveEstimate waves(spec, sms, product, plan);
  const double full = std::floor(all / together);
  const double rest = all - full * together;
  double time = (full > 0 ? full * waves.wave(together) : 0) + (rest > 0 ? waves.wave(rest) : 0);
  if (plan.split > 1) {
    const double out = static_cast<double>(product.groups * product.m) * static_cast<double>(product.n);
    const double bytes = out * (plan.split * kAccumulatorBytes + result_bytes(product.precision));
    time += seconds(spec.launch_gap + spec.sm.workgroup_start + spec.l2.latency + spec.hbm.access) +
            bytes / (static_cast<double>(spec.hbm.bandwidth.count_bytes_per_s()) * 0.8);
  }
  return time;
}

namespace {
/// Finds the best depth, stages and split for a tile; true if one is better than `best_time`.
void try_tile(const GpuSpec& spec, int sms, const Product& product, int m, int n, TilePlan& best,
              double& best_time) {
  const int e = element_bytes(product.precision);
  for (const int k : {128 / e, 64 / e}) {
    for (const int stages : {2, 3, 4, 6}) {
      TilePlan plan{m, n, k, stages, 1};
      if (workgroups_per_sm(spec.sm, plan.footprint(product.precision)) < 1) continue;
      for (; plan.split == 1 || plan.slabs(product) / plan.split >= 4; plan.split *= 2) {
        const std::int64_t workgroups = plan.tiles(product) * plan.split;
        if (plan.split > 1 && workgroups > std::int64_t{sms} * kMostSplitPerSm) break;
        const double time = estimate(spec, sms, product, plan);
        if (time < best_time * 0.999) {  // among equals the first wins
          best = plan;
          best_time = time;
        }
      }
    }
  }
}
}  // namespace

TilePlan choose_tile(const GpuSpec& spec, int sms, const Product& product) {
  TilePlan best{.m = 64, .n = 64, .k = 64 / element_bytes(product.precision), .stages = 2};
  double best_time = kNever;
  for (const auto& [m, n] : kTiles) {
    try_tile(spec, sms, product, m, n, best, best_time);
  }
  return best;
}

std::optional<TilePlan> choose_stages(const GpuSpec& spec, int sms, const Product& product, int m, int n) {
  TilePlan best;
  double best_time = kNever;
  try_tile(spec, sms, product, m, n, best, best_time);
  if (best_time == kNever) return std::nullopt;
  return best;
}

}  // namespace infold::gpu

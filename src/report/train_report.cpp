// Formatting of training steps.
#include "report/train_report.h"
#include "report/json.h"
#include "report/rounding.h"
#include "report/step_report.h"

#include <fmt/format.h>

#include <cmath>

namespace infold::report {

namespace {
sim::Time step(const TrainReport& r) {
  return r.result.step(r.accumulate);
}
double samples_per_s(const TrainReport& r) {
  return static_cast<double>(r.batch) * r.accumulate / step(r).in_s();
}
std::string bar(sim::Time part, sim::Time whole) {
  constexpr double kWidth = 50;
  const auto n =
      std::lround(kWidth * static_cast<double>(part.count_ps()) / static_cast<double>(whole.count_ps()));
  return n == 0 ? std::string() : "  " + std::string(static_cast<std::size_t>(n), '#');
}
}  // namespace

std::string train_text(const TrainReport& r) {
  const study::TrainResult& s = r.result;
  std::string text =
      fmt::format("{} on one {} of {}: batch {}{}, {}, {}, {}{}\n\n", r.model, r.gpu, r.system, r.batch,
                  (r.tokens > 0 ? fmt::format(" x {} tokens", r.tokens) : std::string()) +
                      (r.accumulate > 1 ? fmt::format(", {} passes per step", r.accumulate) : std::string()),
                  r.dtype, r.fusion, r.optimizer, recomputation(r.recompute));
  const auto line = [&](const char* name, sim::Time t) {
    text += fmt::format("  {:<10} {:>10.3f} ms{}\n", name, ms(t), bar(t, step(r)));
  };
  line("forward", s.forward * r.accumulate);
  line("backward", s.backward * r.accumulate);
  line("optimizer", s.optimizer);
  text += fmt::format("  {:<10} {:>10.3f} ms\n\n", "step", ms(step(r)));
  text += fmt::format("  {:.1f} samples/s, {:.3g} TFLOP/s, {:.0f} GB/s of memory, {} kernels\n",
                      samples_per_s(r), s.flops / s.end.in_s() * 1e-12,
                      static_cast<double>(s.hbm_bytes) / s.end.in_s() * 1e-9, s.kernels);
  text += fmt::format(
      "  products {:.3g} ms, convolutions {:.3g}, attention {:.3g}, streaming kernels {:.3g}\n",
      ms(s.times.products), ms(s.times.convolutions), ms(s.times.attention), ms(s.times.streaming));
  const train::MemoryNeed& m = s.memory;
  const auto gb = [](sim::Bytes n) { return static_cast<double>(n.count()) * 1e-9; };
  text += fmt::format(
      "  memory {:.3g} GB: weights {:.3g}, gradients {:.3g}, optimizer {:.3g}, activations {:.3g}\n",
      gb(m.total()), gb(m.weights), gb(m.gradients), gb(m.optimizer), gb(m.passing));
  if (r.wall_s)
    text += fmt::format("  simulated {:.1f} million events in {:.2f} s\n",
                        static_cast<double>(s.events) * 1e-6, *r.wall_s);
  return text;
}

std::string train_json(const TrainReport& r) {
  const study::TrainResult& s = r.result;
  const train::MemoryNeed& m = s.memory;
  Json json = {{"schema", 1},
               {"command", "train"},
               {"system", r.system},
               {"gpus", 1},
               {"model", r.model},
               {"batch", r.batch},
               {"accumulate", r.accumulate},
               {"tokens", r.tokens},
               {"dtype", r.dtype},
               {"fusion", r.fusion},
               {"optimizer", r.optimizer},
               {"recompute", r.recompute},
               {"sync", "none"},
               {"overlap", false},
               {"algo", "none"},
               {"phases_ms",
                {{"forward", ms(s.forward * r.accumulate)},
                 {"backward", ms(s.backward * r.accumulate)},
                 {"exposed_comm", 0.0},
                 {"optimizer", ms(s.optimizer)},
                 {"waiting", ms(step(r) - (s.forward + s.backward) * r.accumulate - s.optimizer)},
                 {"step", ms(step(r))}}},
               {"backward_alone_ms", ms(s.backward * r.accumulate)},
               {"backward_slowdown", 0.0},
               {"comm_busy_ms", 0.0},
               {"samples_per_s", to_thousandths(samples_per_s(r))},
               {"buckets", Json::array()},
               {"tflops", to_thousandths(s.flops / s.end.in_s() * 1e-12)},
               {"hbm_bytes", s.hbm_bytes},
               {"kernels", s.kernels},
               {"kernel_ms",
                {{"products", ms(s.times.products)},
                 {"convolutions", ms(s.times.convolutions)},
                 {"attention", ms(s.times.attention)},
                 {"streaming", ms(s.times.streaming)}}},
               {"memory_bytes",
                {{"weights", m.weights.count()},
                 {"gradients", m.gradients.count()},
                 {"optimizer", m.optimizer.count()},
                 {"activations", m.passing.count()},
                 {"total", m.total().count()}}}};
  Json sim = {{"events", s.events}};
  if (r.wall_s) sim["wall_s"] = *r.wall_s;
  json["sim"] = sim;
  return json.dump(1) + "\n";
}

}  // namespace infold::report

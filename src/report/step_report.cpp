// Formatting of training steps on several GPUs.
#include "report/step_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/json.h"
#include "report/step_history_report.h"
#include "report/step_json.h"
#include "report/step_use_report.h"
#include "study/hypothetical.h"
#include "study/step/train_run.h"

namespace infold::report {

namespace {

std::string proto_of(const study::Choice& c) {
  return std::string(sim::name_of(c.protocol));
}
std::string algo_of(const study::Choice& c) {
  return std::string(name_of(c));
}
/// Without the engine, which has a field of its own.
std::string algo_of(study::Method m) {
  m.engine = coll::Engine::kSm;
  return name_of(m);
}

std::string bar(char what, sim::Time part, sim::Time whole) {
  constexpr double kWidth = 50;
  const auto n =
      std::lround(kWidth * static_cast<double>(part.count_ps()) / static_cast<double>(whole.count_ps()));
  return std::string(static_cast<std::size_t>(n), what);
}

/// Time of no phase that is a smaller share of the step is not shown.
constexpr double kLeastShown = 0.005;

/// A row of the timeline: dots while the bucket fills, ':' while it waits its turn, '#' while it is reduced.
std::string timeline(const study::BucketResult& b, sim::Time begin, sim::Time end) {
  constexpr std::int64_t kWidth = 56;
  const auto column = [&](sim::Time t) {
    const auto share =
        static_cast<double>((t - begin).count_ps()) / static_cast<double>((end - begin).count_ps());
    return std::clamp<std::int64_t>(std::llround(share * kWidth), 0, kWidth);
  };
  std::string row(kWidth, ' ');
  const auto fill = [&](sim::Time from, sim::Time to, char c) {
    for (std::int64_t i = column(from);
         i < std::max(column(to), column(from) + (c == '#' ? 1 : 0)) && i < kWidth; ++i)
      row[static_cast<std::size_t>(i)] = c;
  };
  fill(b.ready, b.start, ':');
  fill(b.start, b.end, '#');
  return row;
}

std::string bucket_lines(const study::StepResult& r) {
  constexpr std::size_t kMost = 24;
  const sim::Time begin = r.end - r.optimizer - r.exposed - r.backward;
  const sim::Time until = r.end - r.optimizer;
  std::string text = fmt::format(
      "  buckets, from the start of backward to the optimizer (':' ready, '#' being reduced, '|' backward "
      "ends)\n");
  const std::size_t every = (r.buckets.size() + kMost - 1) / kMost;
  for (std::size_t i = 0; i < r.buckets.size(); i += std::max<std::size_t>(every, 1)) {
    const study::BucketResult& b = r.buckets[i];
    std::string row = timeline(b, begin, until);
    const auto end_of_backward = static_cast<std::size_t>(std::llround(
        static_cast<double>(r.backward.count_ps()) / static_cast<double>((until - begin).count_ps()) * 55));
    if (row[end_of_backward] == ' ') row[end_of_backward] = '|';
    text +=
        fmt::format("  {:>4} {:>8.2f} MB {:>10} {:<6} |{}|\n", i, static_cast<double>(b.bytes.count()) * 1e-6,
                    algo_of(b.choice), proto_of(b.choice), row);
  }
  if (every > 1) text += fmt::format("       (one of {} is shown)\n", every);
  return text;
}

/// Whether the step has more to tell than the all-reduces of its buckets.
bool has_other_communication(const study::StepResult& r) {
  return r.communication.size() > 1 ||
         std::ranges::any_of(r.communication, [](const study::CommunicationUse& c) {
           return c.what != coll::Collective::kAllReduce;
         });
}

/// What communicators had of the switches' reduction tables, and whom each waited behind.
Json tables_json(const study::StepResult& r) {
  Json all = Json::array();
  for (const study::TableUse& t : r.tables) {
    Json stalls = Json::array();
    for (const auto& s : t.stalls) stalls.push_back({{"behind", s.behind}, {"times", s.times}});
    all.push_back({{"name", t.communicator},
                   {"table_peak_entries", t.peak_entries},
                   {"sums", t.sums},
                   {"stalls", std::move(stalls)}});
  }
  return all;
}

}  // namespace

std::string layout_text(const train::Layout& l) {
  std::string text;
  const auto add = [&](const char* name, int ranks, bool always) {
    if (ranks > 1 || always) text += fmt::format("{}{} {}", text.empty() ? ", " : " x ", name, ranks);
  };
  if (l.tp * l.pp * l.cp * l.ep == 1) return text;
  add("dp", l.dp, true);
  add("tp", l.tp, false);
  add("cp", l.cp, false);
  add("pp", l.pp, false);
  if (l.ep > 1) text += fmt::format(", ep {} within dp", l.ep);
  return text;
}

StepLabel label_of(const study::StepJob& job, const std::string& model) {
  const train::Shape& sample = job.graph->values.front().shape;
  const gpu::GpuSpec& gpu = job.system->machine.gpu;
  return {.system = job.system->name,
          .gpu = gpu.name,
          .gpus = job.gpus,
          .model = model,
          .batch = job.recipe.batch,
          .tokens = sample.kind == train::Shape::Kind::kTokens ? static_cast<int>(sample.height) : 0,
          .dtype = std::string(sim::name_of(job.recipe.numbers)),
          .fusion = std::string(sim::name_of(job.recipe.fusion)),
          .optimizer = std::string(sim::name_of(job.recipe.optimizer)),
          .recompute = std::string(sim::name_of(job.recipe.recompute)),
          .sync = std::string(sim::name_of(job.sync.kind)),
          .layout = train::fill(job.layout, job.gpus).value_or(job.layout),
          .micro_batches = job.pipeline.micro_batches,
          .schedule = train::fill(job.layout, job.gpus).value_or(job.layout).pp > 1
                          ? std::string(sim::name_of(job.pipeline.schedule))
                          : std::string(),
          .virtual_stages = job.pipeline.virtual_stages,
          .parameters = job.graph->parameter_count(),
          .flops_per_sample = 3 * job.graph->forward_flops(),
          .peak_flops_per_gpu = study::peak_flops(gpu, job.recipe),
          .overlap = job.overlap,
          .method = job.method,
          .built = job.system->machine.inc.unit};
}

bool is_hypothetical(const StepLabel& label, const study::Method& method) {
  return study::is_hypothetical(label.built, method);
}

std::string hypothetical_text(const StepLabel& label, std::span<const study::Method> methods) {
  std::vector<std::string> which;
  for (const study::Method& m : methods) {
    const std::string name = name_of(m);
    if (is_hypothetical(label, m) && std::find(which.begin(), which.end(), name) == which.end())
      which.push_back(name);
  }
  if (which.empty()) return {};
  return fmt::format("  hypothetical: {} on {}: its switches are not built to do this\n",
                     fmt::join(which, ", "), label.system);
}

double samples_per_s(const StepLabel& label, const study::StepResult& r) {
  return static_cast<double>(label.batch) * label.layout.dp * label.micro_batches * r.passes /
         r.step().in_s();
}

double mfu(const StepLabel& label, const study::StepResult& r) {
  return samples_per_s(label, r) * label.flops_per_sample / (label.gpus * label.peak_flops_per_gpu);
}

std::string recomputation(const std::string& what) {
  return what == "none" ? std::string() : fmt::format(", {} recomputation", what);
}

std::string title(const StepLabel& l, int passes) {
  const bool shared = l.layout.dp < l.gpus;
  return fmt::format("{} on {} {} of {}: batch {}{}{} per {}, {}, {}, {}{}{}", l.model, l.gpus, l.gpu,
                     l.system, l.batch, l.tokens > 0 ? fmt::format(" x {} tokens", l.tokens) : std::string(),
                     l.micro_batches > 1 ? fmt::format(" x {} micro-batches", l.micro_batches)
                     : passes > 1        ? fmt::format(" x {} passes", passes)
                                         : std::string(),
                     shared ? "replica" : "GPU", l.dtype, l.fusion, l.optimizer, recomputation(l.recompute),
                     layout_text(l.layout));
}

std::string step_text(const StepReport& report) {
  const study::StepResult& r = report.result;
  const StepLabel& l = report.label;
  std::string text =
      fmt::format("{}\n{} of gradients by {}, {}\n\n", title(l, r.passes),
                  l.overlap ? "overlapped reduction" : "reduction after backward", l.sync, name_of(l.method));
  const sim::Time step = r.step();
  const auto line = [&](const char* name, sim::Time t, char c) {
    text += fmt::format("  {:<13} {:>10.3f} ms  {}\n", name, ms(t), bar(c, t, step));
  };
  if (r.passes > 1) line("earlier passes", r.passes_before(), '.');
  const sim::Time waiting = r.passes > 1 ? sim::Time{} : r.between_phases();
  const bool waits = has_other_communication(r) && waiting.in_s() > kLeastShown * step.in_s();
  if (waits) line("waiting", waiting, '-');
  line("forward", r.forward, '>');
  line("backward", r.backward, '<');
  line("exposed comm", r.exposed, '~');
  line("optimizer", r.optimizer, 'o');
  text += fmt::format("  {:<13} {:>10.3f} ms  {}{}{}{}{}\n\n", "step", ms(step),
                      waits ? bar('-', waiting, step) : std::string(), bar('>', r.forward, step),
                      bar('<', r.backward, step), bar('~', r.exposed, step), bar('o', r.optimizer, step));
  text += fmt::format(
      "  backward alone {:.3f} ms: {:+.1f} % beside communication ({:+.1f} % while a collective runs)\n",
      ms(r.alone.times.backward()), r.slowdown() * 100, r.slowdown_beside() * 100);
  text += fmt::format("  communicating {:.3f} ms, {:.3f} of it behind backward, on {} SMs\n",
                      ms(r.communicating), ms(r.communicating_in_backward), r.sms);
  text += fmt::format("  {:.1f} samples/s\n\n", samples_per_s(l, r));
  if (has_other_communication(r)) {
    text +=
        fmt::format("  compute waited {:.3f} ms for communication{}; memory {:.1f} GB\n", ms(r.waited),
                    r.bubble > sim::Time{} ? fmt::format(", bubble {:.3f} ms", ms(r.bubble)) : std::string(),
                    static_cast<double>(r.memory.total().count()) * 1e-9);
    if (l.tokens > 0)
      text += fmt::format("  {:.0f} tokens/s per GPU, MFU {:.1f} %\n",
                          samples_per_s(l, r) * l.tokens / l.gpus, mfu(l, r) * 100);
    text += fmt::format("\n{}\n{}\n", communication_lines(r.communication), kernel_lines(r.kernels));
  } else {
    text += bucket_lines(r);
  }
  text += hypothetical_text(l, std::span(&l.method, 1));
  if (r.fidelity == study::Fidelity::kComposed) {
    text += fmt::format(
        "  fidelity: composed: each distinct kernel, collective and pair in detail, the step put "
        "together{}\n",
        r.fidelity_error ? fmt::format("; such steps were up to {:.1f} % off", *r.fidelity_error * 100)
                         : std::string("; not measured for such steps"));
  }
  text +=
      fmt::format("  burst: {}\n", r.burst == sim::Bytes{}
                                       ? std::string("packet by packet")
                                       : fmt::format("up to {} B of packets travel as one", r.burst.count()));
  if (r.simulated < l.gpus) {
    text += fmt::format("  fold: all GPUs do the same, so {} are simulated for {}\n", r.simulated, l.gpus);
  }
  if (report.wall_s) {
    text += fmt::format("  simulated {:.1f} million events, {:.1f} million packet-hops in {:.2f} s\n",
                        static_cast<double>(r.events) * 1e-6, static_cast<double>(r.packet_hops) * 1e-6,
                        *report.wall_s);
  }
  return text;
}

Json step_fields(const StepLabel& l, const study::StepResult& r) {
  Json buckets = Json::array();
  for (std::size_t i = 0; i < r.buckets.size(); ++i) {
    const study::BucketResult& b = r.buckets[i];
    buckets.push_back({{"index", i},
                       {"bytes", b.bytes.count()},
                       {"elements", b.elements},
                       {"algo", algo_of(b.choice)},
                       {"proto", proto_of(b.choice)},
                       {"ready_ms", ms(b.ready)},
                       {"start_ms", ms(b.start)},
                       {"end_ms", ms(b.end)}});
  }
  Json fields = {{"system", l.system},
                 {"gpus", l.gpus},
                 {"model", l.model},
                 {"batch", l.batch},
                 {"accumulate", r.passes},
                 {"tokens", l.tokens},
                 {"dtype", l.dtype},
                 {"fusion", l.fusion},
                 {"optimizer", l.optimizer},
                 {"recompute", l.recompute},
                 {"sync", l.sync},
                 {"overlap", l.overlap},
                 {"algo", algo_of(l.method)},
                 {"engine", sim::name_of(l.method.engine)},
                 {"phases_ms",
                  {{"forward", ms(r.all_forward())},
                   {"backward", ms(r.all_backward())},
                   {"exposed_comm", ms(r.exposed)},
                   {"optimizer", ms(r.optimizer)},
                   {"waiting", ms(r.between_phases())},
                   {"step", ms(r.step())}}},
                 {"backward_alone_ms", ms(r.alone.times.backward() * r.passes)},
                 {"backward_slowdown",
                  rounded(r.all_backward().in_s() / (r.alone.times.backward() * r.passes).in_s() - 1)},
                 {"slowdown_while_communicating", rounded(r.slowdown_beside())},
                 {"comm_busy_ms", ms(r.communicating)},
                 {"comm_in_backward_ms", ms(r.communicating_in_backward)},
                 {"comm_sms", r.sms},
                 {"samples_per_s", std::round(samples_per_s(l, r) * 1e3) / 1e3},
                 {"burst_bytes", r.burst.count()},
                 {"fidelity", sim::name_of(r.fidelity)},
                 {"fidelity_error", r.fidelity_error ? Json(rounded(*r.fidelity_error)) : Json(nullptr)},
                 {"gpus_simulated", r.simulated},
                 {"last_pass_ms",
                  {{"backward_start", ms(r.end - r.optimizer - r.exposed - r.backward)},
                   {"backward_end", ms(r.end - r.optimizer - r.exposed)},
                   {"optimizer_start", ms(r.end - r.optimizer)},
                   {"end", ms(r.end)}}},
                 {"parallel",
                  {{"dp", l.layout.dp},
                   {"tp", l.layout.tp},
                   {"pp", l.layout.pp},
                   {"ep", l.layout.ep},
                   {"cp", l.layout.cp},
                   {"sync", l.sync}}},
                 {"micro_batches", l.micro_batches},
                 {"parameters", l.parameters},
                 {"tokens_per_s_per_gpu", std::round(samples_per_s(l, r) * l.tokens / l.gpus * 1e3) / 1e3},
                 {"mfu", rounded(mfu(l, r))},
                 {"forward_slowdown", rounded(r.forward.in_s() / r.alone.times.forward().in_s() - 1)},
                 {"exposed_comm_ms", ms(r.waited)},
                 {"bubble_ms", ms(r.bubble)},
                 {"memory_gb", rounded(static_cast<double>(r.memory.total().count()) * 1e-9)},
                 {"comm", communication_json(r.communication)},
                 {"kernels", kernels_json(r.kernels)},
                 {"buckets", buckets}};
  if (!r.history.pipeline.empty()) {
    fields["schedule"] = l.schedule;
    if (l.virtual_stages > 1) fields["virtual_stages"] = l.virtual_stages;
  }
  if (in_network(l.method)) fields["hypothetical"] = is_hypothetical(l, l.method);
  if (!r.tables.empty()) fields["tables"] = tables_json(r);
  return fields;
}

std::string step_json(const StepReport& report) {
  const study::StepResult& r = report.result;
  Json json = {{"schema", 1}, {"command", "train"}};
  json.update(step_fields(report.label, r));
  const train::MemoryNeed& m = r.memory;
  json["memory_bytes"] = {{"weights", m.weights.count()},
                          {"gradients", m.gradients.count()},
                          {"optimizer", m.optimizer.count()},
                          {"activations", m.passing.count()}};
  if (m.gathered > sim::Bytes{}) json["memory_bytes"]["gathered"] = m.gathered.count();
  json["memory_bytes"]["total"] = m.total().count();
  if (!r.history.pipeline.empty()) json["pipeline"] = pipeline_json(r.history);
  Json sim = {{"events", r.events}, {"packet_hops", r.packet_hops}};
  if (report.wall_s) sim["wall_s"] = *report.wall_s;
  json["sim"] = sim;
  return json.dump(1) + "\n";
}

}  // namespace infold::report

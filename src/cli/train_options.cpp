// Turns words into a training step.
#include "cli/train_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <optional>
#include <utility>

#include "cli/app.h"
#include "cli/bench_options.h"
#include "cli/interrupt.h"
#include "cli/kernel_options.h"
#include "cli/pick.h"
#include "cli/systems.h"
#include "config/catalog.h"
#include "config/study_file.h"
#include "config/yaml/units.h"
#include "study/hypothetical.h"

namespace infold::cli {

namespace {

sim::Status pick_size(std::string_view option, const std::string& text, sim::Bytes& value) {
  if (text.empty()) return {};
  const auto parsed = parse_size_with_unit(option, text);
  if (!parsed) return sim::fail(parsed.error());
  value = *parsed;
  if (value < sim::Bytes{1} || value > sim::Bytes::gib(1024))
    return sim::fail(fmt::format("{}: {} is not between 1 B and 1 TiB", option, text));
  return {};
}

sim::Status pick_sync(const TrainArguments& a, train::SyncSpec& sync) {
  if (auto e = pick("synchroniser", a.sync, sync.kind); !e) return e;
  if (auto e = pick_size("--bucket", a.bucket, sync.bucket); !e) return e;
  // A first bucket larger than the others is not meant.
  sync.first_bucket = sim::min(sync.first_bucket, sync.bucket);
  if (auto e = pick_size("--first-bucket", a.first_bucket, sync.first_bucket); !e) return e;
  if (auto e = pick_size("--fusion-size", a.fusion_size, sync.fusion); !e) return e;
  sync.gradient_as_view = a.view;
  sync.packs = a.packs;
  if (a.cycle.empty()) return {};
  const auto parsed = config::parse_time(a.cycle);
  if (!parsed) return sim::fail(sim::prefixed("--cycle", parsed.error()));
  sync.cycle = *parsed;
  if (sync.cycle < sim::Time::us(1) || sync.cycle > sim::Time::us(10'000'000))
    return sim::fail(fmt::format("--cycle: {} is not between 1 us and 10 s", a.cycle));
  return {};
}

/// What the collectives are, by the rules of 'bench'.
sim::Status pick_collectives(const TrainArguments& a, TrainSetup& setup) {
  BenchArguments bench;
  bench.collective = "all_reduce";
  bench.protocols = a.protocol;
  bench.burst = a.burst;
  bench.skew = a.skew;
  const auto options = understand(bench);
  if (!options) return sim::fail_as(options);
  if (options->protocols.size() != 1) return sim::fail("--proto: one protocol at a time");
  coll::Engine engine{};
  if (auto e = pick("engine", a.engine, engine); !e) return e;
  for (const std::string& text : split(a.algorithms)) {
    const auto method = config::parse_method(text);
    if (!method) return sim::fail_as(method);
    setup.methods.push_back(*method);
    if (text.find('@') == std::string::npos) setup.methods.back().engine = engine;
  }
  setup.job.method = setup.methods.front();
  setup.job.protocol = options->protocols.front();
  setup.job.burst = options->burst;
  if (auto e = pick("--fold", a.fold, setup.job.fold); !e) return e;
  if (options->skew > sim::Time{}) setup.job.delays = study::skewed(setup.job.gpus, options->skew, a.seed);
  return {};
}

sim::Status pick_recipe(const TrainArguments& a, train::Recipe& recipe) {
  recipe.batch = a.batch;
  recipe.accumulate = a.accumulate;
  if (auto e = pick("data type", a.dtype, recipe.numbers); !e) return e;
  if (auto e = pick("fusion", a.fusion, recipe.fusion); !e) return e;
  if (auto e = pick("recomputation", a.recompute, recipe.recompute); !e) return e;
  return pick("optimizer", a.optimizer, recipe.optimizer);
}

sim::Status pick_sharing(const TrainArguments& a, gpu::CoreOptions& core) {
  auto contention = understand_contention(a.without);
  if (!contention) return sim::fail_as(std::move(contention));
  core.contention = *contention;
  core.reserved_sms = a.sms_reserved;
  core.collective_priority = a.priority;
  return {};
}

void add_sync_arguments(CLI::App& c, TrainArguments& a) {
  c.add_option("--sync", a.sync, "who brings gradients together: ddp, horovod, tensorflow or per-tensor")
      ->capture_default_str();
  c.add_option("--bucket", a.bucket, "ddp: bytes of a bucket (default 25MiB)");
  c.add_option("--first-bucket", a.first_bucket, "ddp: of the first one (default 1MiB)");
  c.add_flag("--gradient-as-view", a.view, "ddp: gradients are parts of their buckets, nothing is copied");
  c.add_option("--fusion-size", a.fusion_size, "horovod: bytes fused at most (default 128MiB)");
  c.add_option("--cycle", a.cycle, "horovod: time between two looks (default 1ms)");
  c.add_option("--packs", a.packs, "tensorflow: reductions of equal size")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

void add_collective_arguments(CLI::App& c, TrainArguments& a, bool several) {
  c.add_option("--algo", a.algorithms,
               several ? "algorithms, with commas; auto: choose for each bucket; ring@dma: on another engine"
                       : "algorithm; auto: choose for each bucket")
      ->capture_default_str();
  c.add_option("--engine", a.engine, "who carries them out: sm, dma or ace")->capture_default_str();
  c.add_option("--proto", a.protocol, "wire protocol: simple, ll, ll128 or auto")->capture_default_str();
  c.add_option("--channels", a.channels, "workgroups of a collective on each GPU (default: the system's)")
      ->check(CLI::Range(1, 256));
  add_what_if_argument(c, a.what_if);
  c.add_option("--priority", a.priority, "of the collectives' stream; compute has 0")
      ->check(CLI::Range(-100, 100))
      ->capture_default_str();
  c.add_option("--sms-reserved", a.sms_reserved, "SMs that compute must leave to collectives")
      ->check(CLI::Range(0, 4096));
  c.add_option("--without", a.without,
               "give compute and collectives their own of sm, l2, hbm or link, e.g. sm,hbm");
  c.add_option("--skew", a.skew, "each GPU begins the step late by up to so much, e.g. 200us");
  c.add_option("--seed", a.seed, "of --skew")->capture_default_str()->check(refuse_no_seed);
  c.add_option(
       "--burst", a.burst,
       "packets that travel as one: auto, 1 (packet by packet), or up to so many bytes, 512 B to 32 KiB, "
       "e.g. 4KiB")
      ->capture_default_str();
  c.add_option("--fold", a.fold,
               "where all GPUs do the same, simulate four for all: auto (in large steps), on or off")
      ->capture_default_str();
}

}  // namespace

void add_train_arguments(CLI::App& c, TrainArguments& a, bool several) {
  c.add_option("--system", a.system, "a system's name or file")->capture_default_str();
  c.add_option("--model", a.model, "a model's name or file")->capture_default_str();
  c.add_option("--batch", a.batch, "samples a GPU and pass")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  c.add_option("--accumulate", a.accumulate, "passes whose gradients are added up before an update")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  c.add_option("--seq", a.sequence, "tokens of a sequence (the model's usual number if not given)")
      ->check(CLI::Range(1, train::kLargestSide));
  c.add_option("-g,--gpus", a.gpus, "use the first so many GPUs of the system (default: all)")
      ->check(CLI::Range(1, net::kMostGpus));
  c.add_option("-d,--dtype", a.dtype, "fp32, tf32, mixed, bf16 or fp8")->capture_default_str();
  c.add_option("--fusion", a.fusion, "eager (a kernel an operation) or fused")->capture_default_str();
  c.add_option("--optimizer", a.optimizer, "sgd or adam")->capture_default_str();
  c.add_option("--recompute", a.recompute,
               "what backward computes again instead of keeping it: none, selective or full")
      ->capture_default_str();
  c.add_flag("--ignore-memory", a.ignore_memory, "simulate although it does not fit the GPU's memory");
  add_sync_arguments(c, a);
  add_collective_arguments(c, a, several);
  if (several) {
    c.add_option("--threads", a.threads, "simulations at the same time (default: as many as cores)")
        ->check(CLI::Range(1, 1024));
  } else {
    CLI::Option* on = c.add_flag("--overlap", a.overlap, "reduce while backward runs (the default)");
    c.add_flag("--sequential,--no-overlap", a.sequential, "reduce when backward has ended")->excludes(on);
  }
  c.add_option("--set", a.sets, "change a parameter: path=value; may be repeated")->allow_extra_args(false);
  c.add_flag("--json", a.json, "print JSON");
  add_page_argument(c, a.page);
  c.add_flag("--no-timing", a.no_timing, "leave out how long the simulation took");
}

sim::Result<std::unique_ptr<TrainSetup>> understand(const TrainArguments& args) {
  auto setup = std::make_unique<TrainSetup>();
  study::StepJob& job = setup->job;
  if (auto e = pick_recipe(args, job.recipe); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_sync(args, job.sync); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_sharing(args, job.core); !e) return sim::fail_as(std::move(e));
  std::vector<std::string> sets = args.sets;
  if (args.channels > 0) sets.push_back(fmt::format("coll.channels={}", args.channels));
  auto system = load_one_system(args.system, sets);
  if (!system) return sim::fail_as(std::move(system));
  setup->system = std::move(*system);
  const int gpus = setup->system->machine.gpus;
  if (args.gpus > gpus)
    return sim::fail(fmt::format("--gpus {}: {} has {}", args.gpus, setup->system->name, gpus));
  job.gpus = args.gpus > 0 ? args.gpus : gpus;
  if (auto e = pick_collectives(args, *setup); !e) return sim::fail_as(std::move(e));
  for (const study::Method& method : setup->methods) {
    if (job.gpus == 1) break;
    auto built = study::check_built(*setup->system, method.algorithm, args.what_if.inc());
    if (!built) return sim::fail_as(std::move(built));
  }
  auto model = config::load_model(args.model);
  if (!model) return sim::fail_as(std::move(model));
  setup->model = std::move(*model);
  auto graph = train::build_graph(setup->model, args.sequence);
  if (!graph) {
    return sim::fail(
        fmt::format("--seq {}: {}: {}", args.sequence, setup->model.name, graph.error().message));
  }
  setup->graph = std::move(*graph);
  job.system = setup->system;
  job.graph = &setup->graph;
  job.ignore_memory = args.ignore_memory;
  job.overlap = !args.sequential;
  return setup;
}

report::StepLabel label_of(const TrainArguments& args, const TrainSetup& setup) {
  const train::Shape& sample = setup.graph.values.front().shape;
  return {.system = setup.system->name,
          .gpu = setup.system->machine.gpu.name,
          .gpus = setup.job.gpus,
          .model = setup.model.name,
          .batch = args.batch,
          .tokens = sample.kind == train::Shape::Kind::kTokens ? static_cast<int>(sample.height) : 0,
          .dtype = args.dtype,
          .fusion = args.fusion,
          .optimizer = args.optimizer,
          .recompute = args.recompute,
          .sync = args.sync,
          .overlap = setup.job.overlap,
          .method = setup.job.method,
          .built = setup.system->machine.inc.unit};
}

}  // namespace infold::cli

// Turns words into a training step.
#include "cli/options/train_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/options/bench_options.h"
#include "cli/options/kernel_options.h"
#include "cli/options/pick.h"
#include "cli/options/systems.h"
#include "config/catalog.h"
#include "config/study_file.h"
#include "config/yaml/units.h"
#include "formats/catalog.h"
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

sim::Status pick_switch(std::string_view option, const std::string& text, bool& value) {
  if (text != "on" && text != "off")
    return sim::fail(fmt::format("{}: '{}' is neither on nor off", option, text));
  value = text == "on";
  return {};
}

/// How the ranks share the model.
sim::Status pick_layout(const TrainArguments& a, study::StepJob& job) {
  auto layout = train::fill(a.layout, job.gpus);
  if (!layout) return sim::fail(layout.error());
  job.layout = *layout;
  job.sequence_parallel = job.layout.tp > 1;
  if (!a.sp.empty()) {
    if (auto e = pick_switch("--sp", a.sp, job.sequence_parallel); !e) return e;
  }
  job.expert_skew = a.expert_skew;
  if (auto e = pick("cp-comm", a.key_exchange, job.key_exchange); !e) return e;
  if (auto e = pick("ep-comm", a.expert_exchange, job.expert_exchange); !e) return e;
  if (auto e = pick("schedule", a.schedule, job.pipeline.schedule); !e) return e;
  job.pipeline.micro_batches = a.micro_batches;
  job.pipeline.virtual_stages =
      job.pipeline.schedule == train::ScheduleKind::kInterleaved ? a.virtual_stages : 1;
  return {};
}

/// Refuses what concerns the sum of gradients where no two GPUs have the same parameters.
sim::Status check_gradients(const TrainArguments& a, const study::StepJob& job) {
  if (job.gpus == 1 || train::size_of(job.layout, train::Axis::kReplica) > 1) return {};
  const bool pipeline = job.layout.pp > 1;
  for (const auto& [option, given] : {std::pair{"--bucket", !a.bucket.empty()},
                                      {"--first-bucket", !a.first_bucket.empty()},
                                      {"--gradient-as-view", a.view},
                                      {"--sequential", a.sequential && !pipeline}}) {
    if (given)
      return sim::fail(
          fmt::format("{} has no effect with dp 1, where each GPU has parameters of its own", option));
  }
  return {};
}

sim::Status pick_sync(const TrainArguments& a, train::SyncSpec& sync) {
  if (auto e = pick("synchroniser", a.sync, sync.kind); !e) return e;
  if (auto e = pick_size("--bucket", a.bucket, sync.bucket); !e) return e;
  // A first bucket larger than the others is never meant.
  sync.first_bucket = sim::min(sync.first_bucket, sync.bucket);
  if (auto e = pick_size("--first-bucket", a.first_bucket, sync.first_bucket); !e) return e;
  if (auto e = pick_size("--fusion-size", a.fusion_size, sync.fusion); !e) return e;
  sync.gradient_as_view = a.view;
  sync.packs = a.packs;
  sync.shard = a.shard;
  if (auto e = pick_switch("--reshard", a.reshard, sync.reshard); !e) return e;
  if (auto e = pick("reduction type", a.reduce_dtype, sync.reduce_dtype); !e) return e;
  if (a.cycle.empty()) return {};
  const auto parsed = config::parse_time(a.cycle);
  if (!parsed) return sim::fail(sim::prefixed("--cycle", parsed.error()));
  sync.cycle = *parsed;
  if (sync.cycle < sim::Time::us(1) || sync.cycle > sim::Time::us(10'000'000))
    return sim::fail(fmt::format("--cycle: {} is not between 1 us and 10 s", a.cycle));
  return {};
}

}  // namespace

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
  if (!a.gather_engine.empty()) {
    if (auto e = pick("gather-engine", a.gather_engine, setup.job.gather_engine.emplace()); !e) return e;
  }
  const bool by_algorithms = a.programs.empty() || a.beside_programs;
  for (const std::string& text : by_algorithms ? split(a.algorithms) : std::vector<std::string>{}) {
    const auto method = config::parse_method(text);
    if (!method) return sim::fail_as(method);
    setup.methods.push_back(*method);
    if (text.find('@') == std::string::npos) setup.methods.back().engine = engine;
  }
  for (const coll::OwnProgram& own : setup.programs)
    setup.methods.push_back({.algorithm = nullptr, .engine = own.program.engine, .program = &own});
  setup.job.method = setup.methods.front();
  setup.job.protocol = options->protocols.front();
  setup.job.burst = options->burst;
  if (auto e = pick("--fold", a.fold, setup.job.fold); !e) return e;
  if (options->skew > sim::Time{}) setup.job.delays = study::skewed(setup.job.gpus, options->skew, a.seed);
  return {};
}

namespace {

/// Reads the users' programs, and says how many ranks they have.
sim::Status load_programs(const TrainArguments& a, std::deque<coll::OwnProgram>& programs, int& ranks) {
  if (!a.programs.empty() && a.sync == "horovod")
    return sim::fail(
        "--program: not with --sync horovod, which fuses to sizes that no program can be proved for "
        "beforehand");
  for (const std::string& file : a.programs) {
    auto loaded = formats::load_program(file);
    if (!loaded) return sim::fail_as(std::move(loaded));
    const coll::Program& program = loaded->program;
    if (program.collective != coll::Collective::kAllReduce) {
      return sim::fail(fmt::format("--program: {} is {}, and gradients are brought together by all_reduce",
                                   loaded->name, sim::name_of(program.collective)));
    }
    const int asked = a.gpus > 0 ? a.gpus : ranks;
    if (asked > 0 && program.ranks != asked) {
      return sim::fail(
          fmt::format("--program: {} is for {} GPUs, not for {}", loaded->name, program.ranks, asked));
    }
    ranks = program.ranks;
    programs.push_back(std::move(*loaded));
  }
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

}  // namespace

sim::Status pick_sharing(const TrainArguments& a, gpu::CoreOptions& core) {
  auto contention = understand_contention(a.without, /*several_collectives=*/true);
  if (!contention) return sim::fail_as(std::move(contention));
  core.contention = *contention;
  core.reserved_sms = a.sms_reserved;
  core.collective_priority = a.priority;
  return {};
}

namespace {

void add_sync_arguments(CLI::App& c, TrainArguments& a) {
  c.add_option(
       "--sync", a.sync,
       "how gradients are brought together: ddp, horovod, tensorflow, per-tensor, zero1, zero2, fsdp or "
       "hsdp")
      ->capture_default_str();
  c.add_option("--bucket", a.bucket, "ddp: bytes of a bucket (default 25MiB)");
  c.add_option("--first-bucket", a.first_bucket, "ddp: bytes of the first bucket (default 1MiB)");
  c.add_flag("--gradient-as-view", a.view, "ddp: gradients are parts of their buckets, nothing is copied");
  c.add_option("--fusion-size", a.fusion_size, "horovod: bytes fused at most (default 128MiB)");
  c.add_option("--cycle", a.cycle, "horovod: time between two checks for ready gradients (default 1ms)");
  c.add_option("--packs", a.packs, "tensorflow: reductions of equal size")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  c.add_option("--shard", a.shard, "hsdp: ranks that share one copy of the parameters")
      ->check(CLI::Range(1, net::kMostGpus))
      ->capture_default_str();
  c.add_option("--reshard", a.reshard,
               "fsdp, hsdp: a block's weights are freed after forward and gathered again: on or off")
      ->capture_default_str();
  c.add_option("--reduce-dtype", a.reduce_dtype,
               "fsdp, hsdp: gradients are sent in fp32, or in the type of products")
      ->capture_default_str();
}

void add_layout_arguments(CLI::App& c, TrainArguments& a) {
  const auto ranks = CLI::Range(1, net::kMostGpus);
  c.add_option("--dp", a.layout.dp, "data-parallel ranks (default: what the others leave of the GPUs)")
      ->check(ranks);
  c.add_option("--tp", a.layout.tp, "tensor-parallel ranks, which share every layer")->check(ranks);
  c.add_option("--sp", a.sp, "sequence parallelism between split layers: on or off (default: on with --tp)");
  c.add_option("--pp", a.layout.pp, "pipeline stages, which share the layers")->check(ranks);
  c.add_option("--cp", a.layout.cp, "context-parallel ranks, which share every sequence")->check(ranks);
  c.add_option("--cp-comm", a.key_exchange,
               "how context-parallel ranks get keys and values of each other: all-gather or ring")
      ->capture_default_str();
  c.add_option("--ep", a.layout.ep, "expert-parallel ranks, which share the experts; they divide --dp")
      ->check(ranks);
  c.add_option("--ep-comm", a.expert_exchange,
               "how tokens get to the ranks of their experts and back: all-to-all or multicast")
      ->capture_default_str();
  c.add_option("--expert-skew", a.expert_skew,
               "tokens of the expert that gets most, against the mean (default 1: all get the same)")
      ->check(CLI::Range(1.0, 4096.0));
  c.add_option("--schedule", a.schedule, "of a pipeline: gpipe, 1f1b, interleaved or zero-bubble")
      ->capture_default_str();
  c.add_option("--virtual", a.virtual_stages, "interleaved: parts of the model on each stage")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  c.add_option("--micro-batches", a.micro_batches, "of a pipeline, per step; --batch is that of one of them")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
}

}  // namespace

void add_collective_arguments(CLI::App& c, TrainArguments& a, bool several) {
  c.add_option("--algo", a.algorithms,
               several ? "algorithms, with commas; auto: choose for each bucket; ring@dma: on another engine"
                       : "algorithm; auto: choose for each bucket")
      ->each([&a](const std::string&) { a.algorithm_typed = true; })
      ->capture_default_str();
  c.add_option("--program", a.programs,
               a.beside_programs
                   ? "also with the program of this file (see 'infold program show'); may be repeated"
                   : "with the program of this file (see 'infold program show') instead of an algorithm's")
      ->allow_extra_args(false);
  c.add_option("--engine", a.engine, "what carries them out: sm, dma or ace")->capture_default_str();
  c.add_option("--proto", a.protocol, "wire protocol: simple, ll, ll128 or auto")
      ->each([&a](const std::string&) { a.protocol_typed = true; })
      ->capture_default_str();
  c.add_option("--channels", a.channels, "workgroups of a collective on each GPU (default: the system's)")
      ->check(CLI::Range(1, 256));
  add_environment_argument(c, a.env);
  add_what_if_argument(c, a.what_if);
  c.add_option("--priority", a.priority, "priority of the collectives' stream; that of compute is 0")
      ->check(CLI::Range(-100, 100))
      ->capture_default_str();
  c.add_option("--sms-reserved", a.sms_reserved, "SMs that compute must leave to collectives")
      ->check(CLI::Range(0, 4096));
  c.add_option("--without", a.without,
               "give compute and collectives their own of sm, l2 or hbm, e.g. sm,hbm; link: communicators "
               "their own links");
  c.add_option("--skew", a.skew, "each GPU begins the step late by a random time up to this, e.g. 200us");
  c.add_option("--seed", a.seed, "seed of --skew")->capture_default_str()->check(valid_seed);
  c.add_option(
       "--burst", a.burst,
       "packets that travel as one: auto, 1 (packet by packet), or up to this many bytes, 512 B to 32 KiB, "
       "e.g. 4KiB")
      ->capture_default_str();
}

void add_train_arguments(CLI::App& c, TrainArguments& a, bool several) {
  c.add_option("--system", a.system, "a system's name or file")->capture_default_str();
  c.add_option("--model", a.model, "a model's name or file")->capture_default_str();
  c.add_option("--batch", a.batch, "samples per GPU and pass")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  c.add_option("--accumulate", a.accumulate, "passes whose gradients are added up before an update")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  c.add_option("--seq", a.sequence, "tokens of a sequence (the model's usual number if not given)")
      ->check(CLI::Range(1, train::kLargestSide));
  add_nodes_argument(c, a.nodes);
  c.add_option("-g,--gpus,--ngpus", a.gpus, "use this many GPUs, the first ones of the system (default: all)")
      ->check(CLI::Range(1, net::kMostGpus));
  c.add_option("-d,--dtype", a.dtype, "fp32, tf32, mixed, bf16 or fp8")->capture_default_str();
  c.add_option("--fusion", a.fusion, "eager (one kernel per operation) or fused")->capture_default_str();
  c.add_option("--optimizer", a.optimizer, "sgd or adam")->capture_default_str();
  c.add_option("--recompute", a.recompute,
               "what backward computes again instead of keeping it: none, selective or full")
      ->capture_default_str();
  c.add_flag("--ignore-memory", a.ignore_memory, "simulate although it does not fit the GPU's memory");
  add_layout_arguments(c, a);
  add_sync_arguments(c, a);
  add_collective_arguments(c, a, several);
  c.add_option("--gather-engine", a.gather_engine,
               "what carries out all-gathers, as those of FSDP's weights (default: that of --engine)");
  c.add_option("--fold", a.fold,
               "if all GPUs do the same, simulate only four of them: auto (in large steps), on or off")
      ->capture_default_str();
  add_fidelity_arguments(c, a.fidelity);
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

sim::Result<std::unique_ptr<TrainSetup>> understand(const TrainArguments& typed) {
  TrainArguments args = typed;
  const auto environment = read_environment(args.env, args.system);
  if (!environment) return sim::fail_as(environment);
  LibraryWords words{args.algorithms, args.algorithm_typed, args.protocol, args.protocol_typed};
  // Of the algorithms that are left, a step runs one; gradients are summed by all-reduces.
  if (auto e = environment->restrict(coll::Collective::kAllReduce, false, words); !e)
    return sim::fail_as(std::move(e));
  auto setup = std::make_unique<TrainSetup>();
  study::StepJob& job = setup->job;
  if (auto e = pick_recipe(args, job.recipe); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_sync(args, job.sync); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_sharing(args, job.core); !e) return sim::fail_as(std::move(e));
  std::vector<std::string> sets = environment->sets;
  std::ranges::copy(with_nodes(args.sets, args.nodes), std::back_inserter(sets));
  if (args.channels > 0) sets.push_back(fmt::format("coll.channels={}", args.channels));
  auto system = load_one_system(args.system, sets);
  if (!system) return sim::fail_as(std::move(system));
  setup->system = std::move(*system);
  const int gpus = setup->system->machine.all_gpus();
  if (args.gpus > gpus)
    return sim::fail(fmt::format("--gpus {}: {} has {}", args.gpus, setup->system->name, gpus));
  int ranks = 0;
  if (auto e = load_programs(args, setup->programs, ranks); !e) return sim::fail_as(std::move(e));
  if (ranks > gpus)
    return sim::fail(
        fmt::format("--program: it is for {} GPUs, and {} has {}", ranks, setup->system->name, gpus));
  job.gpus = args.gpus > 0 ? args.gpus : ranks > 0 ? ranks : gpus;
  if (auto e = pick_layout(args, job); !e) return sim::fail_as(std::move(e));
  if (auto e = check_gradients(args, job); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_collectives(args, *setup); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_fidelity(args.fidelity, job); !e) return sim::fail_as(std::move(e));
  for (const study::Method& method : setup->methods) {
    if (job.gpus == 1) break;
    auto built = study::check_built(*setup->system, method, args.what_if.inc());
    if (!built) return sim::fail_as(std::move(built));
  }
  auto model = formats::load_model(args.model);
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

}  // namespace infold::cli

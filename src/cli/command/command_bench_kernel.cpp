// infold bench gemm|conv|copy|stream|attention: a kernel on one GPU, alone or beside a collective.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/options/bench_options.h"
#include "cli/options/kernel_options.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "config/catalog.h"
#include "report/kernel_report.h"
#include "study/collective/beside_run.h"
#include "study/collective/choice.h"
#include "study/hypothetical.h"

namespace infold::cli {

namespace {

/// The collective to run beside, on its system.
sim::Result<study::CollectiveJob> collective_of(const KernelArguments& args, const study::SystemPtr& system) {
  BenchArguments bench;
  bench.collective = args.beside;
  bench.begin = bench.end = args.beside_size;
  bench.algorithms = args.algorithm;
  bench.protocols = args.protocol;
  bench.engines = args.beside_engine;
  bench.burst = args.burst;
  const auto understood = understand(bench);
  if (!understood) return sim::fail_as(understood);
  const BenchOptions& options = *understood;
  if (options.algorithms.size() != 1 || options.protocols.size() != 1 || options.engines.size() != 1)
    return sim::fail("--beside: one algorithm, one protocol and one engine");
  const int gpus = system->machine.all_gpus();
  study::CollectiveJob job{.system = system,
                           .engine = options.engines.front(),
                           .collective = options.collective,
                           .bytes = whole_elements(options, sim::Bytes{options.sizes.front()}, gpus),
                           .gpus = gpus,
                           .burst = options.burst};
  const auto offers = study::offers_of(job, options.algorithms.front(), options.protocols.front());
  job.algorithm = offers.empty() ? options.algorithms.front() : offers.front().algorithm;
  job.protocol = options.protocols.front().value_or(coll::Protocol::kSimple);
  if (job.algorithm == nullptr)
    return sim::fail("--beside: " + study::why_no_offers(job, options.protocols.front()));
  if (auto ok = study::check_request(job); !ok) return sim::fail_as(std::move(ok));
  if (!offers.empty()) {
    const study::Choice choice = study::choose(job, offers);
    job.algorithm = choice.algorithm;
    job.protocol = choice.protocol;
  }
  if (auto built = study::check_built(*system, job.algorithm, args.what_if.inc()); !built)
    return sim::fail_as(std::move(built));
  return job;
}

int run_beside(const KernelArguments& args, const study::SystemPtr& system, study::KernelJob kernel,
               report::KernelReport& report) {
  auto collective = collective_of(args, system);
  if (!collective) return failure(collective.error());
  const auto contention = understand_contention(args.without, /*several_collectives=*/false);
  if (!contention) return failure(contention.error());
  kernel.sms_reserved = 0;
  const study::BesideJob job{.kernel = kernel,
                             .collective = *collective,
                             .core = {.contention = *contention,
                                      .reserved_sms = args.sms_reserved,
                                      .collective_priority = args.priority}};
  Progress progress;
  const auto outcome = study::run(job, [&](double) {
    progress.show(args.kernel + " beside " + args.beside);
    return !interrupted();
  });
  progress.clear();
  if (!outcome) return failure(outcome.error());
  report.beside = report::BesideReport{.collective = args.beside,
                                       .system = system->name,
                                       .algorithm = std::string(job.collective.algorithm->name),
                                       .protocol = std::string(sim::name_of(job.collective.protocol)),
                                       .engine = std::string(sim::name_of(job.collective.engine)),
                                       .bytes = job.collective.bytes,
                                       .hypothetical = {},
                                       .result = *outcome};
  if (const coll::Algorithm* algorithm = job.collective.algorithm; algorithm->in_network)
    report.beside->hypothetical = study::is_hypothetical(system->machine.inc.unit, algorithm);
  return kDone;
}

int run_kernel(const KernelArguments& args) {
  const auto understood = understand(args);
  if (!understood) return failure(understood.error());
  const KernelOptions& options = *understood;
  const bool beside = !args.beside.empty();
  sim::Result<std::vector<study::SystemPtr>> systems;
  sim::Result<gpu::GpuSpec> gpu;
  if (beside) {
    std::vector<std::string> sets = with_nodes(args.sets, args.nodes);
    if (args.coll_channels > 0) sets.push_back(fmt::format("coll.channels={}", args.coll_channels));
    systems = load_systems(args.system.empty() ? "dgx-a100" : args.system, sets);
    if (!systems) return failure(systems.error());
    if (systems->size() != 1) return bad_input("--beside: one system");
    gpu = systems->front()->machine.gpu;
  } else if (!args.system.empty()) {
    gpu = load_gpu_of(args.system, args.sets);
  } else {
    gpu = load_gpu(args.gpu.empty() ? "a100-80" : args.gpu, args.sets);
  }
  if (!gpu) return failure(gpu.error());
  if (!args.system.empty() && !args.gpu.empty() && args.gpu != gpu->name)
    return bad_input(fmt::format("--gpu: the GPU of {} is {}, not {}", args.system, gpu->name, args.gpu));

  const study::KernelJob job{.gpu = &*gpu,
                             .kernel = options.kernel,
                             .precision = options.precision,
                             .sms_taken = args.sms_taken,
                             .sms_reserved = args.sms_reserved,
                             .contention = {}};
  PageWriter page(args.page);
  if (const int exit = page.open(); exit != kDone) return exit;
  if (beside) {
    page.add(*systems->front());
  } else {
    page.add(*gpu);
  }
  const auto started = std::chrono::steady_clock::now();
  Progress progress;
  const auto outcome = study::run(job, [&](double) {
    progress.show(args.kernel);
    return !interrupted();
  });
  progress.clear();
  if (!outcome) return failure(outcome.error());
  report::KernelReport report{.kernel = args.kernel,
                              .gpu = gpu->name,
                              .dtype = std::string(sim::name_of(options.precision)),
                              .shape = options.shape,
                              .sms_taken = args.sms_taken,
                              .sms_reserved = args.sms_reserved,
                              .copied = {},
                              .result = *outcome,
                              .beside = std::nullopt,
                              .wall_s = std::nullopt};
  if (const auto* copy = std::get_if<study::CopyKernel>(&options.kernel)) report.copied = copy->bytes;
  if (beside) {
    if (const int exit = run_beside(args, systems->front(), job, report); exit != kDone) return exit;
  }
  if (!args.no_timing) {
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  }
  print(args.json ? report::kernel_json(report) : report::kernel_text(report));
  return page.wanted() ? page.write(report::kernel_json(report)) : kDone;
}

void add(CLI::App& bench, const std::string& typed, int& exit, Effects& effects, const std::string& name,
         const std::string& about, const std::string& example) {
  auto args = std::make_shared<KernelArguments>();
  args->page.typed = typed;
  CLI::App* command = bench.add_subcommand(name, about);
  add_kernel_arguments(*command, name, *args);
  add_kernel_effects(*command, *args, effects);
  command->footer(fmt::format("Example:\n  infold bench {} {}", name, example));
  command->callback([args, name, &bench, &exit] {
    // Options before the name of the kernel belong to collectives.
    for (const CLI::Option* o : bench.get_options()) {
      if (o->count() > 0) {
        exit = bad_input(
            fmt::format("{} does not go with a kernel; try 'infold bench {} --help'", o->get_name(), name));
        return;
      }
    }
    exit = run_kernel(*args);
  });
}

}  // namespace

void add_bench_kernels(CLI::App& bench, const std::string& typed, int& exit, Effects& effects) {
  add(bench, typed, exit, effects, "gemm", "time a matrix product on one GPU",
      "-m 8192 -n 8192 -k 8192 --gpu h100");
  add(bench, typed, exit, effects, "conv", "time a convolution or one of its gradients",
      "--batch 256 --height 56 --width 56 --channels 64 --filters 64 --pass filter");
  add(bench, typed, exit, effects, "copy", "time a copy within a GPU's memory",
      "--size 1G --gpu h200 --engine sm");
  add(bench, typed, exit, effects, "stream",
      "time a kernel that streams: batch-norm, softmax, optimizer and others",
      "--op batch-norm-backward --rows 802816 --cols 256 --gpu v100");
  add(bench, typed, exit, effects, "attention", "time fused attention",
      "--batch 8 --sequence 2048 --heads 16 --head-size 128");
}

}  // namespace infold::cli

// infold bench gemm|conv|copy|stream|attention: one kernel on one GPU.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/kernel_options.h"
#include "cli/systems.h"
#include "config/catalog.h"
#include "report/kernel_report.h"

namespace infold::cli {

namespace {

int run_kernel(const KernelArguments& args) {
  auto understood = understand(args);
  if (const auto* complaint = std::get_if<std::string>(&understood)) return bad_input(*complaint);
  const auto& options = std::get<KernelOptions>(understood);
  const auto gpu = load_gpu(args.gpu, args.sets);
  if (!gpu) return kBadInput;

  const study::KernelJob job{.gpu = &*gpu,
                             .kernel = options.kernel,
                             .precision = options.precision,
                             .sms_taken = args.sms_taken,
                             .sms_reserved = args.sms_reserved,
                             .contention = {}};
  const auto started = std::chrono::steady_clock::now();
  auto outcome = study::run(job, [](double) { return !interrupted(); });
  if (std::holds_alternative<study::Interrupted>(outcome)) return kInterrupted;
  if (const auto* refused = std::get_if<study::JobRefused>(&outcome)) return bad_input(refused->why);
  if (const auto* deadlock = std::get_if<study::Deadlock>(&outcome)) {
    fmt::print(stderr, "infold: nothing can happen any more and work is unfinished\n");
    for (const std::string& line : deadlock->waiting) fmt::print(stderr, "  {}\n", line);
    return kFailed;
  }
  report::KernelReport report{.kernel = args.kernel,
                              .gpu = gpu->name,
                              .dtype = std::string(sim::name_of(options.precision)),
                              .shape = options.shape,
                              .sms_taken = args.sms_taken,
                              .sms_reserved = args.sms_reserved,
                              .copied = {},
                              .result = std::get<study::KernelResult>(outcome),
                              .wall_s = std::nullopt};
  if (const auto* copy = std::get_if<study::CopyKernel>(&options.kernel)) report.copied = copy->bytes;
  if (!args.no_timing) {
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  }
  print(args.json ? report::kernel_json(report) : report::kernel_text(report));
  return kDone;
}

void add(CLI::App& bench, int& exit, const std::string& name, const std::string& about,
         const std::string& example) {
  auto args = std::make_shared<KernelArguments>();
  CLI::App* command = bench.add_subcommand(name, about);
  add_kernel_arguments(*command, name, *args);
  command->footer(fmt::format("Example:\n  infold bench {} {}", name, example));
  command->callback([args, name, &bench, &exit] {
    // What stands before the kernel's name belongs to collectives.
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

void add_bench_kernels(CLI::App& bench, int& exit) {
  add(bench, exit, "gemm", "time a matrix product on one GPU", "-m 8192 -n 8192 -k 8192 --gpu h100");
  add(bench, exit, "conv", "time a convolution or one of its gradients",
      "--batch 256 --height 56 --width 56 --channels 64 --filters 64 --pass filter");
  add(bench, exit, "copy", "time a copy within a GPU's memory", "--size 1G --gpu h200 --engine sm");
  add(bench, exit, "stream", "time a kernel that streams: batch-norm, softmax, optimizer and others",
      "--op batch-norm-backward --rows 802816 --cols 256 --gpu v100");
  add(bench, exit, "attention", "time fused attention",
      "--batch 8 --sequence 2048 --heads 16 --head-size 128");
}

}  // namespace infold::cli

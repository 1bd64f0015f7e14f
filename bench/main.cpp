// infold-bench: how fast the simulator is, on fixed cases. Rates, never a pass or fail.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/catalog.h"
#include "gpu/kernel/kernel_list.h"
#include "gpu/sm/core.h"
#include "net/packet/packet.h"
#include "resnet50.h"
#include "sim/check.h"
#include "study/check.h"
#include "study/collective/collective_run.h"

namespace {

using namespace infold;
using namespace infold::sim::literals;

struct Case {
  std::string name;
  std::string about;
  study::SystemSpec system;
  sim::Bytes bytes;  ///< of the collective; none: the backward pass on one GPU
  const char* algorithm = "ring";
};

study::SystemSpec preset(const char* name) {
  return config::load_system(name, study::check).value();
}

std::vector<Case> cases() {
  std::vector<Case> out;
  // One switch, packets of 4 KiB: the network alone, with few packets to a byte.
  study::SystemSpec one_switch = preset("dgx-a100");
  one_switch.machine.fabric.planes = 1;
  one_switch.machine.fabric.links_per_plane = {12};
  one_switch.machine.fabric.packet.payload = 4_KiB;
  one_switch.machine.fabric.switch_chip.buffer = 64_KiB;
  out.push_back(
      {"ring-4k", "ring all-reduce of 256 MiB, 8 GPUs on one switch, packets of 4 KiB", one_switch, 256_MiB});

  out.push_back(
      {"ring-128", "ring all-reduce of 64 MiB on dgx-a100, packets of 128 B", preset("dgx-a100"), 64_MiB});

  study::SystemSpec fat_tree = preset("klenk-128");
  fat_tree.machine.gpus = 64;
  fat_tree.machine.fabric.groups = 8;
  out.push_back({"fat-tree-64",
                 "ring all-reduce of 16 MiB, 64 GPUs on a two-level fat tree, packets of 128 B", fat_tree,
                 16_MiB});

  out.push_back(
      {"gpu-backward", "backward pass of ResNet-50, batch 256, on one A100", preset("dgx-a100"), {}});

  out.push_back({"inc-push", "inc-push all-reduce of 16 MiB on klenk-16: switches sum, packets of 128 B",
                 preset("klenk-16"), 16_MiB, "inc-push"});
  return out;
}

struct Measured {
  study::CollectiveResult result;
  double wall_s = 0;
};

Measured measure_backward(const gpu::GpuSpec& spec) {
  const auto start = std::chrono::steady_clock::now();
  sim::EventQueue events;
  gpu::Core core(spec, events, {});
  gpu::KernelList list(core);
  bench::add_resnet50_backward(core, list, 256);
  list.enqueue(core.dispatcher().add_stream(0), sim::Time{});
  events.run();
  INFOLD_CHECK(core.dispatcher().idle(), "the backward pass ends");
  Measured m;
  m.result.time = events.now();
  m.result.events = events.handled();
  m.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return m;
}

Measured measure(const Case& c) {
  if (c.bytes == sim::Bytes{}) return measure_backward(c.system.machine.gpu);
  const study::CollectiveJob job{.system = study::PreparedSystem::make(c.system).value(),
                                 .algorithm = coll::find_algorithm(c.algorithm),
                                 .bytes = c.bytes,
                                 .gpus = c.system.machine.gpus,
                                 .burst = {.automatic = false, .bytes = {}}};
  const auto start = std::chrono::steady_clock::now();
  auto outcome = study::run(job, {});
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {outcome.value(), wall.count()};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"how fast infold simulates: packet-hops, events and simulated time a second of one core",
               "infold-bench"};
  bool json = false;
  int repeat = 3;
  std::string only;
  app.add_flag("--json", json, "print JSON");
  app.add_option("--repeat", repeat, "runs of each case; the fastest counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  int part = 1;
  app.add_option("--part", part, "divide the sizes of collectives by this, to run under a profiler")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--only", only, "the case of this name alone");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "infold-bench: {}\n", e.what());
    return 2;
  }

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!json)
    fmt::print("{:<14} {:>14} {:>12} {:>14} {:>10} {:>9}\n", "case", "Mpacket-hops/s", "Mevents/s",
               "us/wall-second", "B/packet", "wall s");
  for (Case& c : cases()) {
    if (!only.empty() && c.name != only) continue;
    c.bytes = c.bytes / part;
    Measured best = measure(c);
    for (int i = 1; i < repeat; ++i) {
      const Measured again = measure(c);
      if (again.wall_s < best.wall_s) best = again;
    }
    const double hops = static_cast<double>(best.result.packet_hops) / best.wall_s;
    const double events = static_cast<double>(best.result.events) / best.wall_s;
    if (json) {
      rows.push_back({{"name", c.name},
                      {"about", c.about},
                      {"packet_hops_per_s", hops},
                      {"events_per_s", events},
                      {"bytes_per_packet", sizeof(net::Packet)},
                      {"simulated_us_per_wall_s", best.result.time.in_us() / best.wall_s},
                      {"wall_s", best.wall_s}});
    } else {
      fmt::print("{:<14} {:>14.1f} {:>12.1f} {:>14.0f} {:>10} {:>9.2f}  {}\n", c.name, hops * 1e-6,
                 events * 1e-6, best.result.time.in_us() / best.wall_s, sizeof(net::Packet), best.wall_s,
                 c.about);
    }
  }
  if (json) fmt::print("{}\n", nlohmann::ordered_json{{"schema", 1}, {"cases", rows}}.dump(1));
  return 0;
}

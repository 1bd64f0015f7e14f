// Turns words into options, and answers every wrong word with the nearest right one.
#include "cli/options/bench_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <optional>
#include <span>

#include "cli/named_output.h"
#include "cli/options/pick.h"
#include "cli/options/systems.h"
#include "config/yaml/suggest.h"
#include "config/yaml/units.h"

namespace infold::cli {

namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 40;
constexpr std::size_t kMaxPoints = 4096;

/// The names of types in nccl-tests.
std::string_view dtype_alias(std::string_view word) {
  if (word == "float") return "fp32";
  if (word == "half") return "fp16";
  if (word == "bfloat16") return "bf16";
  return word;
}

sim::Status size_of_option(std::string_view option, const std::string& text, std::int64_t& bytes) {
  const auto parsed = config::parse_size(text);
  if (!parsed) return sim::fail(sim::prefixed(option, parsed.error()));
  bytes = parsed->count();
  if (bytes > kMaxBytes)
    return sim::fail(fmt::format("{}: {} is more than the limit of 1 TiB", option, text));
  return {};
}

sim::Status list_sizes(const BenchArguments& args, std::vector<std::int64_t>& sizes) {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t increment = 0;
  if (auto e = size_of_option("-b", args.begin, begin); !e) return e;
  if (auto e = size_of_option("-e", args.end.empty() ? args.begin : args.end, end); !e) return e;
  if (auto e = size_of_option("-i", args.increment, increment); !e) return e;
  if (begin > end) return sim::fail(fmt::format("-b {} is more than -e {}", args.begin, args.end));
  if (args.factor == 0 && increment == 0 && begin != end) return sim::fail("-i must be more than 0");
  for (std::int64_t n = begin; n <= end;) {
    if (sizes.size() == kMaxPoints)
      return sim::fail(fmt::format("-b, -e and -f or -i make more than {} sizes", kMaxPoints));
    sizes.push_back(n);
    if (n == end || (args.factor > 1 && n > end / args.factor)) break;
    // Zero has no successor by multiplication.
    n = args.factor > 1 ? (n == 0 ? 1 : n * args.factor) : n + increment;
  }
  if (sizes.size() == 1 && begin != end)
    return sim::fail(fmt::format(
        "-e {} has no effect: the step from {} to the next size ({}) goes beyond it; -f 2 doubles the size",
        args.end, args.begin,
        args.factor > 1 ? fmt::format("-f {}", args.factor) : fmt::format("-i {}", args.increment)));
  return {};
}

sim::Status pick_algorithms(const std::string& list, std::vector<const coll::Algorithm*>& out) {
  for (const std::string& name : split(list)) {
    if (name == "auto") {
      out.push_back(nullptr);
      continue;
    }
    const coll::Algorithm* found = coll::find_algorithm(name);
    if (found == nullptr) {
      std::vector<std::string_view> names;
      for (const auto& a : coll::algorithms()) names.push_back(a.name);
      names.emplace_back("auto");
      return sim::fail(fmt::format("there is no algorithm '{}'{}; there is {}", name,
                                   config::did_you_mean(name, names), fmt::join(names, ", ")));
    }
    out.push_back(found);
  }
  return {};
}

sim::Status pick_protocols(const std::string& list, std::vector<std::optional<coll::Protocol>>& out) {
  for (const std::string& name : split(list)) {
    coll::Protocol protocol{};
    if (name == "auto") {
      out.emplace_back(std::nullopt);
      continue;
    }
    if (auto e = pick("protocol", name, protocol); !e) return sim::fail(e.error().message + ", auto");
    out.emplace_back(protocol);
  }
  return {};
}

sim::Status pick_engines(const std::string& list, std::vector<coll::Engine>& out) {
  for (const std::string& name : split(list)) {
    if (auto e = pick("engine", name, out.emplace_back()); !e) return e;
  }
  return {};
}

constexpr sim::Time kLongestDelay = sim::Time::us(1'000'000);

sim::Status pick_delay(std::string_view option, const std::string& text, sim::Time& delay) {
  if (option == "--delays" && text == "never") {
    delay = sim::Time::never();
    return {};
  }
  const auto parsed = config::parse_time(text);
  if (!parsed) return sim::fail(sim::prefixed(option, parsed.error()));
  delay = *parsed;
  if (delay > kLongestDelay)
    return sim::fail(fmt::format("{}: {} is more than the limit of 1 s", option, text));
  return {};
}

sim::Status pick_delays(const BenchArguments& args, BenchOptions& o) {
  if (!args.skew.empty() && !args.delays.empty()) return sim::fail("--skew and --delays: give one of them");
  if (!args.skew.empty()) return pick_delay("--skew", args.skew, o.skew);
  if (args.delays.empty()) return {};
  for (const std::string& text : split(args.delays)) {
    o.delays.emplace_back();
    if (auto e = pick_delay("--delays", text, o.delays.back()); !e) return e;
  }
  return {};
}

/// "plane:2@20us" or "link:2@20us".
sim::Status pick_fault(const BenchArguments& args, BenchOptions& o) {
  if (args.fail.empty()) return {};
  const std::string& text = args.fail;
  const std::size_t colon = text.find(':');
  const std::size_t at = text.find('@');
  const std::string what = text.substr(0, colon);
  if (colon == std::string::npos || at == std::string::npos || at < colon ||
      (what != "plane" && what != "link"))
    return sim::fail(fmt::format("--fail: '{}' is not like plane:2@20us or link:2@20us", text));
  study::Fault fault;
  fault.what = what == "plane" ? study::Fault::What::kPlane : study::Fault::What::kLink;
  const std::string number = text.substr(colon + 1, at - colon - 1);
  if (number.empty() || number.size() > 3 || number.find_first_not_of("0123456789") != std::string::npos)
    return sim::fail(fmt::format("--fail: '{}' is not the number of a plane", number));
  fault.plane = std::stoi(number);
  if (auto e = pick_delay("--fail", text.substr(at + 1), fault.at); !e) return e;
  if (!args.fallback.empty()) {
    std::vector<const coll::Algorithm*> picked;
    if (auto e = pick_algorithms(args.fallback, picked); !e)
      return sim::fail(sim::prefixed("--fallback", e.error()));
    if (picked.size() != 1 || picked.front() == nullptr) return sim::fail("--fallback: name one algorithm");
    fault.fallback = picked.front();
  }
  if (args.iterations > 1) return sim::fail("--fail: for one iteration only");
  if (!args.program.empty()) return sim::fail("--fail: not with --program, which fits one fabric");
  if (!args.tune.empty()) return sim::fail("--fail: not with --tune");
  o.fault = fault;
  return {};
}

sim::Status pick_burst(const std::string& text, study::BurstChoice& choice) {
  if (text == "auto") return {};
  std::int64_t bytes = 0;
  if (auto e = size_of_option("--burst", text, bytes); !e) return e;
  if (bytes != 1 && (bytes < 512 || bytes > 32768)) {
    return sim::fail(
        fmt::format("--burst: {} is neither auto, 1 (packet by packet) nor between 512 B and 32 KiB", text));
  }
  choice = {.automatic = false, .bytes = sim::Bytes{bytes == 1 ? 0 : bytes}};
  return {};
}

}  // namespace

void add_bench_arguments(CLI::App& c, BenchArguments& a) {
  c.add_option(
      "collective", a.collective,
      "all_reduce, reduce_scatter, all_gather, broadcast, reduce, all_to_all, barrier, send, sendrecv, "
      "dispatch or combine");
  c.add_option("-b,--minbytes", a.begin, "smallest size, e.g. 1K, 32M, 1G (binary)")->capture_default_str();
  c.add_option("-e,--maxbytes", a.end, "largest size (default: that of -b)");
  c.add_option("-f,--stepfactor", a.factor, "multiply the size by this from line to line")
      ->check(CLI::Range(2, 1 << 30).description(""));
  c.add_option("-i,--stepbytes", a.increment, "or add this many bytes")->capture_default_str();
  c.add_option("-g,--gpus,--ngpus", a.gpus, "use this many GPUs, the first ones of the system (default: all)")
      ->check(CLI::Range(1, net::kMostGpus));
  add_nodes_argument(c, a.nodes);
  c.add_option("-d,--datatype", a.dtype, "fp32, fp16, bf16 or int32")->capture_default_str();
  c.add_option("-o,--op", a.op, "sum, prod, min, max or avg")->capture_default_str();
  c.add_option("-r,--root", a.root, "root of a broadcast or reduce")
      ->capture_default_str()
      ->check(CLI::Range(0, 1023));
  c.add_option("-n,--iters", a.iterations, "iterations back to back; the time is that of one")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  c.add_option("--groups", a.groups,
               "divide the GPUs into this many communicators of neighbours, which all run the collective at "
               "the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 512));
  c.add_option("--concurrent", a.concurrent,
               "run this many at once on the same GPUs, as from several streams, each on SMs of its own")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  c.add_option(
      "--program", a.program,
      "run the program of this file (see 'infold program show') instead of an algorithm's, at its own "
      "size and protocol unless -b or --proto say otherwise");
  c.add_option("--system", a.systems, "preset or file, or several with commas")->capture_default_str();
  c.add_option("--algo", a.algorithms, "algorithm, or several with commas; auto: choose for each size")
      ->each([&a](const std::string&) { a.algorithm_typed = true; })
      ->capture_default_str();
  c.add_option("--proto", a.protocols,
               "wire protocol: simple, ll, ll128, or several with commas; auto: choose for each size")
      ->each([&a](const std::string&) { a.protocol_typed = true; })
      ->capture_default_str();
  c.add_option(
       "--engine", a.engines,
       "what carries it out: sm (workgroups), dma (copy engines) or ace (accelerator), or several with "
       "commas")
      ->capture_default_str();
  c.add_option("--channels", a.channels, "workgroups of a collective on each GPU (default: the system's)")
      ->check(CLI::Range(1, 256));
  add_environment_argument(c, a.env);
  add_what_if_argument(c, a.what_if);
  c.add_option(
       "--burst", a.burst,
       "packets that travel as one: auto, 1 (packet by packet), or up to this many bytes, 512 B to 32 KiB, "
       "e.g. 4KiB")
      ->capture_default_str();
  c.add_option("--tune", a.tune, "run all that auto may choose from, and write the best by size to this file")
      ->check(valid_file_name);
  c.add_option("--tuning", a.tuning, "auto chooses by this file, which --tune wrote");
  c.add_option("--skew", a.skew, "each rank starts late by a random time up to this, e.g. 20us");
  c.add_option("--delays", a.delays,
               "or by these times, one per rank, with commas; never: the rank does not come");
  c.add_option("--seed", a.seed, "seed of --skew")->capture_default_str()->check(valid_seed);
  c.add_option(
      "--fail", a.fail,
      "a switch plane or a link to it fails while the collective runs, e.g. plane:2@20us, link:2@20us");
  c.add_option("--fallback", a.fallback,
               "then finish with this algorithm (default: the same, on what is left)");
  c.add_flag("--residency", a.residency,
             "show how long workgroups held their SMs, and how long they moved data");
  c.add_option("--set", a.sets,
               "change a parameter, e.g. --set fabric.link.latency=100ns (see 'infold describe')")
      ->allow_extra_args(false);
  c.add_flag("--check", a.check, "packets carry values, and every rank's result is compared");
  c.add_option("--inputs", a.inputs,
               "values to check with: exact (whole numbers, equality) or real (within what rounding allows)")
      ->capture_default_str();
  c.add_flag("--json", a.json, "print JSON");
  add_page_argument(c, a.page);
  add_trace_arguments(c, a.trace);
  c.add_flag("--no-timing", a.no_timing, "leave out the simulator's own speed: the same bytes on every run");
}

sim::Bytes whole_elements(const BenchOptions& options, sim::Bytes bytes, int ranks) {
  return study::whole_elements(options.collective, options.type, bytes, ranks);
}

sim::Result<BenchOptions> understand(const BenchArguments& args) {
  BenchOptions o;
  if (args.collective.empty()) return sim::fail("collective is required; try 'infold bench --help'");
  if (auto e = pick("collective", args.collective, o.collective); !e) return sim::fail_as(std::move(e));
  if (auto e = list_sizes(args, o.sizes); !e) return sim::fail_as(std::move(e));
  if (auto e = pick("data type", dtype_alias(args.dtype), o.type); !e) return sim::fail_as(std::move(e));
  if (auto e = pick("reduction", args.op, o.op); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_algorithms(args.algorithms, o.algorithms); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_protocols(args.protocols, o.protocols); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_engines(args.engines, o.engines); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_delays(args, o); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_burst(args.burst, o.burst); !e) return sim::fail_as(std::move(e));
  if (auto e = pick_fault(args, o); !e) return sim::fail_as(std::move(e));
  if (args.inputs != "exact" && args.inputs != "real")
    return sim::fail(fmt::format("--inputs: '{}' is neither exact nor real", args.inputs));
  o.real_inputs = args.inputs == "real";
  // A barrier has no size: one row of size 0.
  if (o.collective == coll::Collective::kBarrier) o.sizes = {0};
  return o;
}

}  // namespace infold::cli

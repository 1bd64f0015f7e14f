// Turns words into a kernel.
#include "cli/options/kernel_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <optional>
#include <string_view>

#include "cli/options/pick.h"
#include "cli/options/systems.h"
#include "config/yaml/units.h"

namespace infold::cli {

namespace {

constexpr std::int64_t kMostOfADimension = 1 << 20;  // limit of one dimension
constexpr std::int64_t kMostRows = std::int64_t{1} << 32;

CLI::Option* number(CLI::App& c, const std::string& name, std::int64_t& value, const std::string& about,
                    std::int64_t most = kMostOfADimension) {
  return c.add_option(name, value, about)->capture_default_str()->check(CLI::Range(std::int64_t{1}, most));
}

sim::Status parse_tile(const std::string& text, study::GemmKernel& g) {
  if (text.empty()) return {};
  const auto x = text.find('x');
  const auto side = [&](std::string_view part, int& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc{} && end == part.data() + part.size() && value >= 16 && value <= 512 &&
           value % 16 == 0;
  };
  if (x == std::string::npos || !side(std::string_view(text).substr(0, x), g.tile_m) ||
      !side(std::string_view(text).substr(x + 1), g.tile_n)) {
    return sim::fail(fmt::format("--tile: '{}' is not two multiples of 16 up to 512, such as 128x256", text));
  }
  return {};
}

sim::Status gemm(const KernelArguments& a, KernelOptions& o) {
  study::GemmKernel g{.m = a.m, .n = a.n, .k = a.k};
  if (auto e = parse_tile(a.tile, g); !e) return e;
  o.kernel = g;
  o.shape = {{"m", std::to_string(a.m)}, {"n", std::to_string(a.n)}, {"k", std::to_string(a.k)}};
  return {};
}

sim::Status conv(const KernelArguments& a, KernelOptions& o) {
  study::ConvKernel c{.shape = {.batch = a.batch,
                                .height = a.height,
                                .width = a.width,
                                .channels = a.channels,
                                .filters = a.filters,
                                .size = a.filter_size,
                                .stride = a.stride}};
  if (auto e = pick("pass", a.pass, c.pass); !e) return e;
  if (a.filter_size > std::min(a.height, a.width) || a.stride > a.filter_size + 1) {
    return sim::fail(fmt::format("a filter of {0}x{0} with a stride of {1} does not suit an image of {2}x{3}",
                                 a.filter_size, a.stride, a.height, a.width));
  }
  o.kernel = c;
  o.shape = {{"batch", std::to_string(a.batch)},     {"height", std::to_string(a.height)},
             {"width", std::to_string(a.width)},     {"channels", std::to_string(a.channels)},
             {"filters", std::to_string(a.filters)}, {"size", std::to_string(a.filter_size)},
             {"stride", std::to_string(a.stride)},   {"pass", a.pass}};
  return {};
}

sim::Status copy(const KernelArguments& a, KernelOptions& o) {
  study::CopyKernel c;
  if (auto e = pick("engine", a.engine, c.by); !e) return e;
  const auto parsed = parse_size_with_unit("--size", a.size);
  if (!parsed) return sim::fail(parsed.error());
  c.bytes = *parsed;
  if (c.bytes < sim::Bytes{1} || c.bytes > sim::Bytes::gib(1024))
    return sim::fail(fmt::format("--size: {} is not between 1 B and 1 TiB", a.size));
  o.kernel = c;
  o.shape = {{"bytes", std::to_string(c.bytes.count())}, {"engine", a.engine}};
  return {};
}

sim::Status stream(const KernelArguments& a, KernelOptions& o) {
  study::StreamKernelJob s{.rows = a.rows, .cols = a.cols};
  if (auto e = pick("operation", a.op, s.op); !e) return e;
  if (auto e = pick("grid", a.grid, s.grid); !e) return e;
  o.kernel = s;
  o.shape = {
      {"op", a.op}, {"rows", std::to_string(a.rows)}, {"cols", std::to_string(a.cols)}, {"grid", a.grid}};
  return {};
}

sim::Status attention(const KernelArguments& a, KernelOptions& o) {
  o.kernel = study::AttentionKernelJob{
      .shape = {.batch = a.batch, .sequence = a.sequence, .heads = a.heads, .head_size = a.head_size},
      .backward = a.backward};
  o.shape = {{"batch", std::to_string(a.batch)},
             {"sequence", std::to_string(a.sequence)},
             {"heads", std::to_string(a.heads)},
             {"head_size", std::to_string(a.head_size)},
             {"pass", a.backward ? "backward" : "forward"}};
  return {};
}

}  // namespace

void add_kernel_arguments(CLI::App& c, const std::string& kernel, KernelArguments& a) {
  a.kernel = kernel;
  if (kernel == "gemm") {
    number(c, "-m", a.m, "rows of the result");
    number(c, "-n", a.n, "columns of the result");
    number(c, "-k", a.k, "the dimension that is summed over");
    c.add_option("--tile", a.tile, "this tile, e.g. 128x256, instead of the best one");
  } else if (kernel == "conv") {
    number(c, "--batch", a.batch, "images");
    number(c, "--height", a.height, "of an image", 65536);
    number(c, "--width", a.width, "of an image", 65536);
    number(c, "--channels", a.channels, "of an image", 65536);
    number(c, "--filters", a.filters, "channels of the result", 65536);
    number(c, "--filter-size", a.filter_size, "height and width of the filter", 31);
    number(c, "--stride", a.stride, "pixels from one place of the filter to the next", 8);
    c.add_option("--pass", a.pass, "forward, data (gradient) or filter (gradient)")->capture_default_str();
  } else if (kernel == "copy") {
    c.add_option("--size", a.size, "bytes to copy, e.g. 64M, 1G (binary)")->capture_default_str();
    c.add_option("--engine", a.engine, "sm or dma")->capture_default_str();
  } else if (kernel == "stream") {
    c.add_option(
         "--op", a.op,
         "elementwise, add, activation-backward, batch-norm, batch-norm-backward, layer-norm, softmax, "
         "optimizer or bucket-copy")
        ->capture_default_str();
    number(c, "--rows", a.rows, "of the tensor; for images batch x height x width", kMostRows);
    number(c, "--cols", a.cols, "of the tensor; for images channels");
    c.add_option("--grid", a.grid, "any, together or free: must all workgroups be resident at the same time")
        ->capture_default_str();
  } else {
    number(c, "--batch", a.batch, "sequences");
    number(c, "--sequence", a.sequence, "length of a sequence");
    number(c, "--heads", a.heads, "attention heads", 4096);
    number(c, "--head-size", a.head_size, "elements of a head", 256);
    c.add_flag("--backward", a.backward, "gradients instead of results");
  }
  c.add_option("-d,--dtype", a.dtype, "fp16, bf16, tf32, fp32 or fp8")->capture_default_str();
  c.add_option("--gpu", a.gpu, "preset or file (default: the system's, or a100-80)");
  c.add_option("--beside", a.beside, "run a collective over all GPUs of a system meanwhile, e.g. all_reduce");
  c.add_option(kernel == "copy" ? "--beside-size" : "--size,--beside-size", a.beside_size, "its size")
      ->capture_default_str();
  c.add_option("--system", a.system,
               "preset or file: the kernel runs on its GPUs (default with --beside: dgx-a100)");
  c.add_option("--algo", a.algorithm, "with --beside: algorithm, or auto")->capture_default_str();
  c.add_option("--proto", a.protocol, "with --beside: simple, ll, ll128 or auto")->capture_default_str();
  c.add_option("--beside-engine", a.beside_engine, "with --beside: what carries it out: sm, dma or ace")
      ->capture_default_str();
  c.add_option("--burst", a.burst, "with --beside: packets that travel as one, as in 'bench'")
      ->capture_default_str();
  c.add_option(kernel == "conv" ? "--coll-channels" : "--channels,--coll-channels", a.coll_channels,
               "with --beside: workgroups of the collective on each GPU (default: the system's)")
      ->check(CLI::Range(1, 256));
  c.add_option("--priority", a.priority, "with --beside: of the collective's stream; compute has 0")
      ->capture_default_str()
      ->check(CLI::Range(-100, 100));
  c.add_option("--without", a.without,
               "with --beside: give kernel and collective their own of sm, l2, hbm or link, e.g. sm,hbm");
  add_what_if_argument(c, a.what_if);
  c.add_option("--sms-taken", a.sms_taken, "SMs that other work holds while the kernel runs")
      ->check(CLI::Range(0, 4096));
  c.add_option("--sms-reserved", a.sms_reserved, "SMs that the kernel must leave to collectives")
      ->check(CLI::Range(0, 4096));
  add_nodes_argument(c, a.nodes);
  c.add_option("--set", a.sets,
               "change a parameter, e.g. --set gpu.hbm.bandwidth=3TB/s (see 'infold describe')")
      ->allow_extra_args(false);
  c.add_flag("--json", a.json, "print JSON");
  add_page_argument(c, a.page);
  c.add_flag("--no-timing", a.no_timing, "leave out the simulator's own speed: the same bytes on every run");
}

sim::Result<gpu::Contention> understand_contention(const std::string& without, bool several_collectives) {
  gpu::Contention shared;
  if (without.empty()) return shared;
  const std::vector<std::pair<std::string_view, bool*>> known = {
      {"sm", &shared.sm}, {"l2", &shared.l2}, {"hbm", &shared.hbm}, {"link", &shared.link}};
  for (const std::string& name : split(without)) {
    std::vector<std::string_view> names;
    bool found = false;
    for (const auto& [known_name, flag] : known) {
      names.push_back(known_name);
      if (known_name != name) continue;
      *flag = false;
      found = true;
    }
    if (!found) {
      return sim::fail(fmt::format("--without: there is no '{}'{}; there is {}", name,
                                   config::did_you_mean(name, names), fmt::join(names, ", ")));
    }
  }
  if (!several_collectives && shared.sm && shared.l2 && shared.hbm) {
    return sim::fail(
        "--without: 'link' alone has no effect: kernels send nothing over links, so nothing shares them");
  }
  return shared;
}

sim::Result<KernelOptions> understand(const KernelArguments& a) {
  KernelOptions o;
  if (auto e = pick("data type", a.dtype, o.precision); !e) return sim::fail_as(std::move(e));
  auto understood = a.kernel == "gemm"     ? gemm(a, o)
                    : a.kernel == "conv"   ? conv(a, o)
                    : a.kernel == "copy"   ? copy(a, o)
                    : a.kernel == "stream" ? stream(a, o)
                                           : attention(a, o);
  if (!understood) return sim::fail_as(std::move(understood));
  return o;
}

}  // namespace infold::cli

// A matrix of words is read cell by cell, and becomes the topology that a dump of NCCL would say.
#include "formats/topology/nvidia_topo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "config/catalog.h"
#include "config/yaml/position.h"
#include "config/yaml/source.h"
#include "config/yaml/text.h"
#include "formats/topology/nccl_topology.h"

namespace infold::formats {

namespace {

constexpr std::size_t kMostTopoGpus = 256;
constexpr int kMostNvlinks = 64;
/// No GPU has more NVLinks, so if all pairs together had more, they share those to switches.
constexpr int kLinksOfAGpu = 18;
constexpr std::array<std::string_view, 5> kPcieWords = {"PIX", "PXB", "PHB", "NODE", "SYS"};

struct Cell {
  int nvlinks = 0;
  bool same_switch = false;  ///< PIX or PXB: no more than PCIe bridges between them
};

struct TopoMatrix {
  std::vector<std::vector<Cell>> cells;
  std::vector<config::Position> rows;
  std::vector<std::string> nics;
};

/// Without the codes that underline the header on a terminal.
std::string without_codes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && !(text[i] >= '@' && text[i] <= '~')) ++i;
    } else {
      out += text[i] == '\r' ? ' ' : text[i];
    }
  }
  return out;
}

std::vector<std::string_view> words_of_row(std::string_view line) {
  constexpr std::size_t kMostWords = 1024;
  std::vector<std::string_view> words;
  for (line = config::trimmed(line); !line.empty() && words.size() < kMostWords;
       line = config::trimmed(line)) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

std::optional<int> numbered(std::string_view word, std::string_view before) {
  if (!word.starts_with(before)) return std::nullopt;
  word.remove_prefix(before.size());
  int value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc{} || stop != word.data() + word.size() || value < 0)
    return std::nullopt;
  return value;
}

sim::Result<TopoMatrix> read_matrix(std::string_view text, const std::string& file) {
  TopoMatrix out;
  std::size_t gpus = 0;
  int number = 0;
  const auto refuse = [&](std::string why) {
    return sim::fail(config::at(file, {number, 1}, std::move(why)));
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = words_of_row(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (words.empty()) continue;
    if (gpus == 0) {  // the header names the columns; NICs and affinities stand behind the GPUs
      while (gpus < words.size() && numbered(words[gpus], "GPU") == static_cast<int>(gpus)) ++gpus;
      if (gpus > kMostTopoGpus) return refuse(fmt::format("more than {} GPUs", kMostTopoGpus));
      continue;
    }
    const auto row = numbered(words[0], "GPU");
    if (!row) {
      if (words[0] == "Legend:") break;
      out.nics.push_back(config::shown(words[0], 16));
      continue;
    }
    if (*row != static_cast<int>(out.cells.size()) || out.cells.size() == gpus)
      return refuse(fmt::format("GPU{} is not the next row of {} GPUs", *row, gpus));
    if (words.size() < gpus + 1)
      return refuse(fmt::format("the row has fewer than {} columns of GPUs", gpus));
    auto& cells = out.cells.emplace_back();
    out.rows.push_back({number, 1});
    for (std::size_t column = 0; column < gpus; ++column) {
      const std::string_view word = words[column + 1];
      Cell cell;
      if (const auto links = numbered(word, "NV")) {
        if (*links < 1 || *links > kMostNvlinks)
          return refuse(fmt::format("NV{} is not a number of links", *links));
        cell.nvlinks = *links;
      } else if (std::ranges::find(kPcieWords, word) != kPcieWords.end()) {
        cell.same_switch = word == "PIX" || word == "PXB";
      } else if (word != "X" || column + 1 != out.cells.size()) {
        return refuse(fmt::format("column {}: '{}' is none of X, NV#, PIX, PXB, PHB, NODE, SYS", column + 1,
                                  config::shown(word, 16)));
      }
      cells.push_back(cell);
    }
  }
  if (gpus == 0 || out.cells.size() != gpus) {
    number = 1;
    return refuse(
        fmt::format("there is no whole matrix of GPUs in it ({} columns, {} rows)", gpus, out.cells.size()));
  }
  if (gpus < 2) return refuse("it has one GPU, which is joined to nothing");
  for (std::size_t a = 0; a < gpus; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (out.cells[a][b].nvlinks != out.cells[b][a].nvlinks) {
        number = out.rows[a].line;
        return refuse(fmt::format("GPU{} and GPU{} do not agree on their links", a, b));
      }
    }
  }
  return out;
}

/// The links that all pairs have, if they share them: the way to switches.
int links_to_switches(const TopoMatrix& matrix) {
  const int links = matrix.cells[0][1].nvlinks;
  const std::size_t n = matrix.cells.size();
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (a != b && matrix.cells[a][b].nvlinks != links) return 0;
    }
  }
  return links * static_cast<int>(n - 1) > kLinksOfAGpu ? links : 0;
}

/// The links of a system's planes, one number per plane; none if it has no switches.
std::vector<int> planes_of_system(const study::SystemSpec& system) {
  const net::FabricSpec& fabric = system.machine.fabric;
  if (fabric.topology != net::Topology::kSwitchPlanes) return {};
  if (fabric.links_per_plane.size() > 1) return fabric.links_per_plane;
  return std::vector<int>(static_cast<std::size_t>(fabric.planes), fabric.links_per_plane.front());
}

/// The first preset with as many links per GPU to its switches, of this GPU if one is asked for.
std::optional<study::SystemSpec> switched_preset(int links, int gpus, const std::string& gpu) {
  std::optional<study::SystemSpec> best;
  for (const std::string& name : config::preset_names(config::FileKind::kSystem)) {
    auto loaded = config::load_system(name, config::Validate{});
    if (!loaded) continue;
    const std::vector<int> planes = planes_of_system(*loaded);
    if (std::accumulate(planes.begin(), planes.end(), 0) != links || loaded->machine.gpus < gpus) continue;
    if (!gpu.empty() && loaded->machine.gpu.name != gpu) continue;
    if (!best || loaded->machine.gpus < best->machine.gpus) best = std::move(*loaded);
  }
  return best;
}

/// GPUs with nothing but PCIe bridges between them share one switch.
std::vector<std::size_t> pcie_groups(const TopoMatrix& matrix) {
  std::vector<std::size_t> group(matrix.cells.size());
  for (std::size_t a = 0; a < group.size(); ++a) {
    group[a] = a;
    for (std::size_t b = 0; b < a; ++b) {
      if (matrix.cells[a][b].same_switch) group[a] = std::min(group[a], group[b]);
    }
  }
  return group;
}

std::string name_of_gpu(std::size_t gpu) {
  return fmt::format("gpu{}", gpu);
}

}  // namespace

sim::Result<SystemImport> read_nvidia_topo(std::string_view text, const std::string& file,
                                           const std::string& stem, const std::string& gpu) {
  const std::string plain = without_codes(text);
  auto matrix = read_matrix(plain, file);
  if (!matrix) return sim::fail_as(std::move(matrix));
  const std::size_t n = matrix->cells.size();
  const int shared = links_to_switches(*matrix);
  Topology topology;
  topology.at = matrix->rows.front();
  topology.nets = matrix->nics;
  std::string preset = gpu;
  std::vector<int> planes;
  Notes notes;
  if (shared > 0) {
    const auto known = switched_preset(shared, static_cast<int>(n), gpu);
    if (!known) {
      return sim::fail(config::at(
          file, topology.at,
          fmt::format(
              "no preset has {} GPUs{} with {} NVLinks each to switches, whose number the file does not say",
              n, gpu.empty() ? "" : " " + gpu, shared)));
    }
    planes = planes_of_system(*known);
    notes.assumed.push_back(fmt::format("the {} NVLinks of a GPU lead to {} switches, as in {}", shared,
                                        planes.size(), known->name));
    if (gpu.empty()) {
      preset = known->machine.gpu.name;
      notes.assumed.push_back(fmt::format(
          "the GPUs are {}, the first with as many NVLinks; 'infold import FILE --gpu NAME' takes others",
          preset));
    }
  } else if (gpu.empty()) {
    return sim::fail(config::at(file, topology.at,
                                "it does not say which GPUs these are; 'infold import FILE --gpu NAME -o "
                                "machine.yaml' takes a preset's"));
  }
  const std::vector<std::size_t> groups = pcie_groups(*matrix);
  for (std::size_t a = 0; a < n; ++a) {
    TopologyGpu& made = topology.gpus.emplace_back();
    made.bus = name_of_gpu(a);
    made.detailed = true;
    made.rank = static_cast<int>(a);
    made.at = matrix->rows[a];
    made.above = {"0", fmt::format("bridge{}", groups[a])};
    for (std::size_t plane = 0; plane < planes.size(); ++plane)
      made.links.push_back(
          {TopologyLink::To::kSwitch, fmt::format("switch{}", plane), planes[plane], made.at});
    for (std::size_t b = 0; b < n && planes.empty(); ++b) {
      if (matrix->cells[a][b].nvlinks > 0)
        made.links.push_back({TopologyLink::To::kGpu, name_of_gpu(b), matrix->cells[a][b].nvlinks, made.at});
    }
  }
  return make_topology_system(topology, "the output of nvidia-smi topo -m", file, stem, preset,
                              std::move(notes));
}

}  // namespace infold::formats

// Walks the tree of a topology file. Numbers that are missing are left out; those that make no sense are
// refused.
#include "formats/topology/nccl_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "config/yaml/text.h"
#include "formats/text/xml_tree.h"

namespace infold::formats {

namespace {

constexpr XmlLimits kTopologyLimits{.depth = 32, .elements = 100'000};
constexpr std::size_t kMostTopologyGpus = 1024;
constexpr int kMostLinks = 1024;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

bool is_gpu_class(std::string_view of) {
  for (const std::string_view known : {"0x0300", "0x0302", "0x0380", "0x1200"}) {
    if (of.starts_with(known)) return true;
  }
  return false;
}

/// "32.0 GT/s PCIe" and 16 lanes as bytes per second of data; 0 if it is not said.
double pcie_rate(std::string_view speed, std::string_view width) {
  double giga = 0;
  int lanes = 0;
  std::from_chars(speed.data(), speed.data() + speed.size(), giga);
  std::from_chars(width.data(), width.data() + width.size(), lanes);
  if (!(giga > 0 && giga < 1000) || lanes <= 0 || lanes > 64) return 0;
  // The first two generations send 8 bits as 10, the later ones 128 as 130.
  const double data = giga < 8 ? 8.0 / 10.0 : 128.0 / 130.0;
  return giga * 1e9 * lanes * data / 8;
}

class TopologyReader {
 public:
  TopologyReader(const std::string& file, Topology& out) : file_(file), out_(out) {}

  sim::Status read(const XmlNode& root) {
    out_.at = root.at;
    out_.rccl = root.text("version") == "2";
    for (const XmlNode& child : root.children) {
      if (child.name != "cpu") {
        out_.unknown.push_back(config::shown(child.name, 24));
        continue;
      }
      above_ = {std::to_string(out_.cpus++)};
      hosts_.insert(std::string(child.text("host_hash")));
      if (auto inside = children(child, 0); !inside) return inside;
    }
    out_.hosts = static_cast<int>(hosts_.size());
    return {};
  }

 private:
  sim::Status refuse(const XmlNode& node, std::string why) const {
    return sim::fail(config::at(file_, node.at, std::move(why)));
  }

  sim::Result<std::optional<int>> number(const XmlNode& node, std::string_view name, int least,
                                         int most) const {
    const std::string* text = node.find(name);
    if (text == nullptr) return std::optional<int>{};
    int value = 0;
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, value);
    if (error != std::errc{} || stop != end || text->empty() || value < least || value > most)
      return sim::fail(config::at(file_, node.at,
                                  fmt::format("<{}> {}: {} is not a whole number from {} to {}", node.name,
                                              name, config::quote(*text), least, most)));
    return std::optional<int>{value};
  }

  /// The elements below a CPU, a bridge or a device. `rate` is that of the way up from here.
  sim::Status children(const XmlNode& node, double rate) {
    for (const XmlNode& child : node.children) {
      if (child.name == "pci") {
        if (auto read = pci(child, rate); !read) return read;
      } else if (child.name == "nic") {
        for (const XmlNode& net : child.children) out_.nets.push_back(config::shown(net.text("name"), 24));
      } else if (child.name == "gpu") {
        return refuse(child, "a <gpu> stands inside the <pci> of its device");
      } else {
        out_.unknown.push_back(config::shown(child.name, 24));
      }
    }
    return {};
  }

  sim::Status pci(const XmlNode& node, double rate) {
    const std::string bus = lower(node.text("busid"));
    if (bus.empty()) return refuse(node, "<pci> has no busid");
    const double own = pcie_rate(node.text("link_speed"), node.text("link_width"));
    if (own > 0) rate = rate > 0 ? std::min(rate, own) : own;
    const auto details = std::ranges::find(node.children, "gpu", &XmlNode::name);
    if (details != node.children.end() || is_gpu_class(node.text("class"))) {
      if (out_.gpus.size() == kMostTopologyGpus)
        return refuse(node, fmt::format("more than {} GPUs", kMostTopologyGpus));
      if (!buses_.insert(bus).second)
        return refuse(node, fmt::format("busid {} a second time", config::quote(bus)));
      TopologyGpu gpu;
      gpu.bus = bus;
      gpu.device = lower(node.text("device"));
      gpu.above = above_;
      gpu.pcie = rate;
      gpu.at = node.at;
      if (details != node.children.end()) {
        if (auto read = read_gpu(*details, gpu); !read) return read;
      }
      out_.gpus.push_back(std::move(gpu));
      return {};
    }
    if (node.text("class").starts_with("0x0604")) ++out_.bridges;
    above_.push_back(bus);
    auto inside = children(node, rate);
    above_.pop_back();
    return inside;
  }

  sim::Status read_gpu(const XmlNode& node, TopologyGpu& gpu) {
    gpu.detailed = true;
    gpu.gcn = lower(node.text("gcn"));
    if (!gpu.gcn.empty()) out_.rccl = true;
    const auto sm = number(node, "sm", 0, 10'000);
    if (!sm) return sim::fail_as(sm);
    gpu.sm = sm->value_or(0);
    const auto rank = number(node, "rank", -1, 1'000'000);
    if (!rank) return sim::fail_as(rank);
    gpu.rank = rank->value_or(-1);
    for (const XmlNode& child : node.children) {
      if (child.name != "nvlink" && child.name != "xgmi") {
        out_.unknown.push_back(config::shown(child.name, 24));
        continue;
      }
      TopologyLink link;
      link.at = child.at;
      link.target = lower(child.text("target"));
      if (link.target.empty()) return refuse(child, fmt::format("<{}> has no target", child.name));
      const auto count = number(child, "count", 1, kMostLinks);
      if (!count) return sim::fail_as(count);
      if (!*count) return refuse(child, fmt::format("<{}> has no count", child.name));
      link.count = **count;
      const std::string_view of = child.text("tclass");
      link.to = of.starts_with("0x068000") ? TopologyLink::To::kSwitch
                : is_gpu_class(of)         ? TopologyLink::To::kGpu
                                           : TopologyLink::To::kOther;
      gpu.links.push_back(std::move(link));
    }
    return {};
  }

  const std::string& file_;
  Topology& out_;
  std::vector<std::string> above_;
  std::set<std::string> hosts_;
  std::set<std::string> buses_;
};

}  // namespace

sim::Result<Topology> read_topology(std::string_view text, const std::string& file) {
  const auto root = parse_xml(text, file, kTopologyLimits);
  if (!root) return sim::fail_as(root);
  if (root->name != "system")
    return sim::fail(
        config::at(file, root->at, fmt::format("expected <system>, not <{}>", config::shown(root->name))));
  Topology out;
  if (auto read = TopologyReader(file, out).read(*root); !read) return sim::fail_as(std::move(read));
  if (out.gpus.empty()) return sim::fail(config::at(file, root->at, "there are no GPUs in it"));
  std::set<int> ranks;
  for (const TopologyGpu& gpu : out.gpus) ranks.insert(gpu.rank);
  if (ranks.size() == out.gpus.size() && *ranks.begin() >= 0)
    std::ranges::sort(out.gpus, {}, &TopologyGpu::rank);
  return out;
}

}  // namespace infold::formats

// Device ids are those of the PCI ID repository (pci.ids).
#include "formats/topology/gpu_names.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "config/yaml/text.h"

namespace infold::formats {

namespace {

struct Device {
  std::string_view id;
  std::string_view preset;
};
constexpr std::array kDevices = {
    Device{"0x1db1", "v100"},     // V100 SXM2 16 GB
    Device{"0x1db5", "v100"},     // V100 SXM2 32 GB
    Device{"0x1db8", "v100"},     // V100 SXM3 32 GB
    Device{"0x20b0", "a100-40"},  // A100 SXM4 40 GB
    Device{"0x20b2", "a100-80"},  // A100 SXM4 80 GB
    Device{"0x2330", "h100"},     // H100 SXM5 80 GB
    Device{"0x2335", "h200"},     // H200 SXM 141 GB
    Device{"0x2901", "b200"},     // B200
    Device{"0x74a1", "mi300x"},   // Instinct MI300X
};

struct Architecture {
  int sm;
  std::string_view gcn;
  std::string_view preset;
};
constexpr std::array kArchitectures = {
    Architecture{70, "", "v100"},  Architecture{80, "", "a100-80"},     Architecture{90, "", "h100"},
    Architecture{100, "", "b200"}, Architecture{0, "gfx942", "mi300x"}, Architecture{0, "942", "mi300x"},
};

}  // namespace

sim::Result<KnownGpu> find_gpu(std::string_view device, int sm, std::string_view gcn) {
  for (const Device& known : kDevices) {
    if (known.id == device) return KnownGpu{known.preset, fmt::format("device {}", known.id), true};
  }
  std::vector<std::string> said;
  if (!device.empty()) said.push_back(fmt::format("device {}", config::shown(device, 12)));
  if (!gcn.empty()) {
    said.push_back(fmt::format("gcn {}", config::shown(gcn, 12)));
  } else if (sm > 0) {
    said.push_back(fmt::format("sm {}", sm));
  }
  for (const Architecture& known : kArchitectures) {
    // RCCL writes the number of compute units as `sm`.
    if (gcn.empty() ? known.sm > 0 && known.sm == sm : known.gcn == gcn)
      return KnownGpu{known.preset, said.back(), false};
  }
  if (said.empty()) return sim::fail("the file does not say which GPUs these are (no device, sm or gcn)");
  std::vector<std::string> presets;
  for (const Architecture& known : kArchitectures) {
    std::string name = known.gcn.empty() ? fmt::format("sm {} ({})", known.sm, known.preset)
                                         : fmt::format("{} ({})", known.gcn, known.preset);
    if (known.gcn != "942") presets.push_back(std::move(name));
  }
  return sim::fail(fmt::format("there is no preset of this GPU ({}); there are {}", fmt::join(said, ", "),
                               fmt::join(presets, ", ")));
}

}  // namespace infold::formats

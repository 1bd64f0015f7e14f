// The parts of a unit, and where its packets and events go.
#include "inc/reduction_unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/random.h"

namespace infold::inc {

namespace {
std::uint32_t capacity_of(const IncSpec& spec) {
  const auto by_bytes = static_cast<std::uint32_t>(spec.table_bytes.count() / spec.payload.count());
  return spec.table_entries == 0 ? by_bytes
                                 : std::min(by_bytes, static_cast<std::uint32_t>(spec.table_entries));
}
}  // namespace

ReductionUnit::ReductionUnit(net::NodeId chip, const IncSpec& spec, sim::EventQueue& events,
                             const net::FabricMap& map, net::SwitchFabric& fabric, const Regions& regions,
                             net::Payloads* payloads)
    : chip_(chip),
      spec_(spec),
      events_(events),
      map_(map),
      fabric_(fabric),
      regions_(regions),
      payloads_(payloads),
      alu_pace_(spec.alu_rate),
      port_of_link_(map.links()),
      ports_(map.outlets(chip).size()),
      capacity_(capacity_of(spec)),
      table_(ports_.size(), capacity_),
      stalled_(ports_.size()) {
  if (spec.switch_alu_rate > sim::Bandwidth{}) switch_alu_pace_ = sim::Pace(spec.switch_alu_rate);
  std::uint32_t port = 0;
  for (const auto& outlet : map.outlets(chip)) port_of_link_[outlet.link] = port++;
  fabric.attach_unit(chip, *this);
}

std::uint32_t ReductionUnit::home_port(const net::Packet& packet) const {
  const Region& region = region_of(packet);
  const std::uint64_t block = packet.offset() / region.block();
  const std::uint64_t ports = ports_.size();
  return static_cast<std::uint32_t>((block + sim::mix(block / ports + (region.seed() << 40))) % ports);
}

void ReductionUnit::arrive(const net::Packet& packet, net::LinkId in) {
  switch (packet.kind()) {
    case net::PacketKind::kReduceWrite:
      return push(packet, in);
    case net::PacketKind::kLoadReduce:
      return request(packet, in);
    case net::PacketKind::kReply:
      return reply(packet, in);
    case net::PacketKind::kMulticastWrite:
      return multicast(packet, in);
    case net::PacketKind::kResult:
      return spread_result(packet, in);
    default:
      INFOLD_CHECK(false, "packets for a unit are of the kinds that it acts on");
  }
}

void ReductionUnit::handle(std::uint32_t event) {
  const std::uint32_t what = event & ((1U << kEventShift) - 1);
  switch (static_cast<Event>(event >> kEventShift)) {
    case kComplete:
      return complete(what);
    case kLeft:
      return left(static_cast<std::uint16_t>(what));
    case kPatience:
      return lose_patience(what);
    case kRemind: {
      const Reminder r = reminders_[what];
      reminders_.give_back(what);
      return remind(r.packet, r.from);
    }
  }
}

bool ReductionUnit::drained() const {
  for (std::uint32_t port = 0; port < ports_.size(); ++port) {
    if (table_.used(port) != 0 || stalled_.any(port) || ports_[port].results != sim::Bytes{}) return false;
  }
  return outgoing_.used() == 0 && gather_index_.size() == 0;
}

void ReductionUnit::who_waits(std::vector<std::string>& out) const {
  constexpr int kMostNamed = 8;
  const std::string name = map_.name(chip_);
  for (std::uint32_t port = 0; port < ports_.size(); ++port) {
    for (EntryId id = table_.oldest(port); id != kNoEntry; id = table_.after(id)) {
      const Entry& e = table_[id];
      std::string missing;
      int named = 0;
      for (const TreeNode::Child& c : e.node->children) {
        if (!e.push && e.node->parent != net::kNoLink) break;  // more ranks may be missing
        const std::uint16_t first = e.region->lowest(e.region->tree(e.way), c, e.offset());
        if (first == Entry::kNobody || e.has(first)) continue;
        if (++named <= kMostNamed)
          missing += fmt::format("{} {}", named == 1 ? "; nothing from" : ",", map_.name(c.node));
      }
      if (named > kMostNamed) missing += fmt::format(" and {} more", named - kMostNamed);
      out.push_back(fmt::format("{} port {}: block at {} of region {} has {} of {} contributions{}", name,
                                port, e.offset(), e.region->id, e.count, e.expected, missing));
    }
    std::size_t packets = 0;
    for (std::uint32_t g = stalled_.first(port); g != KeyIndex::kNone; g = stalled_[g].after)
      packets += stalled_[g].packets.size();
    if (packets > 0)
      out.push_back(
          fmt::format("{} port {}: {} packets wait for room in its reduction table", name, port, packets));
  }
  for (const Gather& g : gathers_.slots()) {
    if (g.left > 0)
      out.push_back(fmt::format("{}: multicast of block at {} waits for {} acknowledgements", name,
                                static_cast<std::uint32_t>(g.key), g.left));
  }
}

}  // namespace infold::inc

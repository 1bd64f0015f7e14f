// Building the fabric from its blueprint, and the few things a packet does between links.
#include "net/packet/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/check.h"
#include "sim/random.h"

namespace infold::net {

namespace {
/// Inputs of a node's outputs: the links into it, after its own senders when it is a GPU. Where no packet
/// passes through a GPU, the links into it are no inputs.
struct InputNumbers {
  std::vector<std::uint32_t> next;
  bool through_gpus;
  std::uint32_t take(const Blueprint& b, NodeId node) {
    return b.is_gpu(node) && !through_gpus ? 0 : next[static_cast<std::size_t>(node)]++;
  }
  explicit InputNumbers(const Blueprint& b)
      : next(static_cast<std::size_t>(b.nodes())), through_gpus(b.style != RoutingStyle::kShortest) {
    for (int gpu = 0; gpu < b.gpus; ++gpu) next[static_cast<std::size_t>(gpu)] = Network::kOwnInputs;
  }
};
/// As many whole packets as fill a quarter of the smallest buffer, on their way or acknowledged; one at
/// least.
sim::Bytes burst_that_fits(const Blueprint& b) {
  sim::Bytes largest;
  for (const LinkType& type : b.link_types)
    largest = sim::max(largest, WireCost(type.packet).largest_packet());
  const sim::Bytes payload = packet_payload(b);
  const std::int64_t room = smallest_buffer(b).count() / 4 / largest.count();
  return payload * std::clamp<std::int64_t>(room, 1, kMaxPayload / payload.count());
}
/// By node: the least latency of a link into it.
std::vector<sim::Time> soonest_arrivals(const Blueprint& b) {
  std::vector<sim::Time> soonest(static_cast<std::size_t>(b.nodes()), sim::Time::never());
  for (const Cable& c : b.cables) {
    for (const NodeId end : {c.a, c.b}) {
      sim::Time& s = soonest[static_cast<std::size_t>(end)];
      s = sim::min(s, b.type_of(c).latency);
    }
  }
  return soonest;
}
/// Links differ in what decides how long a packet takes on them: one that comes in over a slow link, or with
/// a large header, may be still coming in when a fast one could have sent all of it.
bool mixes_links(const Blueprint& b) {
  const LinkType& first = b.link_types.front();
  return std::any_of(b.link_types.begin(), b.link_types.end(), [&](const LinkType& type) {
    return type.rate != first.rate || type.packet.header != first.packet.header ||
           type.packet.ack != first.packet.ack;
  });
}
}  // namespace

Network::Network(sim::EventQueue& events, const Blueprint& blueprint, const Routes& routes,
                 const FabricSpec& spec, bool packet_by_packet, const InNetwork& in_network)
    : events_(events),
      gpus_(blueprint.gpus),
      layers_(routes.layers()),
      table_(routes.table()),
      routes_(routes),
      blueprint_(blueprint),
      endpoints_(static_cast<std::size_t>(blueprint.gpus)),
      packet_by_packet_(packet_by_packet),
      two_stages_(
          std::any_of(blueprint.cables.begin(), blueprint.cables.end(),
                      [&](const Cable& c) { return !blueprint.is_gpu(c.a) && !blueprint.is_gpu(c.b); })),
      hashes_(spec.interleave == Interleave::kHash),
      interleave_block_(static_cast<std::uint64_t>(sim::max(spec.interleave_block, sim::Bytes{1}).count())),
      payload_sent_(static_cast<std::size_t>(blueprint.gpus)),
      payload_received_(static_cast<std::size_t>(blueprint.gpus)),
      nodes_(blueprint.nodes()),
      max_burst_(burst_that_fits(blueprint)),
      lanes_(static_cast<std::size_t>(blueprint.gpus)),
      in_network_(in_network),
      block_(spec.interleave_block),
      soonest_(soonest_arrivals(blueprint)) {
  INFOLD_CHECK(spec.interleave_block > sim::Bytes{}, "a block has bytes");
  INFOLD_CHECK(blueprint.link_types.size() <= kMostLinkTypes, "links are of few types");
  payload_.fill(static_cast<std::uint16_t>(net::packet_payload(blueprint).count()));
  for (std::size_t type = 0; type < blueprint.link_types.size(); ++type) {
    const PacketSpec& packet = blueprint.link_types[type].packet;
    wires_[type] = WireCost(packet);
    if (in_network.units) wires_[type].add_in_network(in_network.payload, packet.header, in_network.request);
  }
  if (in_network.units) {
    for (std::size_t kind = static_cast<std::size_t>(PacketKind::kReduceWrite); kind < kPacketKinds; ++kind)
      payload_[kind] = static_cast<std::uint16_t>(in_network.payload.count());
  }
  const bool mixed = mixes_links(blueprint);
  const int classes = in_network.units ? kPacketClasses : kPlainClasses;
  InputNumbers inputs(blueprint);
  std::vector<std::uint32_t> into(static_cast<std::size_t>(nodes_));
  std::vector<Link::Setup> setups;
  setups.reserve(2 * blueprint.cables.size());
  for (const Cable& cable : blueprint.cables) {
    const LinkType& type = blueprint.type_of(cable);
    for (const auto& [from, to] : {std::pair{cable.a, cable.b}, std::pair{cable.b, cable.a}}) {
      const ChipType& near = blueprint.chip_of(from);
      const ChipType& far = blueprint.chip_of(to);
      Link::Setup s;
      s.id = static_cast<LinkId>(setups.size());
      s.from = from;
      s.to = to;
      s.type = cable.type;
      s.rate = type.rate;
      s.latency = type.latency;
      s.error_distance = type.error_distance;
      s.far_latency = far.latency;
      s.speedup = far.speedup;
      // What a switch does not know of yet needs at least the fastest way into it and through the chip. Where
      // a buffer feeds few outputs at once, these must decide in order of time, one at a time.
      if (!blueprint.is_gpu(from) && near.speedup == 0) s.lookahead = soonest_into(from) + near.latency;
      // An arbiter that lets a control packet pass chooses at the same time who goes behind it: half the
      // events of a GPU's link. (A burst lets control packets slip in, and is chosen when its turn has come.)
      if (blueprint.is_gpu(from) && packet_by_packet && near.speedup == 0)
        s.lookahead = sim::Pace(s.rate).time(wire(s.type).largest_control()) + sim::Time::ps(1);
      // A unit acts when packets arrive, which the links of its switch can not foresee.
      if (in_network.units) s.lookahead = sim::min(s.lookahead, in_network.latency);
      s.buffer = far.buffer;
      s.classes = classes;
      s.channels = classes * layers_;
      s.passes_on = inputs.through_gpus || !blueprint.is_gpu(to);
      s.competes = near.speedup != 0;
      s.mixed = mixed;
      s.far_input = inputs.take(blueprint, to);
      s.far_lane = into[static_cast<std::size_t>(to)]++;
      if (blueprint.is_gpu(from)) ++lanes_[static_cast<std::size_t>(from)];
      setups.push_back(s);
    }
  }
  lanes_of_first_ = sim::Divisor(static_cast<std::uint64_t>(std::max(lanes_[0], 1)));
  if (in_network.units) {
    units_.resize(static_cast<std::size_t>(blueprint.switches));
    for (int chip = blueprint.gpus; chip < blueprint.nodes(); ++chip)
      unit_inputs_.push_back(inputs.next[static_cast<std::size_t>(chip)]++);
  }
  link_store_ = std::vector<std::optional<Link>>(setups.size());
  links_.reserve(setups.size());
  for (Link::Setup& s : setups) {
    // Known once every cable has been counted.
    s.inputs = static_cast<int>(inputs.next[static_cast<std::size_t>(s.from)]);
    links_.push_back(&link_store_[s.id].emplace(*this, s));
  }
  const auto competes = [](const Link::Setup& s) { return s.competes; };
  if (std::any_of(setups.begin(), setups.end(), competes)) {
    outputs_.resize(static_cast<std::size_t>(nodes_));
    for (Link* link : links_) outputs_[static_cast<std::size_t>(link->from())].push_back(link);
  }
  ways_.reserve(routes_.all_candidates().size());
  for (const LinkId id : routes_.all_candidates()) ways_.push_back(links_[id]);
  if (in_network.units) {
    lane_links_.resize(static_cast<std::size_t>(blueprint.gpus));
    for (Link* link : links_) {
      if (blueprint.is_gpu(link->from())) lane_links_[static_cast<std::size_t>(link->from())].push_back(link);
    }
  }
  // Every link out of a node has every link into it as an input, unless packets end there.
  std::vector<std::vector<Link*>> arriving(static_cast<std::size_t>(nodes_));
  for (Link* in : links_) {
    if (inputs.through_gpus || !blueprint.is_gpu(in->to()))
      arriving[static_cast<std::size_t>(in->to())].push_back(in);
  }
  for (Link* out : links_) {
    for (Link* in : arriving[static_cast<std::size_t>(out->from())])
      out->set_input(setups[in->id()].far_input, *in);
  }
}

Network::~Network() = default;

void Network::choose_when_free() {
  for (Link* link : links_) {
    if (link->from() < gpus_) link->look_no_further();
  }
}

void Network::decide_in_turn(NodeId chip) {
  const sim::Time now = events_.now();
  for (bool sent = true; sent;) {
    sent = false;
    deciding_.clear();
    for (Link* link : outputs_[static_cast<std::size_t>(chip)]) {
      if (link->may_decide(now)) deciding_.push_back(link);
    }
    std::stable_sort(deciding_.begin(), deciding_.end(),
                     [](const Link* a, const Link* b) { return a->last_sent() < b->last_sent(); });
    for (Link* link : deciding_) {
      const sim::Time before = link->last_sent();
      link->decide();
      sent = sent || link->last_sent() != before;
    }
  }
}

std::uint16_t Network::spread_of(std::uint64_t address) const {
  const std::uint64_t block = interleave_block_.quotient(address);
  const std::uint64_t round = lanes_of_first_.quotient(block);
  const std::uint64_t lanes = lanes_of_first_.value();
  std::uint64_t lane = block - round * lanes;
  if (hashes_) {
    lane += lanes_of_first_.remainder(sim::mix(round));
    if (lane >= lanes) lane -= lanes;
  }
  // A second stage of switches spreads by the round; where there is none, the lane alone decides, so
  // that a packet stays on its lane through a switch.
  return static_cast<std::uint16_t>(two_stages_ ? round % (65536 / lanes) * lanes + lane : lane);
}

bool Network::quiet() const {
  return packets_sent_ == packets_delivered_ && std::all_of(links_.begin(), links_.end(), [](const auto& l) {
           return l->idle() && l->all_credits_home();
         });
}

std::vector<std::string> Network::who_waits() const {
  std::vector<std::string> out;
  for (const auto& l : links_) {
    if (auto why = l->why_waiting(); !why.empty()) out.push_back(std::move(why));
  }
  return out;
}

std::string Network::name(NodeId node) const {
  return node < gpus_ ? fmt::format("gpu{}", node) : fmt::format("switch{}", node - gpus_);
}

void Network::register_stats(sim::StatRegistry& registry) const {
  for (const auto& l : links_) {
    for (int c = 0; c < l->channels(); ++c) {
      const std::string prefix =
          fmt::format("link.{}.{}-{}.vc{}.", &l - links_.data(), name(l->from()), name(l->to()), c);
      const Link::Traffic& traffic = l->traffic(c);
      registry.add(prefix + "wire_bytes", traffic.wire_bytes);
      registry.add(prefix + "packets", traffic.packets);
    }
  }
}

std::uint64_t Network::packet_hops() const {
  std::uint64_t sum = 0;
  for (const auto& l : links_) sum += l->traffic().packets;
  return sum;
}

std::uint64_t Network::unit_hops() const {
  std::uint64_t sum = 0;
  for (const auto& l : links_) sum += l->units();
  return sum;
}

}  // namespace infold::net

// Building the fabric from its blueprint, and the few things a packet does between links.
#include "net/packet/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/check.h"

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
    for (int gpu = 0; gpu < b.gpus; ++gpu) next[static_cast<std::size_t>(gpu)] = Fabric::kOwnInputs;
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
/// Gives the least latency of a link into each node, by node.
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
/// Whether links differ in what decides how long a packet takes on them. A packet that comes in over a slow
/// link, or with a large header, may still be coming in when a fast link could have sent all of it.
bool mixes_links(const Blueprint& b) {
  const LinkType& first = b.link_types.front();
  return std::any_of(b.link_types.begin(), b.link_types.end(), [&](const LinkType& type) {
    return type.rate != first.rate || type.packet.header != first.packet.header ||
           type.packet.ack != first.packet.ack;
  });
}
FabricTraits traits_of(const Blueprint& b, const FabricSpec& spec, bool packet_by_packet) {
  const auto between_switches = [&](const Cable& c) { return !b.is_gpu(c.a) && !b.is_gpu(c.b); };
  const auto at_first_gpu = [](const Cable& c) { return c.a == 0 || c.b == 0; };
  return {.gpus = b.gpus,
          .packet_by_packet = packet_by_packet,
          .packet_payload = net::packet_payload(b),
          .max_burst = burst_that_fits(b),
          .interleaving = {spec, static_cast<int>(std::ranges::count_if(b.cables, at_first_gpu)),
                           std::ranges::any_of(b.cables, between_switches)}};
}
}  // namespace

std::unique_ptr<Fabric> make_packet_fabric(sim::EventQueue& events, const Blueprint& blueprint,
                                           const Routes& routes, const FabricSpec& spec,
                                           bool packet_by_packet, const InNetwork& in_network) {
  return std::make_unique<Network>(events, blueprint, routes, spec, packet_by_packet, in_network);
}

Network::Network(sim::EventQueue& events, const Blueprint& blueprint, const Routes& routes,
                 const FabricSpec& spec, bool packet_by_packet, const InNetwork& in_network)
    : Fabric(traits_of(blueprint, spec, packet_by_packet)),
      events_(events),
      gpus_(blueprint.gpus),
      layers_(routes.layers()),
      endpoints_(static_cast<std::size_t>(blueprint.gpus)),
      packet_by_packet_(packet_by_packet),
      payload_sent_(static_cast<std::size_t>(blueprint.gpus)) {
  INFOLD_CHECK(blueprint.link_types.size() <= kMostLinkTypes, "links are of few types");
  for (std::size_t kind = 0; kind < kPacketKinds; ++kind)
    first_channel_[kind] = static_cast<std::uint8_t>(static_cast<int>(kClassOfKind[kind]) * layers_);
  const std::vector<sim::Time> soonest = soonest_arrivals(blueprint);
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
  std::vector<std::uint32_t> into(static_cast<std::size_t>(blueprint.nodes()));
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
      if (!blueprint.is_gpu(from) && near.speedup == 0) s.lookahead = soonest[index_of(from)] + near.latency;
      // An arbiter that lets a control packet pass chooses at the same time which packet goes behind it,
      // which halves the events of a GPU's link. (A burst lets control packets slip in, and is chosen in its
      // turn.)
      if (blueprint.is_gpu(from) && packet_by_packet && near.speedup == 0)
        s.lookahead = sim::Pace(s.rate).time(wire(s.type).largest_control()) + sim::Time::ps(1);
      // A unit acts when packets arrive, which the links of its switch cannot foresee.
      if (in_network.units) s.lookahead = sim::min(s.lookahead, in_network.latency);
      s.buffer = far.buffer;
      s.classes = classes;
      s.channels = classes * layers_;
      s.passes_on = inputs.through_gpus || !blueprint.is_gpu(to);
      s.competes = near.speedup != 0;
      s.mixed = mixed;
      s.far_input = inputs.take(blueprint, to);
      s.far_lane = into[static_cast<std::size_t>(to)]++;
      setups.push_back(s);
    }
  }
  if (in_network.units) {
    units_.resize(static_cast<std::size_t>(blueprint.switches));
    for (int chip = blueprint.gpus; chip < blueprint.nodes(); ++chip)
      unit_inputs_.push_back(inputs.next[static_cast<std::size_t>(chip)]++);
  }
  link_store_ = std::vector<std::optional<Link>>(setups.size());
  links_.reserve(setups.size());
  for (Link::Setup& s : setups) {
    // These are known once every cable has been counted.
    s.inputs = static_cast<int>(inputs.next[static_cast<std::size_t>(s.from)]);
    links_.push_back(&link_store_[s.id].emplace(*this, s));
  }
  const auto competes = [](const Link::Setup& s) { return s.competes; };
  if (std::any_of(setups.begin(), setups.end(), competes)) {
    outputs_.resize(static_cast<std::size_t>(blueprint.nodes()));
    for (Link* link : links_) outputs_[static_cast<std::size_t>(link->from())].push_back(link);
  }
  ways_.reserve(routes.all_candidates().size());
  for (const LinkId id : routes.all_candidates()) ways_.push_back(links_[id]);
  stands_.reserve(static_cast<std::size_t>(blueprint.nodes()));
  const RouteTable table = routes.table();
  for (NodeId node = 0; node < blueprint.nodes(); ++node)
    stands_.push_back({table.row(node), table.place(node)});
  if (in_network.units) {
    lane_links_.resize(static_cast<std::size_t>(blueprint.gpus));
    for (Link* link : links_) {
      if (blueprint.is_gpu(link->from())) lane_links_[static_cast<std::size_t>(link->from())].push_back(link);
      const bool from_unit = !blueprint.is_gpu(link->from());
      unit_outputs_.push_back({link, from_unit ? unit_inputs_[unit_index(link->from())] : 0});
    }
  }
  // Every link out of a node has every link into it as an input, unless packets end there.
  std::vector<std::vector<Link*>> arriving(static_cast<std::size_t>(blueprint.nodes()));
  for (Link* in : links_) {
    if (inputs.through_gpus || !blueprint.is_gpu(in->to()))
      arriving[static_cast<std::size_t>(in->to())].push_back(in);
  }
  for (Link* out : links_) {
    for (Link* in : arriving[static_cast<std::size_t>(out->from())])
      out->set_input(setups[in->id()].far_input, *in);
  }
  for (std::size_t gpu = 0; gpu < endpoints_.size(); ++gpu) {
    ports_.push_back(std::make_unique<PacketPort>(events, *this, static_cast<int>(into[gpu]), soonest[gpu]));
  }
  for (Link* link : links_) {
    if (link->to() < gpus_ && ports_[index_of(link->to())]->lets_data_wait())
      link->set_port(*ports_[index_of(link->to())]);
  }
}

Network::~Network() = default;

Port& Network::attach(NodeId gpu, Endpoint& endpoint) {
  endpoints_[index_of(gpu)] = &endpoint;
  ports_[index_of(gpu)]->attach(endpoint);
  return *ports_[index_of(gpu)];
}

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

bool Network::quiet() const {
  return packets_sent_ == packets_delivered_ && std::all_of(links_.begin(), links_.end(), [](const auto& l) {
           return l->idle() && l->all_credits_home();
         });
}

void Network::start_anew() {
  for (const auto& l : links_) l->start_anew();
}

std::vector<std::string> Network::who_waits() const {
  std::vector<std::string> out;
  for (const auto& l : links_) {
    if (auto why = l->why_waiting(); !why.empty()) out.push_back(std::move(why));
  }
  return out;
}

LinkCounters Network::counters(LinkId link) const {
  const Link& l = *links_[link];
  const Link::Traffic traffic = l.traffic();
  return {.wire_bytes = traffic.wire_bytes,
          .packets = traffic.packets,
          .replays = l.replays(),
          .in_flight = l.in_flight()};
}

std::uint64_t Network::packet_hops() const {
  std::uint64_t sum = 0;
  for (const auto& l : links_) sum += l->traffic().packets;
  return sum;
}

}  // namespace infold::net

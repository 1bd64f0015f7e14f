// Random packets for one port: blocks that are pushed or asked for, their contributions in any order,
// multicasts, and reminders by home GPUs that miss something. It counts what of each block has come out:
// every contribution once.
#pragma once

#include <deque>
#include <optional>

#include "switch_world.h"
#include "values.h"

namespace infold::rtl {

struct Setting {
  std::string name;
  Place place = Place::kAlone;
  int gpus = 8;
  inc::TableFull table_full = inc::TableFull::kStall;
  int entries = 4;
  int results = 4;
  int credits = 4;
  int slow = 0;          ///< a credit comes back up to so many cycles late
  int load = 100;        ///< percent of cycles in which a packet may begin
  int active = 6;        ///< blocks at a time
  int pull = 0;          ///< percent of blocks that are asked for
  int multicasts = 0;    ///< percent of packets
  int remind = 0;        ///< permille of cycles with a reminder of any block
  unsigned hard = 2;     ///< of 8 values, so many are hard ones
  bool uneven = false;   ///< regions with blocks of several sizes
  bool to_home = false;  ///< results of pushes go to the home GPU alone
  bool up_port = false;  ///< of a leaf: the unit of the port that leads up
  inc::Levels levels = inc::Levels::kEach;
  bool own_time = false;  ///< times are compared as well; needs room for everything
};

/// A packet on its way to both units.
struct Sent {
  net::Packet packet;
  net::LinkId in = net::kNoLink;
  Header header;
  std::vector<std::byte> values;
  bool gathers = false;
};

class Traffic {
 public:
  Traffic(SwitchWorld& world, const Setting& s, std::uint32_t payload, std::uint64_t seed)
      : world_(world), s_(s), random_(seed) {
    for (const auto type : {sim::DataType::kFp32, sim::DataType::kBf16}) {
      const auto to = s.to_home ? inc::ResultTo::kHome : inc::ResultTo::kAll;
      for (std::uint32_t block = payload; block >= 16; block = s.uneven ? block / 2 - block / 2 % 16 : 0) {
        sources_.push_back({world.add_region(type, sim::Bytes{block}, to), true, 0});
        sources_.push_back({world.add_region(type, sim::Bytes{block}, to), false, 0});
      }
      spread_.push_back(world.add_region(type, sim::Bytes{payload}, inc::ResultTo::kAll));
    }
    port = 0;
    if (s.up_port) {
      for (const auto& o : world.map.outlets(world.chip))
        if (world.map.to(o.link) >= world.map.gpus()) port = world.port_of(o.link);
    }
  }

  std::uint32_t port = 0;  ///< whose unit is tested

  std::optional<Sent> next(bool more) {
    if (s_.multicasts > 0 && more && chance(s_.multicasts)) return multicast();
    std::vector<std::uint64_t> can;
    for (const auto& [key, b] : blocks_)
      if (!b.todo.empty()) can.push_back(key);
    const bool open = more && blocks_.size() < static_cast<std::size_t>(s_.active);
    const std::uint64_t pick = random_.below(can.size() + (open ? 1 : 0) + 1);
    if (pick < can.size()) return contribute(can[pick]);
    if (open) begin();
    return std::nullopt;
  }
  /// A request for the block has left over this port: who is there can answer.
  void asked(std::uint64_t key, std::uint32_t at) {
    const auto it = blocks_.find(key);
    if (it == blocks_.end()) return;
    for (const auto& o : world_.map.outlets(world_.chip)) {
      if (world_.port_of(o.link) == at) answer(it->second, net::FabricMap::back(o.link));
    }
  }
  /// So many contributions of a block have come out. Returns false if that is more than there are.
  bool came_out(std::uint64_t key, std::uint32_t count, std::uint64_t now) {
    const auto it = blocks_.find(key);
    if (it == blocks_.end()) return false;
    it->second.out += count;
    it->second.last = now;
    const bool right = it->second.out <= it->second.total;
    if (it->second.out == it->second.total && it->second.todo.empty()) blocks_.erase(it);
    return right;
  }
  /// A block of which nothing has been heard for long, or any block.
  std::optional<std::uint64_t> remind(std::uint64_t now, bool stuck) {
    for (auto& [key, b] : blocks_) {
      if (!b.todo.empty() || b.in < b.total || now - b.last < 200) continue;
      b.last = now;
      return key;
    }
    if (blocks_.empty() || !(stuck || static_cast<int>(random_.below(1000)) < s_.remind)) return std::nullopt;
    auto it = blocks_.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(random_.below(blocks_.size())));
    return it->first;
  }
  void touched(std::uint64_t key, std::uint64_t now) {
    if (const auto it = blocks_.find(key); it != blocks_.end()) it->second.last = now;
  }
  /// Whether packets of the region are only copied.
  bool spreads(std::uint32_t region) const {
    return std::find(spread_.begin(), spread_.end(), region) != spread_.end();
  }
  bool idle() const { return blocks_.empty(); }
  sim::Random& random() { return random_; }
  bool chance(int percent) { return static_cast<int>(random_.below(100)) < percent; }

 private:
  struct Part {
    net::PacketKind kind;
    net::LinkId in;
    std::uint16_t first, count;
  };
  struct Block {
    inc::RegionId region = 0;
    std::uint32_t offset = 0;
    std::uint32_t total = 0, in = 0, out = 0;
    std::uint64_t last = 0;
    std::vector<Part> todo;
  };
  struct Source {
    inc::RegionId region;
    bool push;
    std::uint32_t next;
  };

  net::LinkId from(const inc::TreeNode::Child& c) const { return net::FabricMap::back(c.out); }

  void begin() {
    const bool push = !chance(s_.pull);
    std::vector<Source*> can;
    for (Source& s : sources_)
      if (s.push == push) can.push_back(&s);
    Source& s = *can[random_.below(can.size())];
    const inc::Region& r = world_.region(s.region);
    while ((push ? world_.home_port(s.region, s.next) : world_.pull_port(s.region, s.next)) != port)
      s.next += r.block();
    Block b;
    b.region = s.region;
    b.offset = s.next;
    s.next += r.block();
    const inc::TreeNode& n = world_.node(b.region, b.offset);
    if (push) {
      for (const auto& c : n.children)
        b.todo.push_back({net::PacketKind::kReduceWrite, from(c), c.first, c.members});
      b.total = n.members;
    } else {
      const net::NodeId home = r.home(b.offset);
      const net::LinkId in = net::FabricMap::back(world_.map.next(world_.chip, home, 0));
      const bool here = world_.map.from(in) < world_.map.gpus();
      b.total = here ? static_cast<std::uint32_t>(r.members()) : n.members;
      const auto rank = static_cast<std::uint16_t>(r.home_rank(b.offset));
      b.todo.push_back({net::PacketKind::kLoadReduce, in, rank, 1});
    }
    blocks_[inc::key_of(b.region, b.offset)] = std::move(b);
  }
  void answer(Block& b, net::LinkId in) {
    const inc::TreeNode& n = world_.node(b.region, b.offset);
    const std::size_t child = n.child(world_.map.from(in));
    if (child < n.children.size()) {
      b.todo.push_back({net::PacketKind::kReply, in, n.children[child].first, n.children[child].members});
    } else if (random_.below(2) == 0) {
      const auto others = static_cast<std::uint16_t>(world_.map.gpus() - n.members);
      b.todo.push_back({net::PacketKind::kReply, in, n.first_elsewhere, others});
    } else {
      for (std::uint16_t r = 0; r < world_.map.gpus(); ++r) {
        if (r < n.first() || r >= n.first() + n.members)
          b.todo.push_back({net::PacketKind::kReply, in, r, 1});
      }
    }
  }
  Sent contribute(std::uint64_t key) {
    Block& b = blocks_.at(key);
    const std::size_t which = random_.below(b.todo.size());
    const Part part = b.todo[which];
    b.todo.erase(b.todo.begin() + static_cast<std::ptrdiff_t>(which));
    if (part.kind != net::PacketKind::kLoadReduce) b.in += part.count;
    const inc::Region& r = world_.region(b.region);
    Sent s;
    if (part.kind != net::PacketKind::kLoadReduce)
      s.values = draw_values(random_, r.plan.type, r.block(), s_.hard);
    return finish(std::move(s), part, b.region, b.offset);
  }
  Sent multicast() {
    const inc::RegionId region = spread_[random_.below(spread_.size())];
    const std::uint32_t offset = next_spread_;
    next_spread_ += world_.region(region).block();
    const inc::TreeNode& n = world_.node(region, offset);
    Sent s;
    s.values = draw_values(random_, world_.region(region).plan.type, world_.region(region).block(), s_.hard);
    Part part{net::PacketKind::kMulticastWrite, from(n.children[random_.below(n.children.size())]), 0, 1};
    if (n.parent != net::kNoLink && chance(50))
      part = {net::PacketKind::kResult, net::FabricMap::back(n.parent), 0,
              static_cast<std::uint16_t>(world_.map.gpus())};
    s.gathers = part.kind == net::PacketKind::kMulticastWrite;
    return finish(std::move(s), part, region, offset);
  }
  Sent finish(Sent s, const Part& part, inc::RegionId region, std::uint32_t offset) {
    s.in = part.in;
    s.packet = world_.packet(part.kind, region, offset, part.first, part.count, s.values, part.in);
    s.header = world_.header(s.packet, part.in);
    return s;
  }

  SwitchWorld& world_;
  const Setting& s_;
  sim::Random random_;
  std::vector<Source> sources_;
  std::vector<inc::RegionId> spread_;
  std::uint32_t next_spread_ = 0;
  std::map<std::uint64_t, Block> blocks_;
};

}  // namespace infold::rtl

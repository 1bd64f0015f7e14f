// Functional mode: the values that a channel's slices carry.
#include <algorithm>

#include "coll/engine/channel_protocol.h"
#include "coll/engine/net_transport.h"

namespace infold::coll {

/// The slots that the slice reads are the next to be taken, because it is issued before any other slice is
/// begun.
void ChannelProtocol::produce(std::uint32_t cookie, std::uint32_t offset, std::span<std::byte> out) {
  const UnderWay& moved = under_way_[cookie];
  const Step& s = steps_.steps()[moved.slice.step];
  Values& values = *context_.values;
  const auto at = static_cast<std::size_t>(moved.slice.begin.count()) + offset;  // within the step
  bool first = true;
  const auto combine = [&](std::span<const std::byte> with) {
    if (first) {
      std::ranges::copy(with, out.begin());
    } else {
      fold(values.type(), values.op(), out, with);
    }
    first = false;
  };
  for (int i = 0; i < s.from.size(); ++i) {
    const PacketConnection& in = steps_.inbound(moved.slice.step, i);
    combine(std::span<const std::byte>(in.values[in.taken % steps_.slots()]).subspan(offset, out.size()));
  }
  const auto place = [&](sim::Bytes begin) { return static_cast<std::size_t>(begin.count()) + at; };
  if (s.uses_input) combine(values.input(setup_.rank).subspan(place(s.input_offset), out.size()));
  if (s.uses_held) combine(values.memory(setup_.rank).subspan(place(s.held_offset), out.size()));
  if (s.finishes && values.op() == ReduceOp::kAvg) divide(values.type(), out, values.ranks());
  if (s.writes_output) {
    std::ranges::copy(
        out, values.memory(setup_.rank).begin() + static_cast<std::ptrdiff_t>(place(s.output_offset)));
  }
}

void ChannelProtocol::consume(std::uint32_t cookie, std::uint32_t offset,
                              std::span<const std::byte> arrived) {
  const UnderWay& moved = under_way_[cookie];
  const Step& s = steps_.steps()[moved.slice.step];
  PacketConnection& out = steps_.outbound(moved.slice.step, moved.receiver);
  if (out.between_nodes()) {  // so far it is in a slot of this rank's own
    std::vector<std::byte>& slot = context_.net->values(out.way, moved.number);
    if (offset == 0) slot.resize(static_cast<std::size_t>(moved.slice.bytes.count()));
    std::ranges::copy(arrived, slot.begin() + offset);
    return;
  }
  if (s.lands) {
    std::ranges::copy(arrived, context_.values->memory(out.to).begin() +
                                   (s.output_offset + moved.slice.begin).count() + offset);
    return;
  }
  std::vector<std::byte>& slot = out.values[moved.number % steps_.slots()];
  if (slot.size() < offset + arrived.size()) slot.resize(static_cast<std::size_t>(moved.slice.bytes.count()));
  std::ranges::copy(arrived, slot.begin() + offset);
}

}  // namespace infold::coll

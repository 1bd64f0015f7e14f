// The part of a GPU that finishes sums that the switches could not: it adds up what they send to it as home
// GPU, and asks for the rest when that does not arrive.
//
// A switch that gave a contribution away cannot know that what it still holds is all there will be. Only the
// home GPU sees that ranks are missing. So it reminds the switches, less and less often, until the sum is
// complete.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inc/inc_spec.h"
#include "inc/key_index.h"
#include "inc/policy_arithmetic.h"
#include "inc/regions.h"
#include "net/fabric.h"
#include "net/packet/payloads.h"
#include "sim/event_queue.h"
#include "sim/pool.h"

namespace infold::inc {

class FallbackReducer final : public sim::Handler {
 public:
  class Client {
   public:
    /// The contribution of every rank to this block has arrived; `values` is empty when packets carry none.
    /// The client now sends the sum to the receivers, for example as a multicast.
    virtual void sum_finished(RegionId region, std::uint32_t offset, std::uint16_t payload,
                              std::span<const std::byte> values) = 0;

   protected:
    ~Client() = default;
  };

  FallbackReducer(net::NodeId gpu, std::uint32_t sender, const IncSpec& spec, sim::EventQueue& events,
                  net::Fabric& fabric, const Regions& regions, net::Payloads* payloads, Client& client);

  /// A packet of kind partial has arrived. Takes its values.
  void receive(const net::Packet& partial);
  /// Number of sums that are not finished.
  std::size_t open() const { return index_.size(); }
  std::uint64_t partials = 0;
  std::uint64_t reminders = 0;

 private:
  struct Piece {
    std::uint16_t first = 0;
    std::vector<std::byte> values;
  };
  struct Work {
    Key key = 0;
    std::uint16_t way = 0;
    std::uint16_t payload = 0;
    std::uint16_t count = 0;
    bool open = false;
    int reminded = 0;          // reminders since the last arrival
    std::uint32_t timers = 0;  // events that are still scheduled for this slot
    sim::Time wait;
    sim::Time due;
    std::vector<Piece> pieces;
  };
  static constexpr int kMostReminders = 16;
  void handle(std::uint32_t work) override;
  void set_timer(std::uint32_t id);
  void finish(std::uint32_t id);

  net::NodeId gpu_;
  std::uint32_t sender_;
  const IncSpec& spec_;
  sim::EventQueue& events_;
  net::Fabric& fabric_;
  const Regions& regions_;
  net::Payloads* payloads_;
  Client& client_;
  sim::StablePool<Work> works_;
  KeyIndex index_;
  std::vector<std::byte> scratch_;
};

}  // namespace infold::inc

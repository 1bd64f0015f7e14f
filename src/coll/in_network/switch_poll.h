// Waits for flags of all ranks by way of the switches, as the library's NVLS kernels do: a load-reduce asks
// for the least of them, and is sent again when its answer was too small. Each poll is a round trip to every
// GPU.
#pragma once

#include <cstdint>

#include "gpu/copy/switch_client.h"
#include "sim/event_queue.h"

namespace infold::coll {

class SwitchPoll final : public gpu::SwitchClient::Client, public sim::Handler {
 public:
  class Owner {
   public:
    /// Somebody polled and saw that every flag is more than what was waited for: `least` at least.
    virtual void poll_answered(std::uint32_t least) = 0;
    /// The least of the flags as they are in the GPUs' memories now.
    virtual std::uint32_t least_flag() const = 0;

   protected:
    ~Owner() = default;
  };
  /// `task`: the load-reduce of the flags.
  SwitchPoll(const gpu::SwitchClient::Setup& setup, const gpu::UnitTask& task, sim::EventQueue& events,
             gpu::SwitchPort& port, Owner& owner);

  /// Polls until all flags are more than `above`, and tells the owner. Does nothing while it polls already.
  void await(std::uint32_t above);
  /// A GPU's answer to the poll that is under way was read from memory: its flag had this value.
  void sampled(std::uint32_t flag);
  /// A flag was written.
  void flag_written();
  gpu::SwitchClient& pipeline() { return pipeline_; }

 private:
  enum class State : std::uint8_t { kIdle, kAsked, kVain };
  enum Event : std::uint32_t { kAsk, kAnswered };

  void handle(std::uint32_t event) override;
  void task_issued() override {}
  void task_complete() override;
  void ask();
  void answered(std::uint32_t least);

  gpu::UnitTask task_;
  sim::EventQueue& events_;
  Owner& owner_;
  gpu::SwitchClient pipeline_;
  State state_ = State::kIdle;
  std::uint32_t above_ = 0;
  std::uint32_t least_ = 0;  // of the answers to the poll under way
  sim::Time asked_at_;
  sim::Time answered_at_;
  sim::Time round_trip_;  // the last poll's
};

}  // namespace infold::coll

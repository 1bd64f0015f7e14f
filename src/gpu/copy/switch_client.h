// Sends a range of a region to the switches, or asks them for it: contributions (push), requests whose sums
// it stores or multicasts (pull), or data for all ranks (multicast). The collective engine is one of these
// without an SM; for warps that use the switches, the port is that of the SM and the window is their
// registers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/copy/switch_port.h"
#include "gpu/sm/load_budget.h"
#include "sim/pool.h"

namespace infold::gpu {

enum class UnitOp : std::uint8_t {
  kPush,           ///< contributes; sums go to the ranks that need them
  kPull,           ///< asks for sums and stores them here
  kPullMulticast,  ///< asks for sums and sends each to all ranks
  kMulticast,      ///< sends its own data to all ranks
};

struct UnitTask {
  UnitOp op = UnitOp::kPush;
  inc::RegionId region = 0;
  std::uint32_t begin = 0;  ///< where the first block starts
  std::uint32_t end = 0;
  std::uint32_t limit = ~std::uint32_t{0};  ///< of a push: how far it may send at first
};

class SwitchClient final : public sim::Handler, public LoadBudget::Waiter {
 public:
  class Client {
   public:
    /// All of the task has been sent or asked for: the next can be started.
    virtual void task_issued() = 0;
    /// All of the task begun first of those not yet complete is acknowledged, and its sums are stored.
    virtual void task_complete() = 0;
    /// Everything that was sent beside tasks is acknowledged, too; done() may be true now.
    virtual void task_settled() {}

   protected:
    ~Client() = default;
  };
  struct Setup {
    std::uint32_t sender = 0;  ///< which of the GPU's senders it is: senders take turns at the links
    sim::Bytes window;         ///< bytes between load, or request, and leaving for the wire
    sim::Bytes run{};          ///< if > 0, each warp asks for a run, passes on all of it, and then asks again
    sim::Bandwidth rate;       ///< of its port to memory, each way
    LoadBudget* loads =
        nullptr;  ///< the loads of the SM of these warps; null means that only the window limits them
  };
  SwitchClient(const Setup& setup, sim::EventQueue& events, SwitchPort& port, Client& client);

  /// Requires: idle(); the range has blocks.
  void start(const UnitTask& task);
  bool idle() const { return !busy_; }
  bool done() const { return active_.empty(); }
  /// Of a push: nothing beyond this offset may be sent yet.
  void limit(std::uint32_t offset);

  // For the port.
  void departed(const net::Packet& packet);
  void acknowledged(const net::Packet& packet);
  /// A sum it asked for. Takes the values.
  void result(inc::RegionId region, std::uint32_t offset, std::uint16_t payload, net::ValuesId values);
  /// One more acknowledgement will come for this block, because its sum was finished on this GPU and sent to
  /// all.
  void expect_more(inc::RegionId region, std::uint32_t offset);
  /// "waits for 3 sums it asked for" or the like.
  std::string why_waiting() const;

 private:
  /// A unit that was loaded or summed, on its way through the port.
  struct Unit {
    sim::Time ready;
    inc::RegionId region;
    UnitOp op;
    std::uint32_t offset;
    std::uint32_t bytes;
    net::ValuesId values;
  };
  struct Active {
    UnitTask task;
    std::int64_t unsent = 0;          ///< bytes loaded and not yet handed to the links
    std::int64_t unacknowledged = 0;  ///< blocks that were sent
    std::int64_t unanswered = 0;      ///< bytes asked for that are not here
    sim::Time visible;                ///< when the latest acknowledgement is here
    bool issued = false;
    bool silent =
        false;  ///< only for acknowledgements of sums that were finished on this GPU: no client is told

    bool done() const { return issued && unsent == 0 && unacknowledged == 0 && unanswered == 0; }
  };
  static constexpr std::uint32_t kFinish = ~std::uint32_t{0};
  /// The bytes that are loaded together, which costs one event. Each packet of these takes its own link.
  static constexpr std::uint32_t kUnit = 512;

  void handle(std::uint32_t event) override;
  void issue_more();
  bool issue_one();
  bool issue_runs(Active& a);
  void issue_run(Active& a, std::uint32_t warp);
  void may_load(std::uint32_t warp) override;
  bool by_runs(const UnitTask& task) const;
  void left(const Active& a, std::uint32_t offset, sim::Bytes bytes);
  void ask(Active& a, std::uint32_t offset, std::uint32_t bytes);
  void load(Active& a, std::uint32_t bytes);
  void schedule(const Unit& unit);
  void pass_on(const Unit& unit);
  void contribute(const Unit& unit);
  void finish_if_done();
  Active* find(inc::RegionId region, std::uint32_t offset);

  Setup setup_;
  sim::EventQueue& events_;
  SwitchPort& port_;
  Client& client_;
  sim::Pace pace_;
  sim::Time port_free_;
  sim::Time result_port_free_;
  sim::Time in_order_;  // when the last of the loads is there
  sim::Bytes in_flight_;
  std::uint32_t run_ = 0;  // of the task being issued, whole blocks
  struct Warp {
    std::uint32_t next = 0;  // offset of its next run
    std::uint32_t run = 0;   // of the one it has
    std::uint32_t run_end = 0;
    sim::Bytes in_flight;  // counted from when it asks for room
  };
  std::vector<Warp> warps_;
  bool busy_ = false;
  bool issuing_ = false;    // a call further up is issuing
  std::uint32_t next_ = 0;  // of the task being issued
  std::uint32_t limit_ = ~std::uint32_t{0};
  std::vector<Active> active_;  // in order of their start
  sim::Pool<Unit> units_;       // by event
};

}  // namespace infold::gpu

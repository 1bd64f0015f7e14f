// Warps that copy inside a GPU's memory, as a library's unrolled loops do it. A warp loads as much as its
// registers hold, a run; when the last of it is there it stores the run and goes on to its next one. Runs of
// a piece are dealt to the warps in turn, beginning with the first warp for every piece, so a piece of few
// runs leaves some warps without work.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/copy/move.h"
#include "gpu/memory/memory_system.h"
#include "gpu/sm/load_budget.h"
#include "sim/event_queue.h"

namespace infold::gpu {

class WarpCopier final : public sim::Handler, public LoadBudget::Waiter {
 public:
  class Client {
   public:
    /// Functional mode: bytes [offset, offset + bytes) of a piece are stored now.
    virtual void copied(std::uint32_t cookie, std::size_t piece, std::uint32_t offset,
                        std::uint32_t bytes) = 0;
    /// All pieces are copied, and visible on this GPU.
    virtual void copy_complete(std::uint32_t cookie) = 0;

   protected:
    ~Client() = default;
  };
  struct Piece {
    Place from;
    Place to;
    std::uint32_t bytes = 0;
  };
  struct Setup {
    int warps = 1;
    sim::Bytes run;       ///< bytes that a warp loads before it stores
    sim::Bandwidth port;  ///< the rate of the SM's port, each way
    bool functional = false;
    LoadBudget* loads =
        nullptr;  ///< the loads of the SM, shared with its other warps; null if there is no limit
  };
  /// What one access of all threads of a warp covers: the shortest run.
  static constexpr std::uint32_t kAccess = 32 * kVectorAccess;

  WarpCopier(const Setup& setup, sim::EventQueue& events, MemorySystem& memory, Client& client,
             std::uint32_t cookie);

  /// Requires: idle(); every piece has bytes.
  void start(std::vector<Piece> pieces);
  bool idle() const { return working_ == 0; }

 private:
  /// Where a warp is: run `run` of piece `piece`, loaded or on its way.
  struct Warp {
    std::size_t piece = 0;
    std::uint32_t run = 0;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  struct Cursors {
    MemorySystem::Cursor from;
    MemorySystem::Cursor to;
  };

  void handle(std::uint32_t warp) override;
  void load(std::uint32_t warp);
  void may_load(std::uint32_t warp) override;
  bool locate(Warp& w) const;

  Setup setup_;
  sim::EventQueue& events_;
  MemorySystem& memory_;
  Client& client_;
  std::uint32_t cookie_;
  sim::Pace pace_;
  std::uint32_t run_;
  std::vector<Piece> pieces_;
  std::vector<Cursors> cursors_;  // by piece
  std::vector<Warp> warps_;
  std::size_t working_ = 0;  // warps that are not through
  sim::Time load_free_;      // the port
  sim::Time store_free_;
  sim::Time visible_;  // the latest store
};

}  // namespace infold::gpu

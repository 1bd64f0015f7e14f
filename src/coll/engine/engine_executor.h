// The common part of executors that hold no SM: the channels of a rank begin when its stream has reached the
// collective and the engine has started, and the stream goes on when all of them are through.
#pragma once

#include <vector>

#include "coll/engine/connection_set.h"
#include "coll/engine/executor.h"
#include "gpu/sm/launch.h"

namespace infold::coll {

class EngineExecutor : public Executor, public ProtocolOwner, public sim::Handler {
 public:
  void enqueue(int rank, sim::Time at) override;
  Residency residency() const override { return {}; }
  std::vector<std::string> who_waits() const override { return connection_set_.who_waits(); }

 protected:
  /// `start` is the time from the moment a stream reaches the collective until the engine begins.
  EngineExecutor(ExecutorContext context, sim::Time start);

  const ExecutorContext& context() const { return context_; }

 private:
  /// The data path of a rank's channel, from its start to its end.
  virtual gpu::DataPath& take_path(int rank, int channel) = 0;
  virtual void release_path(int rank, int channel) = 0;

  /// A rank's collective, as its GPU's dispatcher sees it.
  class Turn final : public gpu::Work {
   public:
    Turn(EngineExecutor& owner, int rank) : owner_(owner), rank_(rank) {}
    void begin(gpu::KernelId id, int) override;
    void start(int, int) override {}  // there are no workgroups
    void finished(int) override { owner_.context_.rank_finished(rank_); }
    void channel_done();
    void channels_begin() { left_ = owner_.context_.program.channels; }

   private:
    EngineExecutor& owner_;
    int rank_;
    int left_ = 0;
    gpu::KernelId id_ = 0;
  };

  void handle(std::uint32_t rank) override;
  void channel_done(ChannelProtocol& channel) override;

  ExecutorContext context_;
  sim::Time start_;
  ConnectionSet connection_set_;
  std::vector<Turn> turns_;  // by rank
};

}  // namespace infold::coll

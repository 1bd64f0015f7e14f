// When ranks begin and end on engines that hold no SM.
#include "coll/engine/engine_executor.h"

namespace infold::coll {

EngineExecutor::EngineExecutor(ExecutorContext context, sim::Time start)
    : context_(std::move(context)), start_(start), connection_set_(context_, *this) {
  for (int rank = 0; rank < context_.program.ranks; ++rank) turns_.emplace_back(*this, rank);
}

void EngineExecutor::enqueue(int rank, sim::Time at) {
  context_.enqueue_on_engine(rank, turns_[static_cast<std::size_t>(rank)], at);
}

void EngineExecutor::Turn::begin(gpu::KernelId id, int) {
  id_ = id;
  sim::EventQueue& events = owner_.context_.machine.events();
  events.schedule(events.now() + owner_.start_, sim::Priority::kWork, owner_,
                  static_cast<std::uint32_t>(rank_));
}

void EngineExecutor::Turn::channel_done() {
  if (--left_ == 0) owner_.context_.gpu(rank_).core().dispatcher().engine_done(id_);
}

void EngineExecutor::handle(std::uint32_t index) {
  const int rank = static_cast<int>(index);
  turns_[index].channels_begin();
  for (int channel = 0; channel < context_.program.channels; ++channel)
    connection_set_.channel(rank, channel).start(context_.gpu(rank), take_path(rank, channel));
}

void EngineExecutor::channel_done(ChannelProtocol& channel) {
  release_path(channel.rank(), channel.channel());
  turns_[static_cast<std::size_t>(channel.rank())].channel_done();
}

}  // namespace infold::coll

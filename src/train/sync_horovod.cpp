// Horovod. In every cycle a thread checks which gradients are ready on all GPUs and fuses them, in the order
// in which they came, up to the size of the fusion buffer. What does not fit goes into the next buffer at
// once.
#include <utility>

#include "train/synchroniser.h"

namespace infold::train {

namespace {

class Horovod final : public Synchroniser {
 public:
  Horovod(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes) : spec_(spec), sizes_(sizes) {}

  void ready(int parameter, sim::Time now, std::vector<Bucket>& /*out*/) override {
    if (waiting_.empty()) {
      // The next tick that is not over yet; ticks continue whether there is work or not.
      const std::int64_t cycle = spec_.cycle.count_ps();
      tick_ = sim::Time::ps((now.count_ps() + cycle - 1) / cycle * cycle);
    }
    waiting_.push_back(parameter);
  }

  std::optional<sim::Time> wants_waking() const override {
    return waiting_.empty() ? std::nullopt : std::optional(tick_);
  }

  void wake(sim::Time /*now*/, std::vector<Bucket>& out) override {
    Bucket open;
    for (const int p : waiting_) {
      const sim::Bytes size = sizes_[static_cast<std::size_t>(p)];
      if (!open.parameters.empty() && open.bytes + size > spec_.fusion)
        out.push_back(std::exchange(open, {}));
      open.parameters.push_back(p);
      open.bytes += size;
      // A single gradient is reduced in place.
      open.copied = open.parameters.size() > 1;
    }
    if (!open.parameters.empty()) out.push_back(std::move(open));
    waiting_.clear();
  }

 private:
  SyncSpec spec_;
  std::vector<sim::Bytes> sizes_;
  std::vector<int> waiting_;
  sim::Time tick_;
};

}  // namespace

std::unique_ptr<Synchroniser> make_horovod(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes) {
  return std::make_unique<Horovod>(spec, sizes);
}

}  // namespace infold::train

// The table of synchronisers, and the decisions of a step in order of time.
#include "train/synchroniser.h"

#include <utility>

#include "sim/check.h"

namespace infold::train {

std::unique_ptr<Synchroniser> make_synchroniser(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes) {
  switch (spec.kind) {
    case SyncKind::kDdp:
      return make_ddp(spec, sizes);
    case SyncKind::kHorovod:
      return make_horovod(spec, sizes);
    case SyncKind::kTensorflow:
      return make_tensorflow(spec, sizes);
    case SyncKind::kPerTensor:
      return make_per_tensor(spec, sizes);
  }
  INFOLD_CHECK(false, "every kind of synchroniser has its maker");
  return nullptr;
}

std::vector<Reduction> decide(Synchroniser& synchroniser, std::span<const ReadyGradient> gradients,
                              bool after_backward) {
  std::vector<Reduction> reductions;
  const sim::Time last = gradients.empty() ? sim::Time{} : gradients.back().at;
  std::vector<Bucket> out;
  const auto collect = [&](sim::Time now) {
    for (Bucket& b : out) reductions.push_back({std::move(b), after_backward ? sim::max(now, last) : now});
    out.clear();
  };
  const auto wake_until = [&](sim::Time until) {
    for (auto at = synchroniser.wants_waking(); at && *at < until; at = synchroniser.wants_waking()) {
      synchroniser.wake(*at, out);
      collect(*at);
    }
  };
  for (const ReadyGradient& g : gradients) {
    wake_until(g.at);
    synchroniser.ready(g.parameter, g.at, out);
    collect(g.at);
  }
  wake_until(sim::Time::never());
  return reductions;
}

}  // namespace infold::train

// The MirroredStrategy of TensorFlow: when all gradients are ready they are packed one behind the other, and
// the result is cut into packs at the borders of gradients. By default there is one pack.
#include <utility>

#include "train/synchroniser.h"

namespace infold::train {

namespace {

class Tensorflow final : public Synchroniser {
 public:
  Tensorflow(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes)
      : packs_(spec.packs), sizes_(sizes) {}

  void ready(int /*parameter*/, sim::Time /*now*/, std::vector<Bucket>& out) override {
    if (++ready_ < sizes_.size()) return;
    sim::Bytes whole;
    for (const sim::Bytes s : sizes_) whole += s;
    Bucket open;
    open.copied = true;
    sim::Bytes packed;
    std::int64_t closed = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      open.parameters.push_back(static_cast<int>(i));
      open.bytes += sizes_[i];
      packed += sizes_[i];
      const bool full = packed >= whole / packs_ * (closed + 1) && closed + 1 < packs_;
      if (!full && i + 1 < sizes_.size()) continue;
      out.push_back(std::exchange(open, {}));
      open.copied = true;
      ++closed;
    }
  }

 private:
  std::int64_t packs_;
  std::vector<sim::Bytes> sizes_;
  std::size_t ready_ = 0;
};

}  // namespace

std::unique_ptr<Synchroniser> make_tensorflow(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes) {
  return std::make_unique<Tensorflow>(spec, sizes);
}

}  // namespace infold::train

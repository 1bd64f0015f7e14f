// Each gradient is reduced by itself, as soon as it is ready.
#include <utility>

#include "train/synchroniser.h"

namespace infold::train {

namespace {

class PerTensor final : public Synchroniser {
 public:
  explicit PerTensor(const std::vector<sim::Bytes>& sizes) : sizes_(sizes) {}
  void ready(int parameter, sim::Time /*now*/, std::vector<Bucket>& out) override {
    out.push_back({{parameter}, sizes_[static_cast<std::size_t>(parameter)], false});
  }

 private:
  std::vector<sim::Bytes> sizes_;
};

}  // namespace

std::unique_ptr<Synchroniser> make_per_tensor(const SyncSpec& /*spec*/,
                                              const std::vector<sim::Bytes>& sizes) {
  return std::make_unique<PerTensor>(sizes);
}

}  // namespace infold::train

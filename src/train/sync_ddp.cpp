// PyTorch's DistributedDataParallel. Buckets are filled in reverse order of the parameters, because backward
// reaches the last ones first. A bucket is closed by the gradient that fills it. All GPUs must start the same
// reductions in the same order, so a bucket that is full waits for those before it.
#include <utility>

#include "sim/check.h"
#include "train/synchroniser.h"

namespace infold::train {

namespace {

class Ddp final : public Synchroniser {
 public:
  Ddp(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes) : bucket_of_(sizes.size()) {
    Bucket open;
    open.copied = !spec.gradient_as_view;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      bucket_of_[i] = buckets_.size();
      open.parameters.push_back(static_cast<int>(i));
      open.bytes += sizes[i];
      if (open.bytes < (buckets_.empty() ? spec.first_bucket : spec.bucket)) continue;
      close(open);
    }
    if (!open.parameters.empty()) close(open);
  }

  void ready(int parameter, sim::Time /*now*/, std::vector<Bucket>& out) override {
    std::size_t& missing = missing_[bucket_of_[static_cast<std::size_t>(parameter)]];
    INFOLD_CHECK(missing > 0, "a gradient is ready once");
    --missing;
    while (next_ < buckets_.size() && missing_[next_] == 0) out.push_back(std::move(buckets_[next_++]));
  }

 private:
  void close(Bucket& open) {
    missing_.push_back(open.parameters.size());
    const bool copied = open.copied;
    buckets_.push_back(std::exchange(open, {}));
    open.copied = copied;
  }

  std::vector<std::size_t> bucket_of_;  // by parameter
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> missing_;  // by bucket: gradients that are still missing
  std::size_t next_ = 0;              // next bucket to be reduced
};

}  // namespace

std::unique_ptr<Synchroniser> make_ddp(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes) {
  return std::make_unique<Ddp>(spec, sizes);
}

}  // namespace infold::train

// Gradient synchronisers: pure decisions about which gradients are reduced together, and when the reduction
// may begin. They know sizes and times, but nothing of GPUs or networks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::train {

using namespace sim::literals;

enum class SyncKind : std::uint8_t { kDdp, kHorovod, kTensorflow, kPerTensor };
inline constexpr std::array kSyncNames = {
    sim::Named{SyncKind::kDdp, "ddp", "PyTorch DDP: buckets in reverse order of parameters"},
    sim::Named{SyncKind::kHorovod, "horovod", "Horovod: what is ready is fused, every few milliseconds"},
    sim::Named{SyncKind::kTensorflow, "tensorflow",
               "TensorFlow MirroredStrategy: everything in one, after backward"},
    sim::Named{SyncKind::kPerTensor, "per-tensor", "each gradient by itself, as soon as it is there"},
};
constexpr std::span<const sim::Named<SyncKind>> names_of(SyncKind) {
  return kSyncNames;
}

struct SyncSpec {
  static constexpr std::string_view kAbout = "How gradients are brought together.";
  SyncKind kind = SyncKind::kDdp;
  sim::Bytes bucket = 25_MiB;
  sim::Bytes first_bucket = 1_MiB;
  bool gradient_as_view = false;
  sim::Bytes fusion = 128_MiB;
  sim::Time cycle = sim::Time::us(1000);
  int packs = 1;

  template <class V>
  void visit(V& v) {
    v.field("kind", kind, "who decides what is reduced when");
    v.field("bucket", bucket, sim::between(1_B, 1024_GiB), "ddp: a bucket is full when it holds this much");
    v.field("first_bucket", first_bucket, sim::between(1_B, 1024_GiB), "ddp: the same for the first");
    v.field("gradient_as_view", gradient_as_view,
            "ddp: gradients are parts of their bucket, so nothing is copied into it and back");
    v.field("fusion", fusion, sim::between(1_B, 1024_GiB), "horovod: gradients fused at once, at most");
    v.field("cycle", cycle, sim::between(sim::Time::us(1), sim::Time::us(10'000'000)),
            "horovod: time between looking for gradients");
    v.field("packs", packs, sim::between(1, 1024), "tensorflow: so many reductions of equal size");
  }
};

/// Gradients that are reduced by one collective.
struct Bucket {
  std::vector<int> parameters;  ///< in their order within the bucket
  sim::Bytes bytes;
  bool copied = false;  ///< the gradients are copied into a buffer before and back afterwards
};

/// A synchroniser is told of gradients as they become ready. It answers with the buckets that may be reduced
/// from now on, in the order in which all GPUs start them.
class Synchroniser {
 public:
  virtual ~Synchroniser() = default;
  virtual void ready(int parameter, sim::Time now, std::vector<Bucket>& out) = 0;
  /// When it wants to be woken, if at all.
  virtual std::optional<sim::Time> wants_waking() const { return std::nullopt; }
  virtual void wake(sim::Time /*now*/, std::vector<Bucket>& /*out*/) {}
};

/// `sizes` are the bytes of the gradient of each parameter as it is sent, in the order in which the model
/// declares them.
std::unique_ptr<Synchroniser> make_synchroniser(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes);

// Each of these has its own file.
std::unique_ptr<Synchroniser> make_ddp(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes);
std::unique_ptr<Synchroniser> make_horovod(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes);
std::unique_ptr<Synchroniser> make_tensorflow(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes);
std::unique_ptr<Synchroniser> make_per_tensor(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes);

/// A gradient and the time at which backward has finished it.
struct ReadyGradient {
  int parameter = 0;
  sim::Time at;
};
struct Reduction {
  Bucket bucket;
  sim::Time may_start;
};
/// All decisions of a step. `gradients` are in order of time. With `after_backward`, no reduction starts
/// before the last gradient is ready.
std::vector<Reduction> decide(Synchroniser& synchroniser, std::span<const ReadyGradient> gradients,
                              bool after_backward);

}  // namespace infold::train

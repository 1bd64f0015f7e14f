// How gradients are brought together: which strategy, and its parameters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

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

}  // namespace infold::train

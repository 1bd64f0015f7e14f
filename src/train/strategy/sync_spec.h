// How gradients are brought together: which strategy, and its parameters.
#pragma once

#include <string_view>

#include "sim/params.h"
#include "sim/units.h"
#include "train/names.h"

namespace infold::train {

using namespace sim::literals;

struct SyncSpec {
  static constexpr std::string_view kAbout = "How gradients are brought together.";
  SyncKind kind = SyncKind::kDdp;
  sim::Bytes bucket = 25_MiB;
  sim::Bytes first_bucket = 1_MiB;
  bool gradient_as_view = false;
  sim::Bytes fusion = 128_MiB;
  sim::Time cycle = sim::Time::us(1000);
  int packs = 1;
  int bucket_elements = 0;
  int shard = 8;
  int forward_prefetch = 2;
  int backward_prefetch = 1;
  bool reshard = true;
  ReduceType reduce_dtype = ReduceType::kFp32;

  template <class V>
  void visit(V& v) {
    v.field("kind", kind, "what decides which gradients are reduced when");
    v.field("bucket", bucket, sim::between(1_B, 1024_GiB), "ddp: a bucket is full when it holds this much");
    v.field("first_bucket", first_bucket, sim::between(1_B, 1024_GiB), "ddp: the same for the first");
    v.field("gradient_as_view", gradient_as_view,
            "ddp: gradients are parts of their bucket, so nothing is copied into it and back");
    v.field("fusion", fusion, sim::between(1_B, 1024_GiB), "horovod: gradients fused at once, at most");
    v.field("cycle", cycle, sim::between(sim::Time::us(1), sim::Time::us(10'000'000)),
            "horovod: time between looking for gradients");
    v.field("packs", packs, sim::between(1, 1024), "tensorflow: number of reductions of equal size");
    v.field(
        "bucket_elements", bucket_elements, sim::between(0, 2'000'000'000),
        "zero1, zero2: a bucket is full when it holds so many; 0: 40 million, or a million for each rank");
    v.field("shard", shard, sim::between(1, 1'000'000), "hsdp: ranks that share one copy of the parameters");
    v.field("forward_prefetch", forward_prefetch, sim::between(0, 1'000'000),
            "fsdp, hsdp: so many blocks are gathered ahead of the one that computes, in forward");
    v.field("backward_prefetch", backward_prefetch, sim::between(0, 1'000'000), "the same in backward");
    v.field("reshard", reshard,
            "fsdp, hsdp: a block's weights are freed after forward and gathered again for backward");
    v.field("reduce_dtype", reduce_dtype, "fsdp, hsdp: the type in which gradients are sent");
  }
};

}  // namespace infold::train

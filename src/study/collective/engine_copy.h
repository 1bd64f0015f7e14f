// A copy within a GPU's memory that all of its copy engines share.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/copy/copy_engine.h"
#include "gpu/sm/core.h"
#include "study/kernel/kernel_build.h"

namespace infold::study {

class EngineCopy final : public sim::Handler {
 public:
  /// Calls `done.handle(arg)` at the end of each copy. Both must outlive it.
  EngineCopy(gpu::Core& core, sim::Handler& done, std::uint32_t arg) : core_(core), done_(done), arg_(arg) {}

  /// Requires: the last one has ended.
  void start(const BufferCopy& copy);

 private:
  void handle(std::uint32_t) override {
    if (--copying_ == 0) done_.handle(arg_);
  }

  gpu::Core& core_;
  sim::Handler& done_;
  std::uint32_t arg_;
  std::vector<std::unique_ptr<gpu::CopyEngine>> engines_;
  int copying_ = 0;
};

}  // namespace infold::study

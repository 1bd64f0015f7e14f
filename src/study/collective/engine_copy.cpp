// Gives each engine an even part, in whole blocks.
#include "study/collective/engine_copy.h"

#include <algorithm>

namespace infold::study {

void EngineCopy::start(const BufferCopy& copy) {
  const int n = core_.spec().copy.engines;
  const std::int64_t block = gpu::AddressSpace::kBufferBlock;
  const std::int64_t blocks = (copy.bytes.count() + block - 1) / block;
  const std::int64_t each = (blocks + n - 1) / n;
  for (std::int64_t first = 0; first < blocks; first += each) {
    const auto engine = static_cast<std::size_t>(first / each);
    if (engine == engines_.size())
      engines_.push_back(std::make_unique<gpu::CopyEngine>(core_.spec(), core_.events(), core_.memory()));
    const sim::Bytes bytes{std::min(each * block, copy.bytes.count() - first * block)};
    ++copying_;
    engines_[engine]->copy(copy.from + static_cast<std::uint64_t>(first),
                           copy.to + static_cast<std::uint64_t>(first), bytes, *this, 0);
  }
}

}  // namespace infold::study

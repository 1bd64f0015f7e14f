// In place, input is the output, or this rank's share of it; what of it lies outside is kept behind the
// scratch memory.
#include "formats/msccl/msccl_memory.h"

#include <algorithm>

namespace infold::formats {

namespace {

/// Chunks of the output of one rank: the file may leave it out where the collective is in place.
int output_of(const MscclFile& file, const MscclGpu& gpu) {
  const int ranks = static_cast<int>(file.gpus.size());
  switch (file.collective) {
    case coll::Collective::kAllGather:
      return gpu.input_chunks * ranks;
    case coll::Collective::kReduceScatter:
      return gpu.input_chunks / ranks;
    default:
      return gpu.input_chunks;
  }
}

}  // namespace

MscclMemory::MscclMemory(const MscclFile& file, std::size_t gpu)
    : input_(file.gpus[gpu].input_chunks),
      output_(output_of(file, file.gpus[gpu])),
      scratch_(file.gpus[gpu].scratch_chunks),
      in_place_(file.in_place) {
  const int rank = static_cast<int>(gpu);
  if (file.collective == coll::Collective::kAllGather) shift_ = rank * input_;
  if (file.collective == coll::Collective::kReduceScatter) shift_ = -rank * output_;
  cells_.resize(static_cast<std::size_t>(output_) + static_cast<std::size_t>(scratch_) +
                static_cast<std::size_t>(input_));
  for (int chunk = 0; chunk < input_; ++chunk) {
    Cell& c = cells_[static_cast<std::size_t>(cell(MscclBuffer::kInput, chunk, 1))];
    c.input = chunk;
    c.ranks = 1;
  }
}

int MscclMemory::scratch_used() const {
  auto end = static_cast<int>(cells_.size());
  while (end > output_ && !(*this)[end - 1].written) --end;
  return end - output_;
}

int MscclMemory::cell(MscclBuffer buffer, int chunk, int chunks) const {
  if (chunk < 0) return -1;
  switch (buffer) {
    case MscclBuffer::kOutput:
      return chunk + chunks <= output_ ? chunk : -1;
    case MscclBuffer::kScratch:
      return chunk + chunks <= scratch_ ? output_ + chunk : -1;
    case MscclBuffer::kInput:
      break;
  }
  if (chunk + chunks > input_) return -1;
  const int shared = chunk + shift_;
  if (in_place_ && shared >= 0 && shared + chunks <= output_) return shared;
  return output_ + scratch_ + chunk;
}

}  // namespace infold::formats

// One bucket after the other.
#include "study/step/reducer.h"

#include <numeric>
#include <utility>

namespace infold::study {

std::vector<int> Reducer::gpus() const {
  std::vector<int> all(next_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int Reducer::add(const BucketPrograms::Entry& entry) {
  Bucket b;
  b.entry = &entry;
  const coll::Buffers::Sizes sizes = coll::buffers_for(entry.program);
  b.buffers = buckets_.empty() ? std::make_unique<coll::Buffers>(machine_, gpus(), sizes)
                               : std::make_unique<coll::Buffers>(*buckets_.front().buffers, sizes);
  b.turns.resize(next_.size());
  buckets_.push_back(std::move(b));
  return buckets() - 1;
}

std::uint64_t Reducer::buffer(int bucket, int rank) const {
  return at(bucket).buffers->input(rank);
}

void Reducer::release(int rank, int bucket) {
  buckets_[static_cast<std::size_t>(bucket)].turns[static_cast<std::size_t>(rank)].ready =
      machine_.events().now();
  if (next_[static_cast<std::size_t>(rank)] == bucket) start_next(rank);
}

/// Starts the rank's next bucket if it is ready and the one before has ended.
void Reducer::start_next(int rank) {
  int& next = next_[static_cast<std::size_t>(rank)];
  if (next == buckets()) return;
  if (next > 0 && !turn(next - 1, rank).over()) return;
  const int index = next;
  Bucket& b = buckets_[static_cast<std::size_t>(index)];
  Turn& t = b.turns[static_cast<std::size_t>(rank)];
  if (t.ready == sim::Time::never()) return;
  t.start = machine_.events().now();
  ++next;
  if (b.execution == nullptr) {
    coll::Execution::Options options;
    options.buffers = b.buffers.get();
    options.trace = trace_;
    options.rank_done = [this, index](int r, sim::Time at) { ended(r, index, at); };
    b.execution = std::make_unique<coll::Execution>(machine_, b.entry->program, gpus(), std::move(options));
  }
  b.execution->enqueue(rank, t.start);
}

void Reducer::ended(int rank, int bucket, sim::Time at) {
  buckets_[static_cast<std::size_t>(bucket)].turns[static_cast<std::size_t>(rank)].end = at;
  reduced_(rank, bucket);
  start_next(rank);
}

std::vector<std::string> Reducer::who_waits() const {
  std::vector<std::string> lines;
  for (const Bucket& b : buckets_) {
    if (b.execution == nullptr || b.execution->done()) continue;
    for (auto& line : b.execution->who_waits()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace infold::study

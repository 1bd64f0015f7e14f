// Loads ahead as far as the window allows, stores what has arrived.
#include "gpu/copy/copy_engine.h"

#include "sim/check.h"

namespace infold::gpu {

void CopyEngine::copy(std::uint64_t from, std::uint64_t to, sim::Bytes bytes, sim::Handler& done,
                      std::uint32_t arg) {
  INFOLD_CHECK(idle() && bytes > sim::Bytes{}, "an engine copies one thing after the other");
  const auto n = static_cast<std::uint64_t>(bytes.count());
  source_ = MemorySystem::Cursor(Actor::kCopy, from, 0, n);
  target_ = MemorySystem::Cursor(Actor::kCopy, to, 0, n);
  to_load_ = bytes;
  last_taken_ = events_.now();
  done_ = &done;
  arg_ = arg;
  load_more();
}

void CopyEngine::load_more() {
  const sim::Time now = events_.now();
  while (to_load_ > sim::Bytes{}) {
    const sim::Bytes unit = sim::min(unit_, to_load_);
    if (in_flight_ + unit > window_) return;
    in_flight_ += unit;
    to_load_ -= unit;
    free_at_ = sim::max(free_at_, now) + pace_.time(unit);
    const auto n = static_cast<std::uint32_t>(unit.count());
    const sim::Time ready = sim::max(memory_.read(source_, n, now), free_at_);
    if (loading_.empty()) events_.schedule(ready, sim::Priority::kWork, *this, 0);
    loading_.push({ready, n});
  }
}

void CopyEngine::handle(std::uint32_t) {
  const sim::Time now = events_.now();
  if (in_flight_ == sim::Bytes{}) {  // all is stored
    sim::Handler* done = done_;
    done_ = nullptr;
    done->handle(arg_);
    return;
  }
  const Unit unit = loading_.front();
  loading_.pop();
  last_taken_ = sim::max(last_taken_, memory_.write(target_, unit.bytes, now));
  in_flight_ -= sim::Bytes{unit.bytes};
  if (!loading_.empty()) {
    // The next store waits until memory has taken the last one.
    const sim::Time next = sim::max(loading_.front().ready, last_taken_);
    events_.schedule(sim::max(next, now), sim::Priority::kWork, *this, 0);
  }
  const bool was_empty = loading_.empty();
  load_more();
  if (was_empty && loading_.empty())
    events_.schedule(sim::max(now, last_taken_), sim::Priority::kWork, *this, 0);
}

}  // namespace infold::gpu

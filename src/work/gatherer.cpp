// Works as Horovod does: in every cycle a thread checks which parts are there and fuses them, in the order in
// which they came, up to the size of its buffer. Parts that do not fit go into the next buffer at once.
#include "work/gatherer.h"

#include <utility>

namespace infold::work {

void Gatherer::arrived(int part, sim::Time now) {
  if (waiting_.empty()) {
    // The next tick that is not over yet; ticks continue whether there is work or not.
    const std::int64_t cycle = gather_.cycle.count_ps();
    tick_ = sim::Time::ps((now.count_ps() + cycle - 1) / cycle * cycle);
  }
  waiting_.push_back(part);
}

std::vector<Gathered> Gatherer::wake() {
  std::vector<Gathered> out;
  Gathered open;
  for (const int p : std::exchange(waiting_, {})) {
    const sim::Bytes size = gather_.parts[static_cast<std::size_t>(p)].bytes;
    if (!open.parts.empty() && open.bytes + size > gather_.most) out.push_back(std::exchange(open, {}));
    open.parts.push_back(p);
    open.bytes += size;
  }
  if (!open.parts.empty()) out.push_back(std::move(open));
  return out;
}

}  // namespace infold::work

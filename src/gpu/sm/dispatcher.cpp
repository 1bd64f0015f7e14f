// Decides which workgroup is next on which SM.
#include "gpu/sm/dispatcher.h"

#include <algorithm>

#include "sim/check.h"

namespace infold::gpu {

Dispatcher::Dispatcher(const GpuSpec& spec, sim::EventQueue& events, const Contention& contention,
                       int reserved)
    : spec_(spec), queue_(events), count_(spec.sms), reserved_(reserved), shared_(contention.sm) {
  INFOLD_CHECK(reserved < spec.sms, "some SM is left to compute on");
  Sm empty;
  empty.threads_free = spec.sm.threads;
  empty.shared_free = spec.sm.shared_memory;
  empty.registers_free = spec.sm.registers;
  sms_.assign(static_cast<std::size_t>(count_) * (shared_ ? 1 : kActors), empty);
}

/// Reserved SMs are the last ones.
int Dispatcher::first_sm(Actor actor) const {
  return shared_ ? 0 : static_cast<int>(index_of(actor)) * count_;
}
bool Dispatcher::usable(Actor actor, int sm) const {
  const int i = sm - first_sm(actor);
  return i >= 0 && i < usable_sms(actor);
}

void Dispatcher::copy_compute_of(const Dispatcher& twin) {
  for (int i = 0; i < count_; ++i) {
    const Sm& from = twin.sms_[static_cast<std::size_t>(first_sm(Actor::kCompute) + i)];
    INFOLD_CHECK(from.resident == 0 && sm(i).resident == 0, "a twin is copied between two kernels");
    sm(first_sm(Actor::kCompute) + i) = from;
  }
  sm_time_[Actor::kCompute] = twin.sm_time_[Actor::kCompute];
  resident_[index_of(Actor::kCompute)] = twin.resident_[index_of(Actor::kCompute)];
}

int Dispatcher::room_now(const Kernel& k) const {
  const int first = first_sm(k.launch.actor);
  int room = 0;
  for (int i = first; i < first + usable_sms(k.launch.actor); ++i) {
    const Sm& s = sms_[static_cast<std::size_t>(i)];
    if (!s.owned && !s.claimed) room += room_for(k.launch.footprint, s);
  }
  return room;
}

int Dispatcher::room_beside_collectives(const Kernel& k) const {
  const int first = first_sm(k.launch.actor);
  int sms = 0;
  for (int i = first; i < first + usable_sms(k.launch.actor); ++i) {
    const Sm& s = sms_[static_cast<std::size_t>(i)];
    if (!s.owned && !s.claimed) ++sms;
  }
  return sms * workgroups_per_sm(spec_.sm, k.launch.footprint);
}

/// A kernel has reached the head of its stream.
void Dispatcher::handle(std::uint32_t id) {
  Kernel& k = kernels_[id];
  if (k.launch.workgroups == 0) return k.launch.work->begin(id, 0);
  const auto behind = std::find_if(ready_.begin(), ready_.end(),
                                   [&](KernelId r) { return kernels_[r].priority < k.priority; });
  const auto position = static_cast<std::size_t>(behind - ready_.begin());
  ready_.insert(behind, id);
  k.total = k.launch.workgroups;
  if (k.launch.residency == Residency::kAny) {
    k.begun = true;
    k.launch.work->begin(id, k.total);
  } else {
    ++waiting_together_;
  }
  update_claims();
  if (k.launch.residency != Residency::kAny) begin_if_together(position);
  fill_all();
}

void Dispatcher::begin_if_together(std::size_t position) {
  const KernelId id = ready_[position];
  Kernel& k = kernels_[id];
  // Kernels ahead of it in the list come first.
  for (std::size_t i = 0; i < position; ++i) {
    if (!kernels_[ready_[i]].launch.footprint.whole_sm) return;
  }
  int wanted = k.launch.workgroups;
  if (k.launch.residency == Residency::kFree) wanted = std::min(wanted, room_beside_collectives(k));
  if (wanted == 0 || room_now(k) < wanted) return;
  k.total = wanted;
  k.begun = true;
  --waiting_together_;
  k.launch.work->begin(id, wanted);
}

/// Claims SMs for workgroups that need whole ones, so that they are not refilled: the emptiest SMs, as many
/// as such workgroups wait.
void Dispatcher::update_claims() {
  for (Sm& s : sms_) s.claimed = false;
  int others_priority = -1;
  bool others = false;
  for (const KernelId id : ready_) {
    const Kernel& k = kernels_[id];
    if (!k.launch.footprint.whole_sm) {
      if (!others) others_priority = k.priority;
      others = true;
      continue;
    }
    if (others && others_priority > k.priority) return;  // kernels of higher priority are served first
    const int first = first_sm(k.launch.actor);
    const int last = first + usable_sms(k.launch.actor);
    for (int n = k.total - k.started; n > 0; --n) {
      Sm* best = nullptr;
      for (int i = last - 1; i >= first; --i) {  // reserved ones first
        Sm& s = sms_[static_cast<std::size_t>(i)];
        if (!s.owned && !s.claimed && (best == nullptr || s.resident < best->resident)) best = &s;
      }
      if (best == nullptr) break;
      best->claimed = true;
    }
  }
}

/// Spreads workgroups over the SMs: no SM gets a second workgroup while another could take its first.
void Dispatcher::fill_all() {
  for (int level = 0, most = 0; level <= most && !ready_.empty(); ++level) {
    for (int i = 0; i < static_cast<int>(sms_.size()); ++i) {
      if (sm(i).resident == level && !ready_.empty()) place_one(i);
      most = std::max(most, sm(i).resident);
    }
  }
}

void Dispatcher::fill(int i) {
  while (!ready_.empty() && place_one(i)) {
  }
}

bool Dispatcher::place_one(int i) {
  for (std::size_t p = 0; p < ready_.size(); ++p) {
    const Kernel& k = kernels_[ready_[p]];
    if (!k.begun) return false;  // it waits until all of it fits, and the kernels behind it wait too
    if (usable(k.launch.actor, i) && sm(i).fits(k.launch.footprint)) {
      place(p, i);
      return true;
    }
  }
  return false;
}

void Dispatcher::place(std::size_t position, int i) {
  const KernelId id = ready_[position];
  Kernel& k = kernels_[id];
  sm(i).take(k.launch.footprint);
  account(k.launch, +1);
  k.peak = std::max(k.peak, ++k.running);
  const int index = k.started++;
  if (k.started == k.total) {
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(position));
    update_claims();
  } else if (position + 1 < ready_.size()) {
    // The next kernel of equal priority follows.
    auto first = ready_.begin() + static_cast<std::ptrdiff_t>(position);
    auto last =
        std::find_if(first, ready_.end(), [&](KernelId r) { return kernels_[r].priority < k.priority; });
    std::rotate(first, first + 1, last);
  }
  k.launch.work->start(index, i);
}

/// Adds up what was resident since the last change, then makes the change.
void Dispatcher::account(const Launch& launch, int workgroups) {
  Resident& r = resident_[index_of(launch.actor)];
  const sim::Time now = queue_.now();
  sm_time_[launch.actor] += (now - r.since) * r.threads / spec_.sm.threads;
  r.since = now;
  r.threads += workgroups * (launch.footprint.whole_sm ? spec_.sm.threads : launch.footprint.threads);
}

void Dispatcher::workgroup_done(KernelId id, int i) {
  Kernel& k = kernels_[id];
  sm(i).give_back(k.launch.footprint);
  account(k.launch, -1);
  if (--k.running == 0 && k.started == k.total) complete(id);
  if (waiting_together_ > 0) {
    for (std::size_t p = 0; p < ready_.size(); ++p) {
      if (!kernels_[ready_[p]].begun) {
        begin_if_together(p);
        fill_all();
        break;
      }
    }
  }
  fill(i);
}

}  // namespace infold::gpu

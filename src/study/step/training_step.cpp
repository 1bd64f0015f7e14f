// From gradients to buckets, from buckets to the optimizer.
#include "study/step/training_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/check.h"

namespace infold::study {

namespace {
/// Where compute shares nothing it never learns of the collectives, and where they come after backward it
/// does not up to there: GPUs that began together stay in step.
bool stays_in_step(const StepJob& job) {
  const gpu::Contention& c = job.core.contention;
  return !job.overlap || (!c.sm && !c.l2 && !c.hbm);
}

}  // namespace

TrainingStep::TrainingStep(const StepJob& job, gpu::Machine& machine, const train::Plan& plan,
                           const BucketSchedule& schedule, BucketPrograms& programs)
    : job_(job),
      machine_(machine),
      plan_(plan),
      schedule_(schedule),
      programs_(programs),
      in_step_(job.together && job.delays.empty()),
      reducer_(machine, job.gpus, [this](int rank, int bucket) { reduced(rank, bucket); }),
      backward_over_(static_cast<std::size_t>(job.gpus)),
      taken_back_(static_cast<std::size_t>(job.gpus)),
      settled_(static_cast<std::size_t>(job.gpus)) {
  for (int g = 0; g < job.gpus; ++g)
    gpus_.push_back(std::make_unique<GpuStep>(g, machine.gpu(g).core(), plan, *this));
  for (const train::Bucket& b : schedule.buckets) add_bucket(b);
  if (!schedule.in_advance) {
    synchroniser_ = train::make_synchroniser(job.sync, gradient_sizes(plan));
    ready_on_.resize(plan.ready.size());
  }
  for (auto& g : gpus_) {
    for (const int count : schedule.gradients) g->tell_at(count);
    for (int i = 1; !schedule.in_advance && i <= static_cast<int>(plan.ready.size()); ++i) g->tell_at(i);
  }
}

void TrainingStep::add_bucket(const train::Bucket& bucket) {
  if (auto why = programs_.prepare(bucket.bytes))
    INFOLD_CHECK(false, "sizes between those that were accepted are accepted");
  const int index = reducer_.add(programs_[bucket.bytes]);
  buckets_.push_back(bucket);
  packing_.emplace_back();
  if (copies_one_by_one(job_.sync)) {
    const std::vector<sim::Bytes> sizes = gradient_sizes(plan_);
    for (int g = 0; g < job_.gpus; ++g) {
      sim::Bytes offset;
      for (const int p : bucket.parameters) {
        gpus_[static_cast<std::size_t>(g)]->copy_to_bucket(p, reducer_.buffer(index, g), offset);
        offset += sizes[static_cast<std::size_t>(p)];
      }
    }
    return;
  }
  if (!bucket.copied) return;
  // One kernel copies many gradients. Where they lie is not followed: it reads and writes memory of their
  // size.
  constexpr int kElement = 2;
  const std::int64_t rows =
      (bucket.bytes.count() + gpu::Tensor::kSide * kElement - 1) / (gpu::Tensor::kSide * kElement);
  for (int g = 0; g < job_.gpus; ++g) {
    gpu::Core& core = machine_.gpu(g).core();
    if (packing_streams_.size() == static_cast<std::size_t>(g))
      packing_streams_.push_back(core.dispatcher().add_stream(job_.core.collective_priority));
    const gpu::Tensor gradients = core.addresses().tensor(rows, gpu::Tensor::kSide, kElement);
    const gpu::Tensor packed(reducer_.buffer(index, g), rows, gpu::Tensor::kSide, kElement);
    auto kernels = std::make_unique<gpu::KernelList>(core);
    kernels->add(
        gpu::StreamShape{.passes = {{{gradients}, {packed}, 0.5}}, .actor = gpu::Actor::kCollective});
    kernels->add(gpu::StreamShape{.passes = {{{packed}, {gradients}, 0}}, .actor = gpu::Actor::kCollective});
    packing_.back().push_back({std::move(kernels)});
  }
}

void TrainingStep::start() {
  if (in_step_) {
    gpus_.front()->start(sim::Time{});
    return;
  }
  for (int g = 0; g < job_.gpus; ++g) {
    const sim::Time delay = job_.delays.empty() ? sim::Time{} : job_.delays[static_cast<std::size_t>(g)];
    gpus_[static_cast<std::size_t>(g)]->start(delay);
  }
}

void TrainingStep::gradients_ready(int gpu, int count) {
  if (!in_step_) {
    take_up(gpu, count);
    return;
  }
  if (!stays_in_step(job_)) {
    in_step_ = false;
    for (int g = 1; g < job_.gpus; ++g) gpus_[static_cast<std::size_t>(g)]->go_on_as(*gpus_.front(), count);
  }
  for (int g = 0; g < job_.gpus; ++g) take_up(g, count);
}

void TrainingStep::backward_ended(int gpu) {
  if (!in_step_) {
    end_backward(gpu);
    return;
  }
  in_step_ = false;
  for (int g = 1; g < job_.gpus; ++g) gpus_[static_cast<std::size_t>(g)]->end_backward_as(*gpus_.front());
  for (int g = 0; g < job_.gpus; ++g) end_backward(g);
}

/// So many gradients are there on this GPU.
void TrainingStep::take_up(int gpu, int count) {
  if (schedule_.in_advance) {
    if (!job_.overlap) return;
    for (int b = 0; b < static_cast<int>(schedule_.gradients.size()); ++b) {
      if (schedule_.gradients[static_cast<std::size_t>(b)] == count) release(gpu, b);
    }
    return;
  }
  if (++ready_on_[static_cast<std::size_t>(count) - 1] < job_.gpus) return;
  ++ready_everywhere_;
  synchroniser_->ready(plan_.ready[static_cast<std::size_t>(count) - 1].parameter, machine_.events().now(),
                       formed_);
  form_buckets();
}

/// Adds what the synchroniser has formed, and sees to it that it is woken.
void TrainingStep::form_buckets() {
  const bool held = !job_.overlap && ready_everywhere_ < plan_.ready.size();
  if (!held && !formed_.empty()) {
    // The host learns that gradients are there, and enqueues.
    machine_.events().schedule(machine_.events().now() + machine_.spec().gpu.host_enqueue,
                               sim::Priority::kWork, *this, kLaunch);
  }
  const auto at = synchroniser_->wants_waking();
  if (!at || wakes_at_ == at) return;
  wakes_at_ = at;
  machine_.events().schedule(*at, sim::Priority::kWork, *this, kWake);
}

void TrainingStep::end_backward(int gpu) {
  backward_over_[static_cast<std::size_t>(gpu)] = true;
  if (schedule_.in_advance && !job_.overlap) {
    for (int b = 0; b < reducer_.buckets(); ++b) release(gpu, b);
  }
  take_back(gpu);
}

void TrainingStep::handle(std::uint32_t arg) {
  if (arg == kWake) {
    wakes_at_.reset();
    synchroniser_->wake(machine_.events().now(), formed_);
    form_buckets();
    return;
  }
  if (arg == kLaunch) {
    for (const train::Bucket& b : std::exchange(formed_, {})) {
      add_bucket(b);
      for (int g = 0; g < job_.gpus; ++g) release(g, reducer_.buckets() - 1);
    }
    return;
  }
  const Packed& p = packed_[arg];
  if (p.out) {
    count_in(p.rank, p.bucket);
  } else {
    reducer_.release(p.rank, p.bucket);
  }
}

/// All gradients of the bucket are there on this rank.
void TrainingStep::release(int rank, int bucket) {
  if (packing_[static_cast<std::size_t>(bucket)].empty()) {
    reducer_.release(rank, bucket);
  } else {
    pack(rank, bucket, /*out=*/false);
  }
}

void TrainingStep::pack(int rank, int bucket, bool out) {
  gpu::Dispatcher& dispatcher = machine_.gpu(rank).core().dispatcher();
  const gpu::StreamId stream = packing_streams_[static_cast<std::size_t>(rank)];
  const Packing& p = packing_[static_cast<std::size_t>(bucket)][static_cast<std::size_t>(rank)];
  const std::size_t kernel = out ? 1 : 0;
  p.kernels->enqueue(kernel, kernel + 1, stream, machine_.events().now());
  const gpu::EventId event = dispatcher.add_event();
  dispatcher.record(stream, event);
  dispatcher.notify(event, *this, static_cast<std::uint32_t>(packed_.size()));
  packed_.push_back({rank, bucket, out});
}

void TrainingStep::reduced(int rank, int bucket) {
  if (copies_one_by_one(job_.sync)) {
    take_back(rank);
  } else if (!packing_[static_cast<std::size_t>(bucket)].empty()) {
    pack(rank, bucket, /*out=*/true);
  } else {
    count_in(rank, bucket);
  }
}

/// After backward PyTorch waits for one bucket after the other and copies its gradients back.
void TrainingStep::take_back(int rank) {
  if (!copies_one_by_one(job_.sync) || !backward_over_[static_cast<std::size_t>(rank)]) return;
  int& next = taken_back_[static_cast<std::size_t>(rank)];
  while (next < reducer_.buckets() && reducer_.turn(next, rank).over()) {
    const int bucket = next++;
    for (const int p : buckets_[static_cast<std::size_t>(bucket)].parameters)
      gpus_[static_cast<std::size_t>(rank)]->copy_back(p);
    count_in(rank, bucket);
  }
}

void TrainingStep::count_in(int rank, int bucket) {
  std::size_t& settled = settled_[static_cast<std::size_t>(rank)];
  settled += buckets_[static_cast<std::size_t>(bucket)].parameters.size();
  if (settled == plan_.ready.size()) gpus_[static_cast<std::size_t>(rank)]->optimize();
}

const gpu::KernelList* TrainingStep::packing(int bucket, int rank) const {
  const auto& ranks = packing_[static_cast<std::size_t>(bucket)];
  return ranks.empty() ? nullptr : ranks[static_cast<std::size_t>(rank)].kernels.get();
}

bool TrainingStep::done() const {
  return std::all_of(gpus_.begin(), gpus_.end(), [](const auto& g) { return g->done(); });
}

double TrainingStep::share() const {
  std::size_t sum = 0;
  for (const std::size_t s : settled_) sum += s;
  return static_cast<double>(sum) / static_cast<double>(plan_.ready.size() * settled_.size());
}

std::vector<std::string> TrainingStep::who_waits() const {
  std::vector<std::string> lines = reducer_.who_waits();
  if (machine_.units() != nullptr) {
    for (auto& line : machine_.units()->who_waits()) lines.push_back(std::move(line));
  }
  for (auto& line : machine_.network().who_waits()) lines.push_back(std::move(line));
  for (int g = 0; g < job_.gpus; ++g) {
    for (const auto& line : machine_.gpu(g).core().dispatcher().who_waits())
      lines.push_back(fmt::format("gpu{} {}", g, line));
  }
  return lines;
}

}  // namespace infold::study

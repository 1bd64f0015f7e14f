// The streams of the dispatcher: what is enqueued, and when a kernel may begin.
#include <fmt/format.h>

#include <algorithm>

#include "gpu/sm/dispatcher.h"
#include "sim/check.h"

namespace infold::gpu {

StreamId Dispatcher::add_stream(int priority) {
  streams_.emplace_back();
  streams_.back().priority = priority;
  return static_cast<StreamId>(streams_.size() - 1);
}

KernelId Dispatcher::enqueue(StreamId stream, const Launch& launch, sim::Time host_time) {
  const int per_sm = workgroups_per_sm(spec_.sm, launch.footprint);
  INFOLD_CHECK(per_sm > 0 || launch.workgroups == 0, "a workgroup fits an SM");
  INFOLD_CHECK(launch.workgroups >= 0, "a kernel has workgroups, or is an engine's");
  INFOLD_CHECK(
      launch.residency != Residency::kTogether || launch.workgroups <= per_sm * usable_sms(launch.actor),
      "a grid that must be resident together fits the GPU");
  Stream& s = streams_[stream];
  const KernelId id = kernels_.take({.launch = launch, .stream = stream, .priority = s.priority});
  s.ops.push_back({StreamOp::Kind::kKernel, id, host_time});
  advance(stream);
  return id;
}

void Dispatcher::record(StreamId stream, EventId event) {
  streams_[stream].ops.push_back({StreamOp::Kind::kRecord, event, {}});
  advance(stream);
}

void Dispatcher::wait(StreamId stream, EventId event) {
  streams_[stream].ops.push_back({StreamOp::Kind::kWait, event, {}});
  advance(stream);
}

void Dispatcher::notify(EventId event, sim::Handler& handler, std::uint32_t arg) {
  StreamEvents::Event& e = events_of_streams_[event];
  if (e.recorded) {
    queue_.schedule(queue_.now(), sim::Priority::kWork, handler, arg);
  } else {
    e.listeners.push_back({&handler, arg});
  }
}

void Dispatcher::advance(StreamId stream) {
  while (!streams_[stream].busy && !streams_[stream].waiting && !streams_[stream].empty()) {
    Stream& s = streams_[stream];
    const StreamOp op = s.ops[s.next];
    if (op.kind == StreamOp::Kind::kKernel) {
      s.busy = true;
      queue_.schedule(sim::max(queue_.now(), op.host_time) + spec_.launch_gap, sim::Priority::kWork, *this,
                      op.id);
      return;
    }
    StreamEvents::Event& event = events_of_streams_[op.id];
    if (op.kind == StreamOp::Kind::kWait && !event.recorded) {
      s.waiting = true;
      event.streams.push_back(stream);
      return;
    }
    s.pop();
    if (op.kind == StreamOp::Kind::kRecord && !event.recorded) {
      event.recorded = true;
      for (const auto& l : event.listeners) {
        queue_.schedule(queue_.now(), sim::Priority::kWork, *l.handler, l.arg);
      }
      for (const StreamId waiting : event.streams) {
        streams_[waiting].waiting = false;
        advance(waiting);
      }
    }
  }
}

void Dispatcher::complete(KernelId id) {
  const Kernel& k = kernels_[id];
  const StreamId stream = k.stream;
  const int most_resident = k.peak;
  Work& work = *k.launch.work;
  streams_[stream].busy = false;
  streams_[stream].pop();
  kernels_.give_back(id);
  work.finished(most_resident);
  advance(stream);
}

bool Dispatcher::idle() const {
  return std::all_of(streams_.begin(), streams_.end(), [](const Stream& s) { return s.empty(); });
}

std::vector<std::string> Dispatcher::who_waits() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& s = streams_[i];
    if (s.empty()) continue;
    const StreamOp& op = s.ops[s.next];
    if (op.kind == StreamOp::Kind::kKernel) {
      const Kernel& k = kernels_[op.id];
      lines.push_back(fmt::format("stream {}: a kernel of {} workgroups, {} started, {} running", i,
                                  k.launch.workgroups, k.started, k.running));
    } else {
      lines.push_back(fmt::format("stream {}: waits for event {}", i, op.id));
    }
  }
  return lines;
}

}  // namespace infold::gpu

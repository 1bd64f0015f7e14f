// Writes a small graph for each sample, runs it and reads off times.
#include "study/composed/sample.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "sim/check.h"
#include "work/communications.h"
#include "work/runtime.h"

namespace infold::study::composed {

namespace {

constexpr std::uint64_t kEventsPerLook = 1 << 13;  // events between two looks whether the window has ended
constexpr int kMostRepeats = 1 << 14;
/// Repetitions take turns at so many buffers: as in a step, what they read has been written not long before.
constexpr int kBuffers = 2;

/// Sums up now and then what GPUs have sent, so that it can be told how fast data went at any time.
class Meter final : public sim::Handler {
 public:
  Meter(gpu::Machine& machine, const std::vector<int>& gpus, sim::Time tick)
      : machine_(machine), gpus_(gpus), tick_(tick) {
    handle(0);
  }
  void stop() { stopped_ = true; }
  /// Bytes that were sent by then.
  double at(double ps) const {
    const double place = std::max(0.0, ps / static_cast<double>(tick_.count_ps()));
    const auto i = std::min(static_cast<std::size_t>(place), sent_.size() - 1);
    const auto next = std::min(i + 1, sent_.size() - 1);
    return sent_[i] + (sent_[next] - sent_[i]) * std::min(1.0, place - static_cast<double>(i));
  }

 private:
  void handle(std::uint32_t) override {
    std::uint64_t sum = 0;
    for (const int g : gpus_) sum += machine_.network().payload_sent(static_cast<net::NodeId>(g));
    sent_.push_back(static_cast<double>(sum));
    if (!stopped_)
      machine_.events().schedule(machine_.events().now() + tick_, sim::Priority::kWork, *this, 0);
  }

  gpu::Machine& machine_;
  const std::vector<int>& gpus_;
  sim::Time tick_;
  bool stopped_ = false;
  std::vector<double> sent_;
};

/// Adds a partner's repetitions to a graph, in a stream of their own. Returns their operations.
std::vector<work::OpId> add_partner(work::Graph& g, const Partner& partner, int repeats) {
  work::Stream stream{.name = "partner", .kind = work::Stream::Kind::kBeside};
  const auto first = static_cast<work::BufferId>(g.buffers.size());
  const int buffers = std::min(kBuffers, repeats);
  for (int b = 0; b < buffers; ++b) g.add(work::Buffer{.bytes = partner.bytes});
  work::Operation op{.what = partner.op.what};
  if (partner.communicates()) {
    stream.kind = work::Stream::Kind::kCommunication;
    stream.communicator = static_cast<work::CommunicatorId>(g.communicators.size());
    g.communicators.push_back({.name = "partner", .groups = {partner.members}, .priority = partner.priority});
  }
  std::vector<work::OpId> ops;
  for (int r = 0; r < repeats; ++r) {
    const work::BufferId buffer = first + r % buffers;
    if (auto* c = std::get_if<work::Collective>(&op.what)) {
      *c = {.communicator = stream.communicator, .what = c->what, .buffer = buffer, .root = c->root};
    } else if (auto* t = std::get_if<work::Transfer>(&op.what)) {
      t->communicator = stream.communicator;
      t->buffer = buffer;
    } else {
      auto& copy = std::get<work::Copy>(op.what);
      copy.buffer = buffer;
      copy.offset = {};
      if (r < buffers)
        copy.tensor = g.add(*partner.copied);
      else
        copy.tensor = std::get<work::Copy>(g[ops[static_cast<std::size_t>(r % buffers)]].what).tensor;
    }
    ops.push_back(g.add(stream, op));
  }
  g.scripts.front().streams.push_back(std::move(stream));
  return ops;
}

/// Kernels before a partner: one fills the cache with what it reads and writes, and the buffers of
/// communication are filled. Returns the last.
work::OpId add_fill(work::Graph& g, sim::Bytes cache, const std::vector<work::OpId>& repeated) {
  constexpr std::int64_t kCols = 1024;
  constexpr int kElement = 2;
  const work::TensorSpec half{
      .rows = cache.count() / 2 / (kCols * kElement), .cols = kCols, .element_bytes = kElement};
  work::Streaming fill;
  fill.passes.push_back({.reads = {g.add(half)}, .writes = {g.add(half)}, .ops_per_element = 0});
  const std::size_t s = g.scripts.front().streams.size();
  g.scripts.front().streams.push_back({.name = "compute"});
  work::OpId last = g.add(g.scripts.front().streams[s], {.what = work::Kernel{.what = fill}});
  for (int r = 0; r < std::min(kBuffers, static_cast<int>(repeated.size())); ++r) {
    const work::Operation& op = g[repeated[static_cast<std::size_t>(r)]];
    if (work::communicator_of(op) < 0) break;
    const work::Copy copy = work::whole_bucket(g, work::buffer_of(op));
    last = g.add(g.scripts.front().streams[s], {.what = copy});
  }
  return last;
}

/// The GPUs of a sample: those of its communication, or one.
std::vector<int> gpus_of(const Sample& sample) {
  std::vector<int> gpus;
  for (const auto& p : {sample.partner, sample.beside}) {
    if (p && p->communicates()) gpus.insert(gpus.end(), p->members.begin(), p->members.end());
  }
  if (gpus.empty()) gpus = {0};
  std::ranges::sort(gpus);
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  return gpus;
}

void add(ContentKey& key, const Partner& p) {
  key.add(p.communicates());
  key.add(p.bytes);
  key.add(p.priority);
  key.add(p.members);
  if (p.copied) {
    work::Graph g;
    work::Operation op = p.op;
    auto& copy = std::get<work::Copy>(op.what);
    copy.tensor = g.add(*p.copied);
    copy.buffer = g.add(work::Buffer{.bytes = p.bytes});
    add_shape(key, g, op);
    return;
  }
  key.add(p.op.what.index());
  key.add(p.program.collective);
  key.add(p.program.channels);
  key.add(p.program.engine);
  key.add(p.program.root);
  key.add(p.program.scratch);
  coll::Tuning tuning = p.program.tuning;
  tuning.visit(key);
  key.add(tuning.protocol);
  for (const auto& list : p.program.lists) {
    key.add(static_cast<std::int64_t>(list.size()));
    for (const coll::Step& s : list) {
      key.add(s.from.size());
      for (const int r : s.from) key.add(r);
      key.add(s.to.size());
      for (const int r : s.to) key.add(r);
      for (const bool b : {s.uses_input, s.uses_held, s.writes_output, s.finishes, s.lands, s.landed})
        key.add(b);
      for (const sim::Bytes b : {s.bytes, s.input_offset, s.held_offset, s.output_offset, s.stride, s.stage})
        key.add(b);
      key.add(s.net);
      key.add(s.who);
    }
  }
}

/// Where switches reduce, longer bursts than usual are near enough for a profile: they cost a quarter. Not
/// where adders are hardly faster than links.
sim::Bytes burst_of(const Scene& scene, const Sample& sample) {
  constexpr sim::Bytes kReduced = sim::Bytes::kib(16);
  if (scene.burst == sim::Bytes{} || !sample.partner || !sample.partner->program.in_network())
    return scene.burst;
  const gpu::MachinePlan& plan = scene.system->plan();
  if (plan.spec().inc.alu_rate < net::fastest_link(plan.blueprint()) * 2) return scene.burst;
  return sim::max(scene.burst, kReduced);
}

/// A sample under way.
class Run {
 public:
  Run(const Scene& scene, const Sample& sample) : sample_(sample), gpus_(gpus_of(sample)) {
    graph_ = sample.window;
    if (graph_.scripts.empty()) graph_.scripts.resize(1);
    for (work::OpId op = 0; op < static_cast<work::OpId>(sample.window.operations.size()); ++op)
      window_.push_back(op);
    const sim::Bytes cache = scene.system->machine.gpu.l2.capacity;
    if (sample.partner) repeated_ = add_partner(graph_, *sample.partner, sample.repeats);
    if (sample.beside) other_ = add_partner(graph_, *sample.beside, sample.beside_repeats);
    if (window_.empty()) {
      const work::OpId filled = add_fill(graph_, cache, repeated_);
      for (const auto* ops : {&repeated_, &other_}) {
        if (!ops->empty()) graph_[ops->front()].after = {filled};
      }
    }
    give_scripts();
    const auto in_network = [](const std::optional<Partner>& p) { return p && p->program.in_network(); };
    machine_ = std::make_unique<gpu::Machine>(
        scene.system->plan(),
        gpu::MachineOptions{.burst = burst_of(scene, sample),
                            .functional = false,
                            .in_network = in_network(sample.partner) || in_network(sample.beside),
                            .core = scene.core,
                            .networks = scene.core.contention.link ? 1 : 2});
    runtime_ = std::make_unique<work::Runtime>(
        graph_, *machine_,
        work::RuntimeOptions{.programs = [this](const work::Operation& op, sim::Bytes,
                                                const std::vector<int>&) -> const coll::Program& {
          return work::communicator_of(op) == 0 && sample_.partner->communicates() ? sample_.partner->program
                                                                                   : sample_.beside->program;
        }});
  }

  /// Whether the partner went on until the window had ended, or nothing has to.
  sim::Result<bool> run(const sim::GoOn& go_on) {
    std::optional<Meter> meter;
    const bool both = !window_.empty() && sample_.partner.has_value();
    if (both && sample_.partner->communicates()) meter.emplace(*machine_, gpus_, kTick);
    runtime_->start();
    while (machine_->events().run(kEventsPerLook)) {
      if (sim::asked_to_stop(go_on)) return sim::interrupted();
      if (both && over(window_)) break;
      if (sample_.beside && (over(repeated_) || over(other_))) break;
      if (both && over(repeated_)) return false;
    }
    if (!over(window_) || (!both && !sample_.beside && !over(repeated_)))
      return sim::deadlock(runtime_->who_waits());
    if (both && over(repeated_)) return false;
    read(meter ? &*meter : nullptr);
    return true;
  }
  Sampled take() { return std::move(result_); }

 private:
  static constexpr sim::Time kTick = sim::Time::ns(200);

  /// A GPU has the streams of the communications that it takes part in.
  void give_scripts() {
    const std::vector<work::Stream> all = graph_.scripts.front().streams;
    std::map<std::vector<bool>, int> known;
    graph_.scripts = {work::Script{}};  // of GPUs that have nothing to do
    graph_.script_of.assign(static_cast<std::size_t>(gpus_.back() + 1), 0);
    for (const int g : gpus_) {
      std::vector<bool> has;
      has.reserve(all.size());
      for (const work::Stream& s : all) has.push_back(s.ops.empty() || is_there(g, s.ops.front()));
      const auto [at, is_new] = known.try_emplace(has, static_cast<int>(graph_.scripts.size()));
      if (is_new) {
        graph_.scripts.emplace_back();
        for (std::size_t s = 0; s < all.size(); ++s) {
          if (has[s]) graph_.scripts.back().streams.push_back(all[s]);
        }
      }
      graph_.script_of[static_cast<std::size_t>(g)] = at->second;
    }
  }
  /// Whether these have ended on all GPUs.
  bool over(const std::vector<work::OpId>& ops) const {
    return ops.empty() || std::ranges::all_of(gpus_, [&](int g) {
             return !is_there(g, ops.back()) || runtime_->times(g, ops.back()).over();
           });
  }
  /// Not every GPU takes part in every communication.
  bool is_there(int gpu, work::OpId op) const {
    const work::CommunicatorId c = work::communicator_of(graph_[op]);
    if (c < 0) return true;
    const auto& group = graph_.communicators[static_cast<std::size_t>(c)].groups.front();
    return std::ranges::find(group, gpu) != group.end();
  }
  /// When an operation ended, as a mean over the GPUs.
  double end_of(work::OpId op) const {
    double sum = 0;
    int count = 0;
    for (const int g : gpus_) {
      if (!is_there(g, op)) continue;
      sum += static_cast<double>(runtime_->times(g, op).end.count_ps());
      ++count;
    }
    return sum / count;
  }

  /// When the last GPU began and ended an operation.
  double start_of(work::OpId op) const { return last_of(op, &work::Timeline::Times::start); }
  double last_end_of(work::OpId op) const { return last_of(op, &work::Timeline::Times::end); }
  double last_of(work::OpId op, sim::Time work::Timeline::Times::*which) const {
    sim::Time last;
    for (const int g : gpus_) {
      if (is_there(g, op)) last = sim::max(last, runtime_->times(g, op).*which);
    }
    return static_cast<double>(last.count_ps());
  }

  void read(const Meter* meter) {
    const auto gap = static_cast<double>(machine_->spec().gpu.launch_gap.count_ps());
    double before = 0;
    for (const work::OpId op : window_) {
      const double end = end_of(op);
      result_.kernels.push_back(std::max(0.0, end - before - gap));
      if (sample_.partner) {
        const double done = meter != nullptr ? meter->at(end) - meter->at(before)
                                             : repeats_until(end) - repeats_until(before);
        result_.pace.push_back(end > before ? done / (end - before) : 0);
      }
      before = end;
    }
    std::vector<double> ends;
    for (const work::OpId op : repeated_) {
      if (std::ranges::all_of(gpus_,
                              [&](int g) { return !is_there(g, op) || runtime_->times(g, op).over(); }))
        ends.push_back(end_of(op));
    }
    // Whoever needs all members goes on when the last of them is through.
    if (!ends.empty()) result_.first = last_end_of(repeated_.front()) - start_of(repeated_.front());
    result_.next =
        ends.size() > 1 ? (ends.back() - ends.front()) / static_cast<double>(ends.size() - 1) : result_.first;
    if (window_.empty() && !sample_.beside) {
      for (const int g : gpus_)
        result_.sent += static_cast<double>(machine_->network().payload_sent(static_cast<net::NodeId>(g)));
      result_.sent /= static_cast<double>(ends.size());
    }
    result_.events = static_cast<double>(machine_->events().handled());
    result_.packet_hops = static_cast<double>(machine_->network().packet_hops());
  }

  /// Repetitions that had ended by then, with a part of the one under way.
  double repeats_until(double at) const {
    double count = 0;
    double before = 0;
    for (const work::OpId op : repeated_) {
      if (!runtime_->times(gpus_.front(), op).over()) break;
      const double end = end_of(op);
      if (end > at) return count + (at - before) / std::max(end - before, 1.0);
      before = end;
      ++count;
    }
    return count;
  }

  const Sample& sample_;
  std::vector<int> gpus_;
  work::Graph graph_;
  std::vector<work::OpId> window_;
  std::vector<work::OpId> repeated_;
  std::vector<work::OpId> other_;
  std::unique_ptr<gpu::Machine> machine_;
  std::unique_ptr<work::Runtime> runtime_;
  Sampled result_;
};

}  // namespace

std::string key_of(const Scene& scene, const Sample& sample, const std::string& version) {
  ContentKey key;
  key.add(std::string_view(version));
  SystemSpec spec = *scene.system;
  spec.visit(key);
  const gpu::Contention& c = scene.core.contention;
  for (const bool shared : {c.sm, c.l2, c.hbm, c.link}) key.add(shared);
  key.add(scene.core.reserved_sms);
  key.add(scene.core.collective_priority);
  key.add(scene.burst);
  composed::add(key, sample.window);
  for (const auto& p : {sample.partner, sample.beside}) {
    key.add(p.has_value());
    if (p) add(key, *p);
  }
  key.add(sample.repeats);
  key.add(sample.beside_repeats);
  return key.text();
}

sim::Result<Sampled> simulate(const Scene& scene, const Sample& asked, const sim::GoOn& go_on) {
  Sample sample = asked;
  while (true) {
    Run run(scene, sample);
    auto ended = run.run(go_on);
    if (!ended) return sim::fail_as(std::move(ended));
    if (*ended) return run.take();
    INFOLD_CHECK(sample.repeats < kMostRepeats, "a window ends some time");
    sample.repeats *= 2;
  }
}

}  // namespace infold::study::composed

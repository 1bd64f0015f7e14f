// ZeRO-1 and ZeRO-2: every rank has all weights, and updates its shard of them. Gradients are
// reduce-scattered in buckets, filled in reverse order of the parameters, as Megatron-LM's distributed
// optimizer does it: they are parts of their bucket, so nothing is copied. After the update each bucket's
// weights are gathered in their place. That is not overlapped.
//
// ZeRO-1 adds up the gradients of all passes and reduces them in the last. ZeRO-2 has no memory for that: it
// reduces them in every pass and adds up shards, as DeepSpeed's stage 2 does. It has memory for two buckets:
// compute goes on behind a full one when the one before it has been reduced.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "train/strategy/sharding.h"
#include "train/strategy/step_writer.h"

namespace infold::train {

namespace {

class ZeroWriter {
 public:
  explicit ZeroWriter(const StepRequest& request)
      : request_(request), plan_(request.plan), writer_(request.plan, request.layout) {
    for (const Axis axis : {Axis::kReplica, Axis::kExpertReplica}) add_buckets(axis);
  }

  StepGraph run() {
    StepGraph step;
    for (pass_ = 0; pass_ < passes(); ++pass_) write_pass(step);
    writer_.update_after(std::exchange(scattered_, {}));
    if (!buckets_.empty() && !plan_.ops.empty()) gather(step);
    step.graph = std::move(writer_).graph();
    return step;
  }

 private:
  struct Sharded {
    Bucket bucket;
    work::BufferId gradients = 0;
    work::BufferId weights = 0;
    TensorId shard = 0;
  };

  work::Graph& graph() { return writer_.graph(); }
  bool every_pass() const { return request_.sync.kind == SyncKind::kZero2; }
  int passes() const { return every_pass() ? request_.passes : 1; }
  bool adds() const { return every_pass() && plan_.recipe.accumulate > 1; }

  void add_buckets(Axis axis) {
    const int shards = shard_groups(request_.sync, request_.layout, axis).shard_size;
    if (shards == 1) return;
    std::vector<int> place(
        plan_.parameter_elements.size());  // by parameter: in the order of readiness, from 1
    int count = 0;
    for (const GradientReady& r : plan_.ready) place[static_cast<std::size_t>(r.parameter)] = ++count;
    Bucket open{.axis = axis};
    std::int64_t elements = 0;
    const auto close = [&] {
      const std::int64_t n = padded(std::exchange(elements, 0), shards);
      constexpr std::int64_t kCols = 64;
      const auto buffer = [&](int bytes) {
        return graph().add(work::Buffer{.bytes = sim::Bytes{n * bytes}, .element_bytes = bytes});
      };
      Sharded s{.bucket = open, .gradients = buffer(plan_.recipe.gradient_bytes())};
      s.weights = buffer(plan_.recipe.read_weight_bytes());
      if (adds())
        s.shard = graph().add(TensorSpec{.role = TensorSpec::Role::kPart,
                                         .rows = (n / shards + kCols - 1) / kCols,
                                         .cols = kCols,
                                         .element_bytes = plan_.recipe.gradient_bytes()});
      buckets_.push_back(std::move(s));
      open = {.gradients = open.gradients, .axis = axis};  // those before it must be there, too
    };
    for (std::size_t i = place.size(); i-- > 0;) {
      if (plan_.axis_of(static_cast<int>(i)) != axis) continue;
      open.parameters.push_back(static_cast<int>(i));
      elements += plan_.parameter_elements[i];
      open.gradients = std::max(open.gradients, place[i]);
      if (elements >= bucket_elements(request_.sync, shards)) close();
    }
    if (!open.parameters.empty()) close();
  }

  void write_pass(StepGraph& step) {
    const bool last = pass_ + 1 == passes();
    const int end = plan_.first_op(Phase::kOptimizer);
    std::size_t ready = 0;
    for (int op = 0; op < end; ++op) {
      const work::OpId here = last ? op : writer_.again(op, pass_);
      graph()[here].pass = pass_;
      writer_.put(here);
      for (; ready < plan_.ready.size() && plan_.ready[ready].op == op; ++ready) {
        if (request_.overlap || every_pass()) scatter(static_cast<int>(ready) + 1);
      }
    }
    const work::OpId backward =
        graph().add(writer_.compute(), {.what = work::Marker{}, .name = "end of backward"});
    if (!request_.overlap && !every_pass()) {
      for (int n = 1; n <= static_cast<int>(ready); ++n) scatter(n);
    }
    if (last) step.backward_ended = backward;
    if (!every_pass()) return;
    step.pass_ended = graph().add(writer_.compute(),
                                  {.what = work::Marker{}, .name = "end of the pass", .after = scattered_});
    previous_.clear();
  }

  /// Reduces the buckets that were waiting for gradient number n.
  void scatter(int n) {
    std::optional<work::OpId> when;
    for (const Sharded& s : buckets_) {
      if (s.bucket.gradients != n) continue;
      if (!when) {
        when = graph().add(writer_.compute(), {.what = work::Marker{}});
        if (every_pass()) graph()[*when].after = std::exchange(previous_, {});
      }
      work::OpId done = writer_.communicate({.communicator = writer_.replicas(s.bucket.axis),
                                             .what = coll::Collective::kReduceScatter,
                                             .buffer = s.gradients,
                                             .target = adds() ? s.gradients : -1},
                                            fmt::format("reduce-scatter of bucket {}", index_of(s)), {*when});
      const work::OpId reduced = done;
      if (adds()) {
        done = graph().add(writer_.copies(), {.what = work::Copy{.tensor = s.shard,
                                                                 .buffer = s.gradients,
                                                                 .back = true,
                                                                 .ops_per_element = 1,
                                                                 .for_communication = true,
                                                                 .adds = pass_ > 0 || passes() == 1},
                                              .after = {reduced}});
      }
      for (const work::OpId op : {reduced, done}) {
        graph()[op].gradients = s.bucket.parameters;
        graph()[op].pass = pass_;
      }
      scattered_.push_back(done);
      previous_.push_back(done);
    }
    if (when && every_pass() && !request_.overlap)
      graph().add(writer_.compute(), {.what = work::Marker{}, .after = std::exchange(previous_, {})});
  }

  /// Gathers the last bucket first, because forward needs the first parameters first and buckets begin with
  /// the last ones.
  void gather(StepGraph& step) {
    const work::OpId updated =
        graph().add(writer_.compute(), {.what = work::Marker{}, .name = "end of the update"});
    std::vector<work::OpId> gathered;
    for (std::size_t i = buckets_.size(); i-- > 0;) {
      const Sharded& s = buckets_[i];
      gathered.push_back(writer_.communicate({.communicator = writer_.replicas(s.bucket.axis),
                                              .what = coll::Collective::kAllGather,
                                              .buffer = s.weights},
                                             fmt::format("all-gather of bucket {}", i), {updated}));
      graph()[gathered.back()].weights = s.bucket.parameters;
    }
    step.step_ended = graph().add(
        writer_.compute(), {.what = work::Marker{}, .name = "end of the step", .after = std::move(gathered)});
  }

  std::size_t index_of(const Sharded& s) const { return static_cast<std::size_t>(&s - buckets_.data()); }

  const StepRequest& request_;
  const Plan& plan_;
  StepWriter writer_;
  std::vector<Sharded> buckets_;
  int pass_ = 0;
  std::vector<work::OpId> scattered_;
  std::vector<work::OpId> previous_;  // reductions that compute has not waited for
};

}  // namespace

StepGraph write_zero(const StepRequest& request) {
  return ZeroWriter(request).run();
}

}  // namespace infold::train

// Writes a stage's script pass by pass: receive, compute, send. Then gradients are brought together, and the
// update follows.
#include "train/strategy/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "train/pass_ops.h"
#include "train/strategy/pass_writer.h"
#include "train/strategy/stage_gradients.h"

namespace infold::train {

namespace {

using work::OpId;
using Way = StageLinks::Way;

class StageWriter {
 public:
  StageWriter(StepParts& step, int stage)
      : step_(step), plan_(step.request.plan), stage_(stage), gradients_(step, stage) {
    for (int c = 0; c < plan_.spec.virtual_stages; ++c) {
      const int part = plan_.part_of(stage, c);
      chunks_.push_back(
          {.part = part,
           .plan = &plan_.plans[static_cast<std::size_t>(part)],
           .writer = std::make_unique<PassWriter>(step.graph, plan_.plans[static_cast<std::size_t>(part)],
                                                  step.axes, static_cast<std::size_t>(stage))});
    }
  }

  struct Ended {
    OpId backward = 0;              // a marker, as is the other
    std::optional<OpId> step = {};  // where weights are gathered in the end
  };
  Ended run(PipelineStep& out) {
    for (const Chunk& c : chunks_)
      out.first_tensors[static_cast<std::size_t>(c.part)] = c.writer->tensor(TensorId{0});
    const auto& passes = plan_.schedule[static_cast<std::size_t>(stage_)];
    const std::vector<int> places = places_of(passes);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      if (auto written = write(passes[i], places[i])) out.passes.push_back(*written);
    }
    work::Stream& compute = stream(0);
    const OpId ended = step_.graph.add(
        compute, {.what = work::Marker{}, .name = fmt::format("end of backward of stage {}", stage_)});
    std::vector<OpId> before = gradients_.reduce_rest(ended);
    before.push_back(ended);
    update(before);
    if (!gradients_.sharded()) return {.backward = ended};
    const OpId updated = step_.graph.add(
        stream(0), {.what = work::Marker{}, .name = fmt::format("end of the update of stage {}", stage_)});
    std::vector<OpId> gathered = gradients_.gather(updated);
    const OpId over = step_.graph.add(stream(0), {.what = work::Marker{},
                                                  .name = fmt::format("end of the step of stage {}", stage_),
                                                  .after = std::move(gathered)});
    return {.backward = ended, .step = over};
  }

 private:
  struct Chunk {
    int part = 0;
    const Plan* plan = nullptr;
    std::unique_ptr<PassWriter> writer;
    std::map<PassKind, std::vector<int>> ops = {};  // of a pass
    // By place and way: the op that reads the tensor that was sent last, and the last op that used the place.
    std::map<std::pair<int, Way>, OpId> sent = {};
    std::map<int, OpId> freed = {};
  };

  work::Stream& stream(std::size_t s) {
    return step_.graph.scripts[static_cast<std::size_t>(stage_)].streams[s];
  }
  bool is_last_micro_batch(const Pass& pass) const {
    return pass.micro_batch + 1 == plan_.spec.micro_batches;
  }
  /// With interleaving a message may be asked for several passes later, so that waiting for it could be
  /// waiting in a circle.
  bool waits_for_sends() const {
    return !step_.request.overlap && plan_.spec.schedule != ScheduleKind::kInterleaved;
  }
  int parts() const { return static_cast<int>(plan_.parts.size()); }
  ParameterId model_parameter(const Chunk& chunk, ParameterId p) const {
    return plan_.parts[static_cast<std::size_t>(chunk.part)].parameters[static_cast<std::size_t>(p)];
  }

  StageLinks::Message message(const Chunk& chunk, const Pass& pass, Way way, int from, TensorId tensor,
                              int place) {
    const TensorId t = chunk.writer->tensor(tensor, place);
    return {.way = way,
            .part = from,
            .micro_batch = pass.micro_batch,
            .bytes = sim::Bytes{step_.graph.tensors[static_cast<std::size_t>(t)].bytes()},
            .tensor = t};
  }

  /// What a receive waits for: that compute has come to it, or with interleaving one pass earlier, as
  /// Megatron-LM does it; and that its place is free.
  std::vector<OpId> posted_after(const Chunk& chunk, int place) const {
    const bool ahead = plan_.spec.receives_ahead() && step_.request.overlap;
    std::vector<OpId> after;
    const std::optional<OpId>& anchor = ahead ? before_last_ : last_;
    if (anchor) after.push_back(*anchor);
    const auto freed = chunk.freed.find(place);
    if (freed != chunk.freed.end() && (!anchor || freed->second > *anchor)) after.push_back(freed->second);
    return after;
  }

  std::optional<OpId> receive(Chunk& chunk, const Pass& pass, int place) {
    const Ends& ends = chunk.plan->ends;
    if (pass.kind == PassKind::kForward && chunk.part > 0)
      return step_.links.receive(stage_,
                                 message(chunk, pass, Way::kForward, chunk.part - 1, ends.received, place),
                                 posted_after(chunk, place));
    const bool backward = pass.kind == PassKind::kBackward || pass.kind == PassKind::kInputGradient;
    if (backward && chunk.part + 1 < parts())
      return step_.links.receive(
          stage_, message(chunk, pass, Way::kBackward, chunk.part + 1, ends.received_gradient, place),
          posted_after(chunk, place));
    return std::nullopt;
  }

  /// The tensor that a pass gives to another stage, and which way it goes.
  std::optional<std::pair<Way, TensorId>> given(const Chunk& chunk, const Pass& pass) const {
    if (pass.kind == PassKind::kForward && chunk.part + 1 < parts())
      return std::pair{Way::kForward, chunk.plan->ends.sent};
    const bool backward = pass.kind == PassKind::kBackward || pass.kind == PassKind::kInputGradient;
    if (backward && chunk.part > 0) return std::pair{Way::kBackward, chunk.plan->ends.sent_gradient};
    return std::nullopt;
  }

  /// Nothing where a pass has no ops.
  std::optional<PassOps> write(const Pass& pass, int place) {
    Chunk& chunk = chunks_[static_cast<std::size_t>(pass.chunk)];
    const auto [list, is_new] = chunk.ops.try_emplace(pass.kind);
    if (is_new) list->second = pass_ops(*chunk.plan, pass.kind);
    const std::optional<OpId> received = receive(chunk, pass, place);
    const auto gives = given(chunk, pass);
    std::vector<OpId> waits = waits_for_sends() ? std::exchange(sends_, {}) : std::vector<OpId>{};
    if (received) waits.push_back(*received);
    // What the place's micro-batch before sent must be gone before it is overwritten.
    if (gives) {
      const auto earlier = chunk.sent.find({place, gives->first});
      if (earlier != chunk.sent.end()) waits.push_back(earlier->second);
    }
    std::optional<PassOps> written;
    OpId giver = -1;
    for (const int op : list->second) {
      const OpId id = chunk.writer->add(op, place);
      chunk.writer->put(id);
      mark_gradients(chunk, pass, op, id);
      mark_weights(chunk, op, id);
      step_.graph[id].pass = pass.micro_batch;
      const Op& what = chunk.plan->ops[static_cast<std::size_t>(op)];
      if (gives && std::ranges::count(writes_of(what), gives->second) > 0) giver = id;
      const bool computes = what.kernel() != nullptr;
      if ((computes && !written) || (!computes && received)) {
        auto& after = step_.graph[id].after;
        after.insert(after.end(), waits.begin(), waits.end());
      }
      if (!computes) continue;
      if (!written) written = PassOps{.stage = stage_, .pass = pass, .first = id};
      written->last = id;
    }
    if (written) {
      before_last_ = std::exchange(last_, written->last);
      chunk.freed[place] = written->last;
    }
    if (gives && giver >= 0) {
      const int from = chunk.part;
      const OpId sent =
          step_.links.send(stage_, message(chunk, pass, gives->first, from, gives->second, place), {giver});
      chunk.sent[{place, gives->first}] = sent;
      sends_.push_back(sent);
    }
    const bool ends = pass.kind == PassKind::kBackward || pass.kind == PassKind::kWeightGradient;
    if (ends && is_last_micro_batch(pass)) gradients_.reduce(chunk.part);
    return written;
  }

  void mark_gradients(Chunk& chunk, const Pass& pass, int op, OpId id) {
    if (pass.kind == PassKind::kForward) return;
    for (const GradientReady& r : chunk.plan->ready) {
      if (r.op != op) continue;
      step_.graph[id].gradients.push_back(model_parameter(chunk, r.parameter));
      if (is_last_micro_batch(pass)) gradients_.ready(chunk.part, r.parameter, id);
    }
  }

  void mark_weights(const Chunk& chunk, int op, OpId id) {
    const Op& what = chunk.plan->ops[static_cast<std::size_t>(op)];
    if (what.kernel() == nullptr || what.operation < 0 || chunk.plan->operation_parameters.empty()) return;
    for (const ParameterId p : chunk.plan->operation_parameters[static_cast<std::size_t>(what.operation)])
      step_.graph[id].weights.push_back(model_parameter(chunk, p));
  }

  /// What tensor-parallel ranks hold in part is summed before the update, when all else has been reduced.
  void update(const std::vector<OpId>& before) {
    for (Chunk& chunk : chunks_) {
      std::vector<OpId> after = before;
      bool updated = false;
      for (const OpId op : chunk.writer->run(Phase::kOptimizer)) {
        if (updated) continue;
        work::Operation& o = step_.graph[op];
        o.after.insert(o.after.end(), after.begin(), after.end());
        after.push_back(op);
        if (work::communicator_of(o) >= 0) continue;
        updated = true;
        o.name = fmt::format("update of the weights of part {}", chunk.part);
        o.updates = true;
        for (const GradientReady& r : chunk.plan->ready)
          o.gradients.push_back(model_parameter(chunk, r.parameter));
      }
    }
  }

  StepParts& step_;
  const PipelinePlan& plan_;
  int stage_;
  std::vector<Chunk> chunks_;
  std::optional<OpId> last_;         // the last kernel of the pass before
  std::optional<OpId> before_last_;  // the last kernel of the pass before that one
  std::vector<OpId> sends_;          // sends that compute has not waited for
  StageGradients gradients_;
};

}  // namespace

PipelineStep write_pipeline(const PipelineRequest& request) {
  PipelineStep step;
  for (int r = 0; r < request.layout.ranks(); ++r)
    step.graph.script_of.push_back(coordinates_of(request.layout, r).stage);
  step.graph.scripts.resize(static_cast<std::size_t>(request.layout.pp),
                            {.streams = {{.name = "compute", .kind = work::Stream::Kind::kCompute}}});
  StepParts shared{.request = request,
                   .graph = step.graph,
                   .axes = AxisStreams(step.graph, request.layout),
                   .links = StageLinks(step.graph, request.layout),
                   .shared = SharedParameters(step.graph, request.plan.parts, request.layout)};
  step.first_tensors.resize(request.plan.parts.size());
  for (int stage = 0; stage < request.layout.pp; ++stage) {
    const auto ended = StageWriter(shared, stage).run(step);
    step.backward_ended.push_back(ended.backward);
    if (ended.step) step.step_ended.push_back(*ended.step);
  }
  return step;
}

}  // namespace infold::train

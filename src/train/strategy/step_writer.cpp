// Compute, markers, collectives and the update.
#include "train/strategy/step_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/check.h"

namespace infold::train {

namespace {

/// One script for all ranks. Ranks that hold the same parameters are the first communicator.
work::Graph frame_of(const Layout& layout) {
  work::Graph g;
  g.script_of.assign(static_cast<std::size_t>(layout.ranks()), 0);
  using Kind = work::Stream::Kind;
  g.scripts = {{.streams = {{.name = "compute", .kind = Kind::kCompute},
                            {.name = "communication", .kind = Kind::kCommunication, .communicator = 0},
                            {.name = "copies", .kind = Kind::kBeside},
                            {.name = "host", .kind = Kind::kHost}}}};
  std::vector<std::vector<int>> groups = groups_of(layout, Axis::kReplica);
  for (int r = 0; size_of(layout, Axis::kReplica) == 1 && r < layout.ranks(); ++r) groups.push_back({r});
  g.communicators.push_back({.name = "data parallel", .groups = std::move(groups)});
  return g;
}

}  // namespace

StepWriter::StepWriter(const Plan& plan, const Layout& layout)
    : plan_(plan),
      graph_(frame_of(layout)),
      axes_(graph_, layout),
      pass_(graph_, plan, axes_),
      layout_(layout) {
  for (int op = 0; op < static_cast<int>(plan.ops.size()); ++op) pass_.add(op);
  for (const GradientReady& r : plan.ready) graph_[r.op].gradients.push_back(r.parameter);
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const int operation = plan.ops[i].operation;
    if (operation >= 0 && plan.ops[i].kernel() != nullptr && !plan.operation_parameters.empty())
      graph_.operations[i].weights = plan.operation_parameters[static_cast<std::size_t>(operation)];
  }
}

work::CommunicatorId StepWriter::communicator(const std::string& name,
                                              const std::vector<std::vector<int>>& groups) {
  const auto [known, is_new] =
      communicators_.try_emplace(name, static_cast<work::CommunicatorId>(graph_.communicators.size()));
  if (!is_new) return known->second;
  graph_.communicators.push_back({.name = name, .groups = groups});
  graph_.scripts.front().streams.push_back(
      {.name = name, .kind = work::Stream::Kind::kCommunication, .communicator = known->second});
  return known->second;
}

work::CommunicatorId StepWriter::replicas(Axis axis) {
  if (axis == Axis::kReplica) return 0;
  std::vector<std::vector<int>> groups = groups_of(layout_, axis);
  for (int r = 0; size_of(layout_, axis) == 1 && r < layout_.ranks(); ++r) groups.push_back({r});
  return communicator("data parallel, experts", groups);
}

work::OpId StepWriter::communicate(work::Collective what, std::string name, std::vector<work::OpId> after) {
  const auto runs = [&](const work::Stream& s) {
    return s.kind == work::Stream::Kind::kCommunication && s.communicator == what.communicator;
  };
  auto& streams = graph_.scripts.front().streams;
  const auto stream = std::ranges::find_if(streams, runs);
  INFOLD_CHECK(stream != streams.end(), "every communicator has a stream");
  return graph_.add(*stream, {.what = what, .name = std::move(name), .after = std::move(after)});
}

work::OpId StepWriter::again(int op, int pass) {
  const work::OpId copy = pass_.add(op, pass + 1);
  graph_[copy].gradients = graph_[op].gradients;
  graph_[copy].weights = graph_[op].weights;
  graph_[copy].pass = pass;
  return copy;
}

work::OpId StepWriter::marker() {
  return graph_.add(work::Operation{.what = work::Marker{}});
}

work::OpId StepWriter::run_passes(const std::vector<std::optional<work::OpId>>& copy,
                                  const std::vector<std::optional<work::OpId>>& marked) {
  std::size_t ready = 0;
  std::vector<work::OpId>& ops = compute().ops;
  for (int op = 0; op < plan_.first_op(Phase::kOptimizer); ++op) {
    put(op);
    for (; ready < plan_.ready.size() && plan_.ready[ready].op == op; ++ready) {
      if (const auto& c = copy[static_cast<std::size_t>(plan_.ready[ready].parameter)]) ops.push_back(*c);
      if (const auto& m = marked[ready + 1]) ops.push_back(*m);
    }
  }
  INFOLD_CHECK(ready == plan_.ready.size(), "every gradient is complete when backward has ended");
  return graph_.add(compute(), {.what = work::Marker{}, .name = "end of backward"});
}

/// Communication that comes before the update, of gradients that ranks hold in part, waits for the same, and
/// for all that compute has done.
void StepWriter::update_after(std::vector<work::OpId> done) {
  const work::OpId last = compute().ops.empty() ? -1 : compute().ops.back();
  bool updated = false;
  for (int op = plan_.first_op(Phase::kOptimizer); op < static_cast<int>(plan_.ops.size()); ++op) {
    put(op);
    if (updated) continue;
    work::Operation& o = graph_[op];
    o.after.insert(o.after.end(), done.begin(), done.end());
    if (work::communicator_of(o) >= 0) {
      if (last >= 0) o.after.push_back(last);
      done.push_back(op);  // a sum over ranks that share layers: the update needs it
      continue;
    }
    updated = true;
    o.name = "update of the weights";
    o.updates = true;
    for (const GradientReady& r : plan_.ready) o.gradients.push_back(r.parameter);
  }
}

work::OpId StepWriter::reduce(const Bucket& bucket, std::vector<work::OpId> after) {
  const work::BufferId buffer =
      graph_.add(work::Buffer{.bytes = bucket.bytes, .element_bytes = plan_.recipe.gradient_bytes()});
  const work::OpId op = communicate({.communicator = replicas(bucket.axis), .buffer = buffer},
                                    fmt::format("all-reduce of bucket {}", buckets_++), std::move(after));
  graph_[op].gradients = bucket.parameters;
  return op;
}

StepGraph write_buckets(const StepRequest& request, const std::vector<Bucket>& buckets, bool copied) {
  const std::size_t gradients = request.plan.ready.size();
  StepWriter w(request.plan, request.layout);
  std::vector<std::optional<work::OpId>> marked(gradients + 1);
  for (const Bucket& b : buckets) {
    auto& m = marked[static_cast<std::size_t>(b.gradients)];
    if (request.overlap && !m) m = w.marker();
  }
  StepGraph step;
  step.backward_ended = w.run_passes(std::vector<std::optional<work::OpId>>(gradients), marked);
  std::vector<work::OpId> done;
  for (const Bucket& b : buckets) {
    const work::OpId when =
        request.overlap ? *marked[static_cast<std::size_t>(b.gradients)] : step.backward_ended;
    const work::OpId reduced = w.reduce(b, {when});
    if (!copied) {
      done.push_back(reduced);
      continue;
    }
    work::Graph& g = w.graph();
    auto& collective = std::get<work::Collective>(g[reduced].what);
    collective.source = collective.target = collective.buffer;
    work::Copy copy = work::whole_bucket(g, collective.buffer);
    g[reduced].after = {g.add(w.copies(), {.what = copy, .after = {when}, .gradients = b.parameters})};
    copy.back = true;
    copy.ops_per_element = 0;
    done.push_back(g.add(w.copies(), {.what = copy, .after = {reduced}, .gradients = b.parameters}));
  }
  w.update_after(std::move(done));
  step.graph = std::move(w).graph();
  return step;
}

}  // namespace infold::train

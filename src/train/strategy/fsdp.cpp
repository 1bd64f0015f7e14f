// PyTorch's FSDP2 (fully_shard on every block and on the model), and with groups of replicas HSDP. A unit is
// a repetition of the model; what is in none is the root unit. Before its forward a unit's shards are copied
// into one buffer in the type of products, gathered, and copied out into its weights. They are freed after
// forward, unless it is the root, and gathered again for backward. After backward the unit's gradients are
// copied into one buffer and reduce-scattered.
//
// FSDP2's limits are waits. A gathering waits until the buffer of the one before the last has been copied out
// (forward), or that of the last (backward). Compute waits for the reduce-scatter before the one that it
// feeds, whose buffer it frees. The passes of a step do not overlap.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "train/strategy/sharding.h"
#include "train/strategy/step_writer.h"

namespace infold::train {

namespace {

constexpr int kRoot = -1;

/// The parameters of a unit that the same ranks share: they are gathered and reduced together.
struct Piece {
  Axis axis = Axis::kReplica;
  std::vector<int> parameters = {};
  std::int64_t elements = 0;  ///< with padding
  work::BufferId gathered = 0;
  work::BufferId scattered = 0;
  work::BufferId shard = 0;  ///< the shard that is reduced over replicas
  TensorId weights = 0;
  TensorId weight_shard = 0;
  TensorId gradients = 0;
  TensorId gradient_shard = 0;
};

struct Unit {
  std::vector<Piece> pieces;
  int first_forward = -1;  ///< ops of the plan
  int last_forward = -1;
  int first_backward = -1;
  int last_backward = -1;
  std::vector<work::OpId> copied_out = {};  ///< the copies out of the buffer that was gathered last
};

class FsdpWriter {
 public:
  explicit FsdpWriter(const StepRequest& request)
      : request_(request), plan_(request.plan), writer_(request.plan, request.layout) {
    for (const Axis axis : {Axis::kReplica, Axis::kExpertReplica})
      groups_[axis] = shard_groups(request.sync, request.layout, axis);
    find_units();
    make_buffers();
  }

  StepGraph run() {
    StepGraph step;
    for (int pass = 0; pass < request_.passes; ++pass) {
      pass_ = pass;
      write_pass(step);
    }
    writer_.update_after({});
    step.graph = std::move(writer_).graph();
    return step;
  }

 private:
  work::Graph& graph() { return writer_.graph(); }
  bool last_pass() const { return pass_ + 1 == request_.passes; }

  void find_units() {
    for (int p = 0; p < static_cast<int>(plan_.parameter_elements.size()); ++p) {
      Unit& unit = units_[plan_.unit_of(p)];
      const Axis axis = plan_.axis_of(p);
      auto piece = std::ranges::find(unit.pieces, axis, &Piece::axis);
      if (piece == unit.pieces.end()) piece = unit.pieces.insert(piece, Piece{.axis = axis});
      piece->parameters.push_back(p);
      piece->elements += plan_.parameter_elements[static_cast<std::size_t>(p)];
    }
    const int end = plan_.first_op(Phase::kOptimizer);
    for (int op = 0; op < end; ++op) {
      const Op& o = plan_.ops[static_cast<std::size_t>(op)];
      const auto unit = units_.find(plan_.unit_of(o));
      if (unit == units_.end()) continue;  // it has no parameters
      Unit& u = unit->second;
      int& first = o.phase == Phase::kForward ? u.first_forward : u.first_backward;
      int& last = o.phase == Phase::kForward ? u.last_forward : u.last_backward;
      if (first < 0) first = op;
      last = op;
    }
    for (const GradientReady& r : plan_.ready) {
      Unit& u = units_[plan_.unit_of(r.parameter)];
      u.last_backward = std::max(u.last_backward, r.op);
    }
    // The root is there all the time: from the first operation to the end of backward.
    if (const auto root = units_.find(kRoot); root != units_.end()) {
      root->second.first_forward = 0;
      root->second.last_backward = end - 1;
    }
  }

  int reduce_bytes() const {
    return request_.sync.reduce_dtype == ReduceType::kFp32 ? 4 : plan_.recipe.activation_bytes();
  }

  void make_buffers() {
    const Recipe& recipe = plan_.recipe;
    const auto part = [&](std::int64_t elements, int bytes) {
      constexpr std::int64_t kCols = 64;
      return graph().add(TensorSpec{.role = TensorSpec::Role::kPart,
                                    .rows = (elements + kCols - 1) / kCols,
                                    .cols = kCols,
                                    .element_bytes = bytes});
    };
    for (auto& [number, unit] : units_) {
      for (Piece& p : unit.pieces) {
        const int shards = groups_[p.axis].shard_size;
        p.elements = padded(p.elements, shards);
        const auto buffer = [&](std::int64_t n, int bytes) {
          return graph().add(work::Buffer{.bytes = sim::Bytes{n * bytes}, .element_bytes = bytes});
        };
        p.gathered = buffer(p.elements, recipe.read_weight_bytes());
        p.scattered = buffer(p.elements, reduce_bytes());
        p.shard = buffer(p.elements / shards, reduce_bytes());
        p.weights = part(p.elements, recipe.read_weight_bytes());
        p.weight_shard = part(p.elements / shards, recipe.weight_bytes());
        p.gradients = part(p.elements, recipe.gradient_bytes());
        p.gradient_shard = part(p.elements / shards, recipe.weight_bytes());
      }
    }
  }

  work::CommunicatorId communicator(const char* what, Axis axis) {
    const bool reduces = std::string_view(what) == "replicas";
    const ShardGroups& g = groups_[axis];
    return writer_.communicator(fmt::format("{} {}", what, sim::name_of(axis)),
                                reduces ? g.replicas : g.shards);
  }

  void write_pass(StepGraph& step) {
    const int end = plan_.first_op(Phase::kOptimizer);
    for (int op = 0; op < end; ++op) {
      for (auto& [number, unit] : units_) {
        if (unit.first_forward == op) gather(number, unit, request_.sync.forward_prefetch);
        if (unit.first_backward == op && number != kRoot && request_.sync.reshard)
          gather(number, unit, request_.sync.backward_prefetch);
      }
      const work::OpId here = last_pass() ? op : writer_.again(op, pass_);
      graph()[here].pass = pass_;
      writer_.put(here);
      const work::OpId computed = writer_.compute().ops.back();
      for (auto& [number, unit] : units_) {
        if (unit.last_forward == op && number != kRoot && request_.sync.reshard) free(unit, computed);
        if (unit.last_backward != op || number == kRoot) continue;
        free(unit, computed);
        scatter(number, unit);
      }
    }
    if (const auto root = units_.find(kRoot); root != units_.end()) {
      free(root->second, writer_.compute().ops.back());
      scatter(kRoot, root->second);
    }
    const work::OpId backward =
        graph().add(writer_.compute(), {.what = work::Marker{}, .name = "end of backward"});
    const work::OpId over = graph().add(
        writer_.compute(),
        {.what = work::Marker{}, .name = "end of the pass", .after = std::exchange(scattered_, {})});
    previous_ = {};
    for (auto& [number, unit] : units_) unit.copied_out.clear();
    copied_out_.assign(1, {over});  // what is gathered next waits for it
    if (!last_pass()) return;
    step.backward_ended = backward;
    step.pass_ended = over;
  }

  /// The unit's weights, when the stream of compute comes to them.
  void gather(int number, Unit& unit, int prefetch) {
    if (!request_.overlap) prefetch = 0;
    std::vector<work::OpId> after;
    if (prefetch == 0) {
      after.push_back(graph().add(writer_.compute(), {.what = work::Marker{}}));
    } else if (!copied_out_.empty()) {
      const std::size_t ahead = std::min(static_cast<std::size_t>(prefetch), copied_out_.size());
      // The first ones wait for the end of the pass before, if there is one.
      after = copied_out_[copied_out_.size() - ahead];
    }
    // Its own buffer must have been copied out, too.
    for (const work::OpId own : unit.copied_out) {
      if (std::ranges::find(after, own) == after.end()) after.push_back(own);
    }
    std::vector<work::OpId> out;
    for (Piece& p : unit.pieces) {
      if (groups_[p.axis].shard_size == 1) continue;
      const work::OpId all = writer_.communicate({.communicator = communicator("gather", p.axis),
                                                  .what = coll::Collective::kAllGather,
                                                  .buffer = p.gathered,
                                                  .source = p.gathered,
                                                  .target = p.gathered},
                                                 "all-gather of " + name(number), {});
      const work::OpId in = graph().add(
          writer_.copies(),
          {.what = copy(p.weight_shard, p.gathered, plan_.recipe.read_weight_bytes(), /*back=*/false),
           .after = after,
           .weights = p.parameters,
           .pass = pass_});
      out.push_back(
          graph().add(writer_.compute(),
                      {.what = copy(p.weights, p.gathered, plan_.recipe.read_weight_bytes(), /*back=*/true),
                       .after = {all},
                       .weights = p.parameters,
                       .pass = pass_}));
      work::Operation& o = graph()[all];
      o.after = {in};
      o.weights = p.parameters;
      o.pass = pass_;
    }
    unit.copied_out = out;
    if (!out.empty()) copied_out_.push_back(std::move(out));
  }

  void free(const Unit& unit, work::OpId after) {
    std::vector<int>& frees = graph()[after].frees;
    for (const Piece& p : unit.pieces) {
      if (groups_[p.axis].shard_size > 1) frees.insert(frees.end(), p.parameters.begin(), p.parameters.end());
    }
  }

  /// Reduces the unit's gradients, all of which are there.
  void scatter(int number, const Unit& unit) {
    std::vector<work::OpId> began;
    for (const Piece& p : unit.pieces) {
      const ShardGroups& groups = groups_[p.axis];
      std::vector<work::OpId> chain;
      work::BufferId from = p.scattered;
      if (groups.shard_size > 1) {
        chain.push_back(writer_.communicate({.communicator = communicator("scatter", p.axis),
                                             .what = coll::Collective::kReduceScatter,
                                             .buffer = p.scattered,
                                             .source = p.scattered,
                                             .target = groups.replica_size > 1 ? p.shard : p.scattered},
                                            "reduce-scatter of " + name(number), {}));
      } else {
        from = p.shard;
      }
      if (groups.replica_size > 1) {
        chain.push_back(writer_.communicate({.communicator = communicator("replicas", p.axis),
                                             .what = coll::Collective::kAllReduce,
                                             .buffer = p.shard,
                                             .source = p.shard,
                                             .target = p.shard},
                                            "all-reduce of " + name(number), chain));
      }
      if (chain.empty()) continue;
      began.push_back(chain.front());
      const work::OpId in =
          graph().add(writer_.compute(),
                      {.what = copy(p.gradients, from, reduce_bytes(), /*back=*/false), .after = previous_});
      graph()[chain.front()].after = {in};
      auto& last = std::get<work::Collective>(graph()[chain.back()].what);
      if (settles()) {
        work::Copy back = copy(p.gradient_shard, last.buffer, reduce_bytes(), /*back=*/true);
        back.adds = adds();
        chain.push_back(graph().add(writer_.copies(), {.what = back, .after = {chain.back()}}));
      } else {
        last.target = -1;  // it is the gradient of the shard
      }
      scattered_.push_back(chain.back());
      chain.push_back(in);
      for (const work::OpId op : chain) {
        graph()[op].gradients = p.parameters;
        graph()[op].pass = pass_;
      }
    }
    if (began.empty()) return;
    previous_ = std::move(began);
    if (!request_.overlap) graph().add(writer_.compute(), {.what = work::Marker{}, .after = scattered_});
  }

  /// Whether a kernel brings what was reduced to the gradient of the shard: in another type, or added to that
  /// of other passes.
  bool settles() const {
    return reduce_bytes() != plan_.recipe.weight_bytes() || plan_.recipe.accumulate > 1;
  }
  /// One pass that is written alone stands for those behind the first.
  bool adds() const { return plan_.recipe.accumulate > 1 && (pass_ > 0 || request_.passes == 1); }

  static work::Copy copy(TensorId tensor, work::BufferId buffer, int element_bytes, bool back) {
    return {.tensor = tensor,
            .buffer = buffer,
            .back = back,
            .ops_per_element = 1,
            .for_communication = true,
            .element_bytes = element_bytes};
  }

  static std::string name(int number) {
    return number == kRoot ? std::string("the root") : fmt::format("block {}", number);
  }

  const StepRequest& request_;
  const Plan& plan_;
  StepWriter writer_;
  std::map<Axis, ShardGroups> groups_;
  std::map<int, Unit> units_;  // by repetition
  int pass_ = 0;
  /// For each gathering, its copies into weights. The first entry of a later pass is the end of the pass
  /// before.
  std::vector<std::vector<work::OpId>> copied_out_ = {{}};
  std::vector<work::OpId> previous_;   // the reduce-scatters whose buffer is freed next
  std::vector<work::OpId> scattered_;  // all reduce-scatters of this pass
};

}  // namespace

StepGraph write_fsdp(const StepRequest& request) {
  return FsdpWriter(request).run();
}

}  // namespace infold::train

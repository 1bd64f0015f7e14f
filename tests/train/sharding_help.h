// Small models with sharded parameters, their steps, and what is wrong with the graph of one.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model_help.h"
#include "train/strategy/sharding.h"
#include "train/strategy/step_rules.h"
#include "train/strategy/strategies.h"
#include "work/check.h"

namespace infold::train::help {

/// Tokens through blocks of a norm and two products, and a last projection.
inline Graph blocks(int count) {
  Embedding words;
  words.rows = 100;
  words.width = 64;
  Branches block;
  block.body = {node(RmsNorm{}), node(linear(256)), node(linear(64))};
  Model m;
  m.input.tokens = 16;
  m.layers = {node(words), Node{Repeat{count, {Node{block, {}}}}, {}}, node(RmsNorm{}),
              node(linear(96, false)), node(Loss{})};
  return graph(m);
}

inline SyncSpec spec_of(SyncKind kind) {
  SyncSpec spec;
  spec.kind = kind;
  spec.bucket_elements = 20'000;
  spec.shard = 2;
  return spec;
}

struct Step {
  Plan plan;
  StepGraph step;
};
inline Step sharded_step(const Graph& graph, Recipe recipe, const SyncSpec& sync, const Layout& layout,
                         bool overlap = true, int passes = 1) {
  Step s{make_plan(graph, sharded(recipe, sync, layout)), {}};
  s.step = write_step({.plan = s.plan, .layout = layout, .sync = sync, .overlap = overlap, .passes = passes});
  return s;
}

inline constexpr std::array kSharding = {SyncKind::kZero1, SyncKind::kZero2, SyncKind::kFsdp,
                                         SyncKind::kHsdp};

inline StepRequest request_of(const Step& s, const SyncSpec& sync, const Layout& layout, int passes = 1) {
  return {.plan = s.plan, .layout = layout, .sync = sync, .passes = passes};
}
inline std::string step_flaw(const work::Graph& g, const work::StepRules& rules) {
  if (const auto ok = work::check(g); !ok) return ok.error().message;
  const auto ok = work::check_step(g, rules);
  return ok ? "" : ok.error().message;
}

inline std::vector<Recipe> recipes() {
  std::vector<Recipe> all;
  for (const Numbers numbers : {Numbers::kFp32, Numbers::kMixed, Numbers::kBf16}) {
    for (const Fusion fusion : {Fusion::kEager, Fusion::kFused}) {
      for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
        all.push_back({.batch = 2,
                       .numbers = numbers,
                       .fusion = fusion,
                       .optimizer = Optimizer::kAdam,
                       .recompute = recompute});
      }
    }
  }
  return all;
}

inline std::vector<work::OpId> collectives(const work::Graph& g, coll::Collective what) {
  std::vector<work::OpId> out;
  for (work::OpId op = 0; op < static_cast<work::OpId>(g.operations.size()); ++op) {
    const auto* c = std::get_if<work::Collective>(&g[op].what);
    if (c != nullptr && c->what == what) out.push_back(op);
  }
  return out;
}

}  // namespace infold::train::help

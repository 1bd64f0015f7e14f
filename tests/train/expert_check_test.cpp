// The exchange of experts as dispatch and combine: graphs keep the rules, and one that lacks or doubles a
// communication is caught.
#include "model_help.h"
#include "mutants.h"
#include "sharding_help.h"

namespace infold::train {
namespace {

using namespace help;

Graph routed() {
  Embedding words;
  words.rows = 96;
  words.width = 64;
  Experts experts;
  experts.count = 8;
  experts.top = 2;
  experts.inner = 64;
  Branches feed;
  feed.body = {node(RmsNorm{}), node(experts)};
  Model m;
  m.input.tokens = 64;
  m.layers = {node(words), Node{Repeat{2, {Node{feed, {}}}}, {}}, node(linear(96, false)), node(Loss{})};
  return graph(m);
}

TEST(ExpertCheck, AMissingOrDoubledCommunicationIsCaught) {
  for (const ExpertExchange exchange : {ExpertExchange::kAllToAll, ExpertExchange::kMulticast}) {
    for (const SyncKind kind : {SyncKind::kDdp, SyncKind::kZero1, SyncKind::kFsdp}) {
      const Layout layout{.dp = 4, .ep = 2};
      const auto plan = make_plan(routed(), sharded({.batch = 2}, spec_of(kind), layout),
                                  split_of(layout, false, 1, KeyExchange::kAllGather, exchange));
      ASSERT_TRUE(plan) << plan.error().message;
      const StepRequest request{.plan = *plan, .layout = layout, .sync = spec_of(kind)};
      const work::Graph g = write_step(request).graph;
      const work::StepRules rules = rules_of(request);
      EXPECT_EQ(step_flaw(g, rules), "") << sim::name_of(kind);
      int mutants = 0;
      for (const auto& ops : communications(g)) {
        mutants += 2;
        EXPECT_NE(step_flaw(without(g, ops), rules), "") << "no " << label(g, *ops.begin());
        EXPECT_NE(step_flaw(doubled(g, ops), rules), "") << "twice " << label(g, *ops.begin());
      }
      EXPECT_GT(mutants, 16);
    }
  }
}

/// Per layer: a token and its shares there, its sum back; in backward its gradient there, and back those of
/// the token and of its shares.
TEST(ExpertCheck, BytesOfTheExchangeAreThoseOfItsFormula) {
  const Layout layout{.dp = 4, .ep = 4};
  const auto plan = make_plan(routed(), {.batch = 2, .numbers = Numbers::kBf16},
                              split_of(layout, false, 1, KeyExchange::kAllGather, ExpertExchange::kMulticast))
                        .value();
  std::int64_t there = 0;
  std::int64_t back = 0;
  for (const Op& op : plan.ops) {
    const Communicate* c = op.communication();
    if (c == nullptr || c->axis != Axis::kExpert) continue;
    const bool dispatch = c->what == coll::Collective::kDispatch;
    EXPECT_EQ(c->tokens.fan_out, 2);
    const auto bytes = [&](TensorId t) { return plan.tensors[static_cast<std::size_t>(t)].bytes(); };
    EXPECT_EQ(bytes(dispatch ? c->out : c->in), 4 * bytes(dispatch ? c->in : c->out));
    (dispatch ? there : back) += bytes(dispatch ? c->in : c->out);
  }
  const std::int64_t tokens = 2 * 64;
  const std::int64_t vector = 64 * 2;
  EXPECT_EQ(there, 2 * tokens * (vector + 2 * 8 + vector));
  EXPECT_EQ(back, 2 * tokens * (vector + vector + 4 * 4));
}

}  // namespace
}  // namespace infold::train

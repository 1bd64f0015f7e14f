// How often one command draws, routes and proves its machine, and compiles its programs: the program as a
// user runs it, with these functions counted. The linker puts the functions below in the place of the ones
// they count (--wrap, in tests/CMakeLists.txt), so that the program itself has no counters.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/app.h"
#include "coll/tune/engine_tuning.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"
#include "train/plan.h"

namespace infold {
namespace {

struct Counts {
  int drawings = 0;
  int routings = 0;
  int proofs = 0;
  int compilations = 0;
  int plans = 0;  ///< of training steps
};
Counts counts;

}  // namespace

#define INFOLD_DRAW "_ZN6infold3net4drawERKNS0_10FabricSpecEi"
#define INFOLD_ROUTES "_ZN6infold3net6Routes4makeERKNS0_9BlueprintERKSt8functionIFbvEE"
#define INFOLD_PROVE "_ZN6infold3net17prove_no_deadlockERKNS0_9BlueprintERKNS0_6RoutesERKSt8functionIFbvEE"
#define INFOLD_COMPILE "_ZN6infold4coll10compile_onERKNS0_9AlgorithmENS0_7RequestERKNS_3gpu7GpuSpecE"
#define INFOLD_PLAN "_ZN6infold5train9make_planERKNS0_5GraphERKNS0_6RecipeERKNS0_5SplitE"

sim::Result<net::Blueprint> real_draw(const net::FabricSpec& spec, int gpus) asm("__real_" INFOLD_DRAW);
sim::Result<net::Blueprint> counted_draw(const net::FabricSpec& spec, int gpus) asm("__wrap_" INFOLD_DRAW);
sim::Result<net::Blueprint> counted_draw(const net::FabricSpec& spec, int gpus) {
  ++counts.drawings;
  return real_draw(spec, gpus);
}

sim::Result<net::Routes> real_routes(const net::Blueprint& b,
                                     const sim::GoOn& g) asm("__real_" INFOLD_ROUTES);
sim::Result<net::Routes> counted_routes(const net::Blueprint& b,
                                        const sim::GoOn& g) asm("__wrap_" INFOLD_ROUTES);
sim::Result<net::Routes> counted_routes(const net::Blueprint& b, const sim::GoOn& g) {
  ++counts.routings;
  return real_routes(b, g);
}

sim::Status real_prove(const net::Blueprint& b, const net::Routes& r,
                       const sim::GoOn& g) asm("__real_" INFOLD_PROVE);
sim::Status counted_prove(const net::Blueprint& b, const net::Routes& r,
                          const sim::GoOn& g) asm("__wrap_" INFOLD_PROVE);
sim::Status counted_prove(const net::Blueprint& b, const net::Routes& r, const sim::GoOn& g) {
  ++counts.proofs;
  return real_prove(b, r, g);
}

coll::Program real_compile(const coll::Algorithm& a, coll::Request r,
                           const gpu::GpuSpec& g) asm("__real_" INFOLD_COMPILE);
coll::Program counted_compile(const coll::Algorithm& a, coll::Request r,
                              const gpu::GpuSpec& g) asm("__wrap_" INFOLD_COMPILE);
coll::Program counted_compile(const coll::Algorithm& a, coll::Request r, const gpu::GpuSpec& g) {
  ++counts.compilations;
  return real_compile(a, std::move(r), g);
}

sim::Result<train::Plan> real_plan(const train::Graph& g, const train::Recipe& r,
                                   const train::Split& s) asm("__real_" INFOLD_PLAN);
sim::Result<train::Plan> counted_plan(const train::Graph& g, const train::Recipe& r,
                                      const train::Split& s) asm("__wrap_" INFOLD_PLAN);
sim::Result<train::Plan> counted_plan(const train::Graph& g, const train::Recipe& r, const train::Split& s) {
  ++counts.plans;
  return real_plan(g, r, s);
}

namespace {

/// Runs a command line and returns what it made on the way.
Counts made_by(std::vector<std::string> words) {
  words.insert(words.begin(), "infold");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  counts = {};
  testing::internal::CaptureStdout();
  const int exit = cli::run(static_cast<int>(arguments.size()), arguments.data());
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_EQ(exit, cli::kDone) << out;
  return counts;
}

void expect_one_machine(const Counts& made) {
  EXPECT_EQ(made.drawings, 1);
  EXPECT_EQ(made.routings, 1);
  EXPECT_EQ(made.proofs, 1);
}

TEST(MadeOnce, ForARowOfBench) {
  const Counts made = made_by({"bench", "all_reduce", "-b", "64K", "--proto", "simple", "--no-timing"});
  expect_one_machine(made);
  EXPECT_EQ(made.compilations, 1);
}

TEST(MadeOnce, ForRowsOfOneSystem) {
  const Counts made = made_by(
      {"bench", "all_reduce", "-b", "1K", "-e", "64K", "-f", "8", "--proto", "simple", "--no-timing"});
  expect_one_machine(made);
  EXPECT_EQ(made.compilations, 3) << "one per row";
}

TEST(MadeOnce, ForASystemWithParametersSet) {
  expect_one_machine(made_by({"bench", "all_reduce", "-b", "64K", "--proto", "simple", "--no-timing", "--set",
                              "fabric.link.latency=200ns"}));
}

TEST(MadeOnce, ForABucketSizeOfTrain) {
  // All gradients of this model fit one bucket.
  const Counts made = made_by({"train", "--model", "mlp", "--batch", "8", "-g", "2", "--proto", "simple",
                               "--first-bucket", "1GiB", "--bucket", "1GiB", "--no-timing"});
  expect_one_machine(made);
  EXPECT_EQ(made.plans, 1);
  EXPECT_EQ(made.compilations, 1);
}

}  // namespace
}  // namespace infold

// Programs with one step removed or doubled: the checker must see it.
#include <fmt/format.h>

#include "program_help.h"
#include "sim/random.h"

namespace infold::coll {
namespace {

struct Mutant {
  int rank;
  int channel;
  std::size_t step;
  bool doubled;
};

Program mutate(Program program, const Mutant& m) {
  auto& list = program.steps(m.rank, m.channel);
  const auto place = list.begin() + static_cast<std::ptrdiff_t>(m.step);
  if (m.doubled) {
    list.insert(place, Step(*place));
  } else {
    list.erase(place);
  }
  return program;
}

struct Tally {
  int mutants = 0;
  std::vector<std::string> escaped;
};

void try_mutants(const Algorithm& a, Collective c, int ranks, sim::Random& random, Tally& tally) {
  constexpr int kTries = 60;
  const auto fabric = fabric_of(net::Topology::kSwitchPlanes, ranks);
  const Program program = compiled(a, c, size_for(c, 1'680, 4, ranks), ranks, fabric, small_tuning(2));
  ASSERT_EQ(flaw_of(program), "");
  for (int i = 0; i < kTries; ++i) {
    Mutant m{};
    m.rank = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
    m.channel = static_cast<int>(random.below(static_cast<std::uint64_t>(program.channels)));
    const auto& list = program.steps(m.rank, m.channel);
    if (list.empty()) continue;
    m.step = random.below(list.size());
    m.doubled = random.below(2) == 0;
    ++tally.mutants;
    if (!flaw_of(mutate(program, m)).empty()) continue;
    tally.escaped.push_back(fmt::format("{} {} on {} ranks: rank {} channel {} step {} ({}) {}", a.name,
                                        sim::name_of(c), ranks, m.rank, m.channel, m.step + 1,
                                        name_of(list[m.step]), m.doubled ? "doubled" : "removed"));
  }
}

TEST(Mutation, AStepRemovedOrDoubledIsSeen) {
  sim::Random random(2'026);
  Tally tally;
  for (const Algorithm& a : algorithms()) {
    for (Collective c : a.collectives) {
      for (int ranks : {2, 3, 4, 8, 9}) try_mutants(a, c, ranks, random, tally);
    }
  }
  EXPECT_GT(tally.mutants, 5'000);
  for (const std::string& line : tally.escaped) std::cout << "equivalent: " << line << "\n";
  EXPECT_LE(static_cast<double>(tally.escaped.size()), 0.01 * tally.mutants);
}

}  // namespace
}  // namespace infold::coll

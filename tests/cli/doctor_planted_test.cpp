// Causes planted in the machines that are shipped: how often the doctor names them. Long, so it is only run
// with ctest -C full -L full.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "config/catalog.h"
#include "study/check.h"
#include "support/planted.h"

namespace infold::study {
namespace {

class DoctorMatrix : public testing::TestWithParam<std::string> {};

TEST_P(DoctorMatrix, DISABLED_NamesPlantedCausesAndLeavesHealthyMachinesAlone) {
  PreparingCheck check;
  ASSERT_TRUE(config::load_system(GetParam(), {}, std::ref(check)));
  const SystemPtr system = check.prepared();
  const PlantedSystem planted = planted_system(
      system, {all_reduce_sizes(system->machine.gpus, sim::Bytes::kib(32), sim::Bytes::gib(1), 2)});
  const Planted count = planted.plant(50);
  for (const auto& [degree, seen] : count.by_cause)
    fmt::print("{}: {} named in {} of {}\n", GetParam(), degree, seen.second, seen.first);
  const int healthy = planted.healthy_ones(200);
  fmt::print(
      "{}: named {} of {} planted, {} more as one of two, {} wrongly; {} degrees hidden; {} of 200 healthy "
      "ones as expected\n",
      GetParam(), count.named, count.seen, count.among, count.wrong, count.hidden, healthy);
  EXPECT_GE(count.named * 100, count.seen * 90);
  EXPECT_GE(healthy, 190);
}

INSTANTIATE_TEST_SUITE_P(Systems, DoctorMatrix,
                         testing::Values("hgx-h100", "dgx-a100", "mi300x-8", "r9nano-pcie-4"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace infold::study

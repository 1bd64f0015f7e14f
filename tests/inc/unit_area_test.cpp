// The count of gates and memory of a unit against what Yosys says of the hardware (rtl/area/area.csv).
#include "inc/unit_area.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace infold::inc {
namespace {

/// table_bytes, table_gates, alu_gates, buffer_gates, sender_gates, gates, sram_bits, depth.
std::vector<std::vector<double>> measured() {
  std::ifstream file(std::string(INFOLD_SOURCE_DIR) + "/rtl/area/area.csv");
  std::vector<std::vector<double>> rows;
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "table_bytes,table_gates,alu_gates,buffer_gates,sender_gates,gates,sram_bits,depth");
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::vector<double> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
    rows.push_back(row);
  }
  return rows;
}

UnitArea of_table(double bytes) {
  IncSpec spec;
  spec.table_bytes = sim::Bytes{static_cast<std::int64_t>(bytes)};
  return area_of(shape_of(spec, 16));
}

TEST(UnitArea, IsWithinAFifthOfWhatYosysCounts) {
  const auto rows = measured();
  ASSERT_GE(rows.size(), 3U);
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 8U);
    const UnitArea area = of_table(row[0]);
    EXPECT_NEAR(area.gates() / row[5], 1, 0.15)
        << row[0] << " bytes: " << area.gates() << ", Yosys " << row[5];
    for (std::size_t part = 0; part < area.parts.size(); ++part) {
      EXPECT_NEAR(area.parts[part].gates / row[1 + part], 1, 0.20)
          << row[0] << " bytes, " << area.parts[part].name << ": " << area.parts[part].gates << ", Yosys "
          << row[1 + part];
    }
    EXPECT_NEAR(static_cast<double>(area.sram().count()) * 8 / row[6], 1, 0.02) << row[0] << " bytes";
  }
}

TEST(UnitArea, GatesGrowWithTheTableAndMemoryWithItsBytes) {
  const UnitArea small = of_table(1024);
  const UnitArea large = of_table(4096);
  EXPECT_GT(large.gates(), small.gates());
  // 24 entries more of 128 bytes, kept in fp32: twice the bytes of bf16 data.
  EXPECT_NEAR(static_cast<double>((large.sram() - small.sram()).count()), 24 * 256, 40);
}

TEST(UnitArea, SumsInTheTypeOfTheWireTakeHalfTheMemory) {
  IncSpec spec;
  const sim::Bytes fp32 = area_of(shape_of(spec, 16)).sram();
  spec.accumulate = Accumulate::kWire;
  const sim::Bytes wire = area_of(shape_of(spec, 16)).sram();
  EXPECT_EQ((fp32 - wire).count(), spec.table_bytes.count() + spec.result_buffer.count());
}

TEST(UnitArea, FasterAdditionTakesMoreAdders) {
  IncSpec spec;
  const int narrow = shape_of(spec, 16).beat;
  EXPECT_EQ(narrow, 16);
  spec.alu_rate = 50_GBps;
  EXPECT_EQ(shape_of(spec, 16).beat, 32);
  spec.alu_rate = spec.switch_alu_rate = 400_GBps;
  EXPECT_EQ(shape_of(spec, 16).beat, 16) << "a pool is shared by all ports";
}

TEST(UnitArea, TheLargestAndTheSmallestUnitCanBeCounted) {
  IncSpec spec;
  spec.table_bytes = 64_MiB;
  spec.payload = 16_B;
  spec.result_buffer = 64_MiB;
  EXPECT_GT(area_of(shape_of(spec, 1000)).gates(), 0);
  spec.table_bytes = spec.result_buffer = 16_B;
  EXPECT_GT(area_of(shape_of(spec, 1)).gates(), 0);
}

}  // namespace
}  // namespace infold::inc

// Formats are told apart by what files hold.
#include "formats/recognise.h"

#include "helpers.h"

namespace infold::formats {
namespace {

TEST(Recognise, LooksForWhatOnlyOneFormatHas) {
  EXPECT_EQ(recognise("<?xml version=\"1.0\"?>\n<!-- <algo> -->\n<system version=\"1\"/>"),
            Format::kNcclTopology);
  EXPECT_EQ(recognise("\n<algo name=\"a\"/>"), Format::kMsccl);
  EXPECT_EQ(recognise("<html/>"), Format::kUnknown);
  EXPECT_EQ(recognise("<!-- no end"), Format::kUnknown);
  EXPECT_EQ(recognise("{\"model_type\": \"llama\"}"), Format::kHuggingFace);
  EXPECT_EQ(recognise("{\"gpus\": [{\"threadblocks\": []}]}"), Format::kMscclpp);
  EXPECT_EQ(recognise("{\"traceEvents\": []}"), Format::kKineto);
  EXPECT_EQ(recognise("{\"schema\": 1, \"lists\": []}"), Format::kOurs);
  EXPECT_EQ(recognise("# ours\nkind: system\n"), Format::kOurs);
  EXPECT_EQ(
      recognise("# nThread 1\n#  out-of-place  in-place\n# algbw busbw\n 8 2 float sum -1 1 2 3 0 1 2 3 0\n"),
      Format::kNcclTests);
  EXPECT_EQ(recognise("\tGPU0\tGPU1\nGPU0\t X \tNV1\nLegend:\n"), Format::kNvidiaTopo);
  EXPECT_EQ(recognise(std::string("\x07\x0a\x05"
                                  "0.0.4\x10",
                                  9)),
            Format::kChakra);
  EXPECT_EQ(recognise(""), Format::kUnknown);
  EXPECT_EQ(recognise("some words"), Format::kUnknown);
}

TEST(Recognise, HasAMeaningForEachFormat) {
  for (const auto& named : kFormatNames) EXPECT_FALSE(meaning_of(named.value).empty());
}

}  // namespace
}  // namespace infold::formats

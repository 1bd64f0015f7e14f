// The table of kinds of models.
#include "formats/model/model_families.h"

#include <array>

namespace infold::formats {

namespace {

constexpr std::array kFamilies = {
    ModelFamily{"llama", build_llama},     ModelFamily{"mistral", build_llama},
    ModelFamily{"mixtral", build_mixtral}, ModelFamily{"qwen2", build_qwen2},
    ModelFamily{"qwen3", build_qwen3},     ModelFamily{"qwen3_moe", build_qwen3_moe},
    ModelFamily{"gpt2", build_gpt2},       ModelFamily{"gpt_neox", build_gpt_neox},
    ModelFamily{"mpt", build_mpt},         ModelFamily{"deepseek_v3", build_deepseek_v3},
};

}  // namespace

std::span<const ModelFamily> model_families() {
  return kFamilies;
}

}  // namespace infold::formats

// Which format a file has, by what it holds and not by its name.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "sim/params.h"

namespace infold::formats {

enum class Format {
  kUnknown,
  kOurs,
  kWorkload,
  kHuggingFace,
  kNcclTopology,
  kMsccl,
  kNcclTests,
  kMscclpp,
  kChakra,
  kKineto,
  kNvidiaTopo,
  kTunerCsv,
  kInfraGraph,
  kTar,
};
inline constexpr std::array kFormatNames = {
    sim::Named{Format::kUnknown, "unknown", "none of these"},
    sim::Named{Format::kOurs, "infold", "a YAML or JSON file of infold"},
    sim::Named{Format::kWorkload, "workload", "a workload of infold"},
    sim::Named{Format::kHuggingFace, "huggingface-config", "the config.json of a Hugging Face model"},
    sim::Named{Format::kNcclTopology, "nccl-topology", "a topology file of NCCL or RCCL"},
    sim::Named{Format::kMsccl, "msccl", "a program of MSCCL"},
    sim::Named{Format::kNcclTests, "nccl-tests", "a log of nccl-tests"},
    sim::Named{Format::kMscclpp, "mscclpp", "an execution plan of MSCCL++"},
    sim::Named{Format::kChakra, "chakra", "an execution trace of Chakra"},
    sim::Named{Format::kKineto, "kineto", "a trace of the PyTorch profiler"},
    sim::Named{Format::kNvidiaTopo, "nvidia-smi-topo", "the output of nvidia-smi topo -m"},
    sim::Named{Format::kTunerCsv, "nccl-tuner-csv", "a table of NCCL's tuner plug-in"},
    sim::Named{Format::kInfraGraph, "infragraph", "a machine of InfraGraph"},
    sim::Named{Format::kTar, "tar", "an archive"},
};
constexpr std::span<const sim::Named<Format>> names_of(Format) {
  return kFormatNames;
}

/// Whether there is a reader of that format, and not only a name for it.
bool is_read(Format format);

/// "the config.json of a Hugging Face model".
std::string_view meaning_of(Format format);

/// `text` is unpacked. A file that is neither foreign nor anything known is kOurs if it looks like YAML with
/// `kind:`.
Format recognise(std::string_view text);

}  // namespace infold::formats

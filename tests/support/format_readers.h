// The readers of foreign files by name, as tests/support/readers.h has those of ours.
#pragma once

#include <array>
#include <string>

#include "formats/model/hugging_face.h"
#include "formats/msccl/msccl_program.h"
#include "formats/nccl_environment.h"
#include "formats/nccl_tests.h"
#include "formats/text/file_text.h"
#include "formats/topology/nvidia_topo.h"
#include "formats/topology/topology_system.h"
#include "formats/trace/traces.h"
#include "formats/workload/workload_file.h"
#include "support/readers.h"

namespace infold::formats {

/// Why a file is refused; empty when `read` takes its text.
template <class Read>
std::string refusal_by(const std::string& path, Read read) {
  const auto text = read_file(path);
  return text ? config::refusal_of(read(text->text)) : to_string(text.error());
}

inline constexpr std::array<config::NamedReader, 9> kFormatReaders = {{
    {"hugging-face",
     [](const std::string& path) {
       return refusal_by(path,
                         [](const std::string& text) { return read_hugging_face(text, "input", "input"); });
     }},
    {"nccl-topology",
     [](const std::string& path) {
       return refusal_by(
           path, [](const std::string& text) { return read_topology_system(text, "input", "input"); });
     }},
    {"nvidia-topo",
     [](const std::string& path) {
       return refusal_by(path,
                         [](const std::string& text) { return read_nvidia_topo(text, "input", "input"); });
     }},
    {"msccl",
     [](const std::string& path) {
       return refusal_by(path, [](const std::string& text) { return read_msccl(text, "input"); });
     }},
    {"workload",
     [](const std::string& path) {
       return refusal_by(path, [](const std::string& text) { return read_workload(text, "input"); });
     }},
    {"chakra", [](const std::string& path) { return config::refusal_of(load_workload({path})); }},
    {"kineto", [](const std::string& path) { return config::refusal_of(load_workload({path})); }},
    {"nccl-environment",
     [](const std::string& path) {
       return refusal_by(path, [](const std::string& text) { return read_nccl_environment(text, "input"); });
     }},
    {"nccl-tests",
     [](const std::string& path) {
       return refusal_by(path, [](const std::string& text) { return read_nccl_tests(text, "input"); });
     }},
}};

}  // namespace infold::formats

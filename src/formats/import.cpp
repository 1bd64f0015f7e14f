// Hands a file to the reader of its format.
#include "formats/import.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "config/yaml/position.h"
#include "formats/catalog.h"
#include "formats/model/hugging_face.h"
#include "formats/msccl/msccl_program.h"
#include "formats/text/file_text.h"
#include "formats/topology/nvidia_topo.h"
#include "formats/topology/topology_system.h"

namespace infold::formats {

namespace {

sim::Failure refuse_file(const std::string& file, std::string why) {
  return sim::fail(config::at(file, {}, std::move(why)));
}

sim::Failure unknown_format(const std::string& file) {
  std::vector<std::string_view> known;
  for (const auto& named : kFormatNames) {
    if (is_read(named.value)) known.push_back(named.name);
  }
  return refuse_file(file, fmt::format("its format is not known (known are {})", fmt::join(known, ", ")));
}

}  // namespace

std::string_view kind_of(const Imported& imported) {
  if (std::holds_alternative<study::SystemSpec>(imported.value)) return "system";
  if (std::holds_alternative<train::Model>(imported.value)) return "model";
  if (std::holds_alternative<study::Workload>(imported.value)) return "workload";
  return std::holds_alternative<coll::OwnProgram>(imported.value) ? "program" : "measurements";
}

sim::Result<Imported> import_file(const std::string& file, const std::string& gpu, const TraceOptions& trace,
                                  const std::vector<std::string>& more) {
  const auto format = recognise_file(file);
  if (format && is_workload_format(*format)) {
    if (!gpu.empty()) return sim::fail("--gpu: only topology files leave open which GPUs they mean");
    std::vector<std::string> files = {file};
    files.insert(files.end(), more.begin(), more.end());
    auto read = load_workload(files, trace);
    if (!read) return sim::fail_as(std::move(read));
    return Imported{
        .format = read->format, .notes = std::move(read->notes), .value = std::move(read->workload)};
  }
  if (!more.empty()) return sim::fail("several files at once are only read of traces, one for each rank");
  if (trace.step >= 0) return sim::fail("--step: only traces of the PyTorch profiler mark steps");
  auto text = read_file(file);
  if (!text) return sim::fail_as(std::move(text));
  Imported out;
  out.format = recognise(text->text);
  if (!gpu.empty() && out.format != Format::kNcclTopology && out.format != Format::kNvidiaTopo)
    return sim::fail("--gpu: only topology files leave open which GPUs they mean");
  switch (out.format) {
    case Format::kNcclTopology: {
      auto read = read_topology_system(text->text, file, text->stem, gpu);
      if (!read) return sim::fail_as(std::move(read));
      out.value = std::move(read->system);
      out.notes = std::move(read->notes);
      return out;
    }
    case Format::kNvidiaTopo: {
      auto read = read_nvidia_topo(text->text, file, text->stem, gpu);
      if (!read) return sim::fail_as(std::move(read));
      out.value = std::move(read->system);
      out.notes = std::move(read->notes);
      return out;
    }
    case Format::kHuggingFace: {
      auto read = read_hugging_face(text->text, file, model_stem(*text));
      if (!read) return sim::fail_as(std::move(read));
      out.value = std::move(read->model);
      out.notes = std::move(read->notes);
      return out;
    }
    case Format::kMsccl: {
      auto read = read_msccl(text->text, file);
      if (!read) return sim::fail_as(std::move(read));
      out.notes = std::move(read->notes);
      out.value = std::move(read->own);
      return out;
    }
    case Format::kNcclTests: {
      auto read = read_nccl_tests(text->text, file);
      if (!read) return sim::fail_as(std::move(read));
      out.notes = read->notes;
      out.value = std::move(*read);
      return out;
    }
    case Format::kUnknown:
      return unknown_format(file);
    case Format::kOurs:
      return refuse_file(file,
                         file.ends_with(".gz")
                             ? "this is a packed file of infold; files of infold are read unpacked"
                             : "this is a file of infold already; 'infold check' says whether it is valid");
    default:
      return refuse_file(file, fmt::format("this is {}, which infold does not read", meaning_of(out.format)));
  }
}

}  // namespace infold::formats

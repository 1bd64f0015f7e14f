// From an option to a file.
#include "cli/named_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/app.h"
#include "cli/named_files.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "sim/check.h"

namespace infold::cli {

std::string valid_file_name(const std::string& path) {
  return path.empty() ? "the file has no name" : "";
}

int NamedOutput::open() {
  if (!wanted()) return kDone;
  INFOLD_CHECK(std::ranges::find(kOutputs, place_.option) != kOutputs.end(),
               "an option that writes is in the list by which inputs are kept from being written over");
  auto opened = report::OutputFile::open(place_.path);
  if (!opened) return failure(opened.error(), std::string(place_.option));
  file_.emplace(std::move(*opened));
  return kDone;
}

int NamedOutput::write(std::string_view text) {
  const auto written = file_->commit(text);
  if (written) return kDone;
  failure(written.error(), std::string(place_.option));
  return kFailed;
}

}  // namespace infold::cli

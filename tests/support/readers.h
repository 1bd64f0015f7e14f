// The readers of files by name: for the fuzzer, and for the test that gives them again what the fuzzer found.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "config/catalog.h"
#include "config/program_file.h"
#include "config/study_file.h"
#include "config/sweep_file.h"
#include "config/tuning_file.h"
#include "config/validation_file.h"
#include "config/yaml/text.h"
#include "study/check.h"

namespace infold::config {

struct NamedReader {
  std::string_view name;
  std::string (*refusal)(const std::string& path);  ///< why the file is refused; empty when it is taken
};

template <class T>
std::string refusal_of(const sim::Result<T>& read) {
  return read ? "" : to_string(read.error());
}

inline constexpr std::array<NamedReader, 8> kReaders = {{
    {"gpu", [](const std::string& path) { return refusal_of(load_gpu(path)); }},
    {"model", [](const std::string& path) { return refusal_of(load_model(path)); }},
    {"program", [](const std::string& path) { return refusal_of(load_program(path)); }},
    {"study", [](const std::string& path) { return refusal_of(load_study(path)); }},
    {"sweep", [](const std::string& path) { return refusal_of(load_sweep(path)); }},
    {"system", [](const std::string& path) { return refusal_of(load_system(path, study::check)); }},
    {"tuning", [](const std::string& path) { return refusal_of(load_tuning(path)); }},
    {"validation", [](const std::string& path) { return refusal_of(load_validation(path)); }},
}};

/// A refusal is one line that a terminal can show, whatever the file holds.
inline bool is_one_line(std::string_view refusal) {
  constexpr std::size_t kLongest = 2000;
  return refusal.size() <= kLongest && !has_control_character(refusal) && !find_text_fault(refusal);
}

}  // namespace infold::config

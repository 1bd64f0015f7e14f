// What every command that simulates shares: which systems are used, and which parameters are changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/diagnostic.h"
#include "study/system_spec.h"

namespace infold::cli {

/// Loads each of a comma-separated list of systems and applies `--set` to it. On an error prints one
/// line to standard error and returns nothing.
std::optional<std::vector<study::SystemSpec>> load_systems(const std::string& list,
                                                           const std::vector<std::string>& sets);

/// The same for one GPU; `--set` then accepts only its paths, "gpu.…".
std::optional<gpu::GpuSpec> load_gpu(const std::string& name, const std::vector<std::string>& sets);

/// Splits "a,b,c" into its parts.
std::vector<std::string> split(const std::string& list);

/// For options: refuses a value that is not a whole number of 64 bits (CLI11 takes "-1" for a large one).
std::string refuse_no_seed(const std::string& typed);

/// Prints results to standard output. Failures are noticed once, when the program ends (app.cpp).
void print(std::string_view text);

/// Prints to standard error. If that stream cannot be written, the message is lost, but the command does not
/// fail.
void complain(std::string_view text);

/// Prints one line of error message to standard error, and returns the exit code for it.
int bad_input(const std::string& message);
/// The same for an error in a file: "file:line:column: what is wrong".
int bad_file(const config::Diagnostic& error);

}  // namespace infold::cli

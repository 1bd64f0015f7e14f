// What every command that simulates shares: which systems are used, and which parameters are changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/result.h"
#include "sim/units.h"
#include "study/prepared_system.h"

namespace CLI {
class App;
}

namespace infold::cli {

/// Loads each of a comma-separated list of systems, applies `--set` to it, and prepares it.
sim::Result<std::vector<study::SystemPtr>> load_systems(const std::string& list,
                                                        const std::vector<std::string>& sets);
/// The same where one system is meant.
sim::Result<study::SystemPtr> load_one_system(const std::string& name, const std::vector<std::string>& sets);

/// The same for one GPU; `--set` then takes its paths only, "gpu.…".
sim::Result<gpu::GpuSpec> load_gpu(const std::string& name, const std::vector<std::string>& sets);

/// The same for the GPU of a system.
sim::Result<gpu::GpuSpec> load_gpu_of(const std::string& system, const std::vector<std::string>& sets);

/// The option --nodes, and what `--set` changes with it. (Paths below `nic`, `host` and `scale_out` exist
/// where there are several nodes, so that comes first.)
void add_nodes_argument(CLI::App& command, int& nodes);
std::vector<std::string> with_nodes(std::vector<std::string> sets, int nodes);

/// Splits "a,b,c" into its parts.
std::vector<std::string> split(const std::string& list);

/// For check() of CLI11, where an empty text means that the value is valid: the value must be a whole number
/// of 64 bits (CLI11 takes "-1" for a large one).
std::string valid_seed(const std::string& typed);

/// The size that an option was given, which must have a unit where a bare number of bytes is surely not
/// meant.
sim::Result<sim::Bytes> parse_size_with_unit(std::string_view option, const std::string& text);

/// Prints results to standard output. Failures are noticed once, when the program ends (app.cpp).
void print(std::string_view text);

/// Prints to standard error. If that stream cannot be written, the message is lost, but the command does not
/// fail.
void complain(std::string_view text);

}  // namespace infold::cli

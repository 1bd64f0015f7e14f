// Runs infold itself as a child process and captures what it prints. A command in a file is carried out
// exactly as a user would type it, and a command that fails does not affect the others.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"
#include "study/campaign/command_run.h"

namespace infold::cli {

/// A file says what is run, so only what simulates and prints may be: nothing that writes a file or runs
/// further files. Nor is a command begun whose words make no sense.
sim::Status check_command(const std::vector<std::string>& words);

/// Blocks until it has ended; ends it when infold itself is interrupted or gone. Safe to call from several
/// threads.
study::CommandRun run_child(const std::vector<std::string>& words);

}  // namespace infold::cli

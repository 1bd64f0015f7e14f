// Runs infold itself as a child process and captures what it prints. A command in a file is carried out
// exactly as a user would type it, and a command that fails does not affect the others.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"
#include "study/campaign/command_run.h"

namespace infold::cli {

/// Checks a command that a file contains. It must only simulate and print: a command that writes a file or
/// runs further files is refused, and so is one whose words make no sense.
sim::Status check_command(const std::vector<std::string>& words);

/// Runs the command and blocks until it has ended. It is ended when infold itself is interrupted or gone.
/// Safe to call from several threads.
study::CommandRun run_child(const std::vector<std::string>& words);

}  // namespace infold::cli

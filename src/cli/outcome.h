// What every command says when there is no result, and the exit code for it.
#pragma once

#include <string>

#include "sim/result.h"

namespace infold::cli {

/// A name for a line that people read. What was typed may hold anything, such as what moves a cursor.
std::string printable(std::string text);

/// Prints one line of complaint to standard error, and returns the exit code for it.
int bad_input(const std::string& message);

/// Says why there is no result and returns the exit code: bad input as "file:line:column: why" where it is
/// in a file, otherwise as "label: why"; of a deadlock who waits for whom, as far as anybody would read;
/// nothing of an interruption.
int failure(const sim::Error& error, const std::string& label = {});

}  // namespace infold::cli

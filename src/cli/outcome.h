// What every command prints when there is no result, and the exit code for it.
#pragma once

#include <string>

#include "sim/result.h"

namespace infold::cli {

/// Makes a name safe to print on a line, because what was typed may hold anything, such as characters that
/// move a cursor.
std::string printable(std::string text);

/// Prints one line of complaint to standard error, and returns the exit code for it.
int bad_input(const std::string& message);

/// Prints why there is no result, and returns the exit code. Bad input is printed as "file:line:column: why"
/// if it is in a file, otherwise as "label: why". For a deadlock, the first of the waits are listed. For an
/// interruption, nothing is printed.
int failure(const sim::Error& error, const std::string& label = {});

}  // namespace infold::cli

// Ctrl-C asks a run to stop at the next good moment; a second one ends the process at once.
#pragma once

namespace infold::cli {

void watch_for_interrupt();
bool interrupted();

}  // namespace infold::cli

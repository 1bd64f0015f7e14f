// Ctrl-C asks a run to stop at the next suitable moment; a second Ctrl-C ends the process at once.
#pragma once

namespace infold::cli {

void watch_for_interrupt();
bool interrupted();

}  // namespace infold::cli

// The one signal handler, and the flag it sets.
#include "cli/interrupt.h"

#include <csignal>

namespace infold::cli {

namespace {
volatile std::sig_atomic_t stop_requested = 0;

void on_signal(int signal) {
  stop_requested = 1;
  std::signal(signal, SIG_DFL);
}
}  // namespace

void watch_for_interrupt() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  // Unless closed terminals are to be ignored (nohup), one ends a run in the same way.
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  // A reader that has gone is noticed when the output is written, so that files are finished first.
  std::signal(SIGPIPE, SIG_IGN);
  // A file that may not grow any more is treated like a full disk, where it is written.
  std::signal(SIGXFSZ, SIG_IGN);
}

bool interrupted() {
  return stop_requested != 0;
}

}  // namespace infold::cli

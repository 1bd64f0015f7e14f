// Programs of little data on few channels.
#pragma once

#include "coll/program/program.h"

namespace infold::help {

/// Few channels of one warp each, however little data there is.
inline coll::Tuning few_channels(int channels) {
  coll::Tuning t;
  t.channels = channels;
  t.threads = 32;
  t.min_bytes_per_thread = sim::Bytes{1};
  return t;
}

/// Rank 0 sends 1,000 bytes to rank 1, so many times, one step each.
inline coll::Program sends(int times) {
  constexpr sim::Bytes kEach{1'000};
  coll::Program program;
  program.ranks = 2;
  program.channels = 1;
  program.tuning = few_channels(1);
  program.bytes = kEach * times;
  program.lists.resize(2);
  for (int i = 0; i < times; ++i) {
    coll::Step send;
    send.to = {1};
    send.uses_input = true;
    send.bytes = kEach;
    program.steps(0, 0).push_back(send);
    coll::Step receive;
    receive.from = {0};
    receive.writes_output = true;
    receive.bytes = kEach;
    program.steps(1, 0).push_back(receive);
  }
  return program;
}

}  // namespace infold::help

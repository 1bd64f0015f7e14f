// Two-shot all-reduce, the unicast kernel that libraries use besides ring: every rank pushes to the others
// their shares; each folds its own share when all of it has arrived, and stores the result into every output.
// There is one handover per phase instead of slices, so buffers hold whole shares.
#include "coll/program/writing.h"

namespace infold::coll {

namespace {

/// Shares are handed over whole: a buffer has one slot for the share that is pushed and one for the result.
Tuning whole_shares(Tuning t, sim::Bytes largest) {
  t.buffer_steps = 2;
  t.slice_steps = 1;
  t.slices_per_chunk = 1;
  t.buffer = sim::max(sim::Bytes{2 * round_up(largest.count(), kVector)}, 4_KiB);
  return t;
}

void write(const Program& program, int rank, int channel, Part part, std::vector<Step>& out) {
  const int n = program.ranks;
  const auto share = [&](int of) {
    const Part p = part_of(part, of, n);
    return step_at(p.begin, p.end - p.begin);
  };
  for (int d = 0; d < n - 1; ++d) {  // push
    const int to = nth_other(rank, d + channel, n);
    Step s = share(to);
    s.to = {to};
    s.uses_input = true;
    add(out, s);
  }
  // Reduce: the last fold goes to the outputs of as many others as a step can serve; the rest follow.
  const auto others = others_of(rank, n);
  for (std::size_t i = 0; i < others.size(); ++i) {
    Step s = share(rank);
    s.from = others[i];
    (i == 0 ? s.uses_input : s.uses_held) = true;
    s.writes_output = true;
    if (i + 1 == others.size()) {
      s.finishes = s.lands = true;
      s.to = others[0];
    }
    add(out, s);
  }
  for (std::size_t i = 1; i < others.size(); ++i) {
    Step s = share(rank);
    s.uses_held = s.lands = true;
    s.to = others[i];
    add(out, s);
  }
  for (int d = 1; d < n; ++d) {  // wait for the shares of the others
    const int from = (rank + n - d) % n;
    Step s = share(from);
    s.from = {from};
    s.landed = true;
    add(out, s);
  }
}

}  // namespace

Program write_two_shot(const Request& request) {
  Program program = blank_program(request, channels_for(request.tuning, request.bytes));
  const Part largest = part_of(part_of(request.bytes, 0, program.channels), 0, request.ranks());
  program.tuning = whole_shares(request.tuning, largest.end - largest.begin);
  for (int channel = 0; channel < program.channels; ++channel) {
    const Part part = part_of(request.bytes, channel, program.channels);
    for (int rank = 0; rank < program.ranks && !stopped(request); ++rank)
      write(program, rank, channel, part, program.steps(rank, channel));
  }
  return program;
}

}  // namespace infold::coll

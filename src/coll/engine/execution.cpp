// Picks the executor, and counts the ranks that are through.
#include "coll/engine/execution.h"

namespace infold::coll {

Buffers::Sizes buffers_for(const Program& program) {
  const BufferSizes sizes = buffer_sizes(program.collective, program.bytes, program.ranks);
  return {.input = sizes.input,
          .output = sizes.output + program.scratch,
          .in_place = program.collective == Collective::kAllReduce};
}

Execution::Execution(gpu::Machine& machine, const Program& program, std::vector<int> gpus, Options options)
    : machine_(machine),
      program_(program),
      gpus_(std::move(gpus)),
      options_(std::move(options)),
      finished_(static_cast<std::size_t>(program.ranks)) {
  if (options_.buffers == nullptr) {
    own_buffers_ = std::make_unique<Buffers>(machine, gpus_, buffers_for(program));
    options_.buffers = own_buffers_.get();
  }
  // What ran before on an idle network makes no difference.
  if (machine.network().quiet()) machine.network().start_anew();
  executor_ = make_executor({.machine = machine_,
                             .program = program_,
                             .gpus = gpus_,
                             .buffers = *options_.buffers,
                             .values = options_.values,
                             .trace = options_.trace,
                             .stream = options_.stream,
                             .rank_finished = [this](int rank) { rank_finished(rank); }});
}

void Execution::rank_finished(int rank) {
  const sim::Time now = machine_.events().now();
  finished_[static_cast<std::size_t>(rank)] = now;
  ++ranks_done_;
  if (options_.rank_done) options_.rank_done(rank, now);
}

}  // namespace infold::coll

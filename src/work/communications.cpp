// Meetings in the order of communicators, each through coll::Execution.
#include "work/communications.h"

#include <utility>

#include "sim/check.h"

namespace infold::work {

namespace {

int kind_of(const Operation& op) {
  const auto* c = std::get_if<Collective>(&op.what);
  return c == nullptr ? -1 : static_cast<int>(c->what);
}

}  // namespace

bool works_in_tensors(const Graph& graph, const Buffer& buffer, const coll::Program& program) {
  if (buffer.input < 0 || buffer.output < 0 || program.scratch > sim::Bytes{}) return false;
  const auto fits = [&](TensorId t) {
    return graph.tensors[static_cast<std::size_t>(t)].element_bytes * gpu::Tensor::kBlockElements ==
           gpu::AddressSpace::kBufferBlock;
  };
  return fits(buffer.input) && fits(buffer.output);
}

Communications::Communications(const Graph& graph, gpu::Machine& machine, Programs programs, Places places,
                               Ended ended)
    : graph_(graph),
      machine_(machine),
      programs_(std::move(programs)),
      places_(std::move(places)),
      ended_(std::move(ended)),
      meeting_of_(static_cast<std::size_t>(graph.ranks())) {
  for (std::size_t c = 0; c < graph.communicators.size(); ++c) {
    const Communicator& communicator = graph.communicators[c];
    seats_.emplace_back(static_cast<std::size_t>(graph.ranks()));
    groups_.emplace_back(communicator.groups.size());
    for (std::size_t g = 0; g < communicator.groups.size(); ++g) {
      int member = 0;
      for (const int rank : communicator.groups[g]) {
        seats_[c][static_cast<std::size_t>(rank)] = {static_cast<int>(g), member++, 0};
        if (communicator.priority != 0) machine.gpu(rank).communication_stream(c, communicator.priority);
      }
    }
  }
}

coll::Buffers& Communications::buffers_for(const Key& key, Group& group, const std::vector<int>& members,
                                           const coll::Program& program) {
  std::unique_ptr<coll::Buffers>& place = buffers_[key];
  const Buffer& buffer = graph_.buffers[static_cast<std::size_t>(std::get<2>(key))];
  if (place == nullptr && works_in_tensors(graph_, buffer, program)) {
    place = in_tensors_of(buffer, group, members);
    if (group.first == nullptr) group.first = place.get();
  } else if (place == nullptr) {
    const coll::Buffers::Sizes sizes = coll::buffers_for(program);
    place = group.first == nullptr ? std::make_unique<coll::Buffers>(machine_, members, sizes)
                                   : std::make_unique<coll::Buffers>(*group.first, sizes);
    if (group.first == nullptr) group.first = place.get();
  }
  return *place;
}

std::unique_ptr<coll::Buffers> Communications::in_tensors_of(const Buffer& buffer, const Group& group,
                                                             const std::vector<int>& members) const {
  coll::Buffers::Places places;
  for (const int rank : members) {
    places.inputs.push_back(places_(rank, buffer.input));
    places.outputs.push_back(places_(rank, buffer.output));
  }
  return group.first == nullptr ? std::make_unique<coll::Buffers>(machine_, members, std::move(places))
                                : std::make_unique<coll::Buffers>(*group.first, std::move(places));
}

Communications::Memory Communications::join(int rank, OpId op) {
  const Operation& o = graph_[op];
  const CommunicatorId c = communicator_of(o);
  Seat& s = seat(c, rank);
  INFOLD_CHECK(s.group >= 0, "a rank communicates where it is a member");
  Group& group = groups_[static_cast<std::size_t>(c)][static_cast<std::size_t>(s.group)];
  const std::vector<int>& members =
      graph_.communicators[static_cast<std::size_t>(c)].groups[static_cast<std::size_t>(s.group)];
  if (s.joined == group.meetings.size()) {
    auto m = std::make_unique<Meeting>();
    m->program = &programs_(o, graph_.buffers[static_cast<std::size_t>(buffer_of(o))].bytes, members);
    m->buffers = &buffers_for({c, s.group, buffer_of(o), kind_of(o)}, group, members, *m->program);
    m->members = &members;
    m->ops.resize(members.size());
    m->stream = static_cast<std::size_t>(c);
    group.meetings.push_back(std::move(m));
  }
  Meeting& m = *group.meetings[s.joined++];
  m.ops[static_cast<std::size_t>(s.member)] = op;
  auto& mine = meeting_of_[static_cast<std::size_t>(rank)];
  if (mine.size() <= static_cast<std::size_t>(op)) mine.resize(graph_.operations.size());
  mine[static_cast<std::size_t>(op)] = &m;
  return {m.buffers->input(s.member), m.buffers->output(s.member)};
}

const Communications::Meeting& Communications::meeting(int rank, OpId op) const {
  return *meeting_of_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(op)];
}

std::vector<Communications::Member> Communications::members(int rank, OpId op) const {
  const Meeting& m = meeting(rank, op);
  std::vector<Member> all;
  for (std::size_t i = 0; i < m.ops.size(); ++i) all.push_back({(*m.members)[i], m.ops[i]});
  return all;
}

void Communications::start(int rank, OpId op) {
  Meeting& m = *meeting_of_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(op)];
  if (m.execution == nullptr) {
    coll::Execution::Options options;
    options.buffers = m.buffers;
    options.trace = trace_;
    options.stream = m.stream;
    options.rank_done = [this, &m](int member, sim::Time) {
      const auto i = static_cast<std::size_t>(member);
      ended_((*m.members)[i], m.ops[i]);
    };
    m.execution = std::make_unique<coll::Execution>(machine_, *m.program, *m.members, std::move(options));
  }
  m.execution->enqueue(seat(communicator_of(graph_[op]), rank).member, machine_.events().now());
}

std::vector<std::string> Communications::who_waits() const {
  std::vector<std::string> lines;
  for (const auto& communicator : groups_) {
    for (const Group& g : communicator) {
      for (const auto& m : g.meetings) {
        if (m->execution == nullptr || m->execution->done()) continue;
        for (auto& line : m->execution->who_waits()) lines.push_back(std::move(line));
      }
    }
  }
  return lines;
}

}  // namespace infold::work

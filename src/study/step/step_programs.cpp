// Choosing and compiling, once per collective, size and kind of group.
#include "study/step/step_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "coll/program/fold.h"
#include "coll/tune/engine_tuning.h"
#include "work/communications.h"

namespace infold::study {

namespace {

/// On planes of switches every group of GPUs is like every other of its size, so one program does for all.
bool all_groups_alike(const CollectiveJob& job) {
  return job.system->machine.fabric.topology == net::Topology::kSwitchPlanes &&
         job.system->machine.nodes == 1;
}

/// The one that was asked for, if it offers the collective, or the first that does.
const coll::Algorithm* algorithm_for(const coll::Algorithm* asked, coll::Collective what) {
  if (asked == nullptr || asked->offers(what)) return asked;
  const auto other = std::ranges::find_if(
      coll::algorithms(), [&](const coll::Algorithm& a) { return !a.in_network && a.offers(what); });
  return other == coll::algorithms().end() ? asked : &*other;
}

coll::Collective collective_of(const work::Operation& op) {
  const auto* c = std::get_if<work::Collective>(&op.what);
  return c == nullptr ? coll::Collective::kSend : c->what;
}

}  // namespace

sim::Status check_has_use(const Method& method, const std::vector<PlannedCommunication>& communications) {
  static const coll::Algorithm* const kRing = coll::find_algorithm("ring");
  if (method.program == nullptr && (method.algorithm == nullptr || method.algorithm == kRing)) return {};
  std::vector<std::string_view> asked_for;
  for (const PlannedCommunication& c : communications) {
    const coll::Collective what = collective_of(c.op);
    if (method.program == nullptr ? method.algorithm->offers(what)
                                  : method.program->program.collective == what &&
                                        method.program->program.ranks == static_cast<int>(c.members.size()))
      return {};
    if (std::ranges::find(asked_for, sim::name_of(what)) == asked_for.end())
      asked_for.push_back(sim::name_of(what));
  }
  if (asked_for.empty()) return {};
  return sim::fail(fmt::format("{} would carry out nothing of this step, which communicates by {}",
                               name_of(method), fmt::join(asked_for, ", ")));
}

std::vector<PlannedCommunication> communications_of(const work::Graph& graph) {
  std::vector<PlannedCommunication> all;
  for (const work::Operation& op : graph.operations) {
    const work::CommunicatorId c = work::communicator_of(op);
    if (c < 0) continue;
    for (const auto& members : graph.communicators[static_cast<std::size_t>(c)].groups) {
      if (const auto* g = std::get_if<work::Gather>(&op.what)) {
        sim::Bytes least = sim::Bytes{INT64_MAX};
        sim::Bytes sum;
        for (const work::Gather::Part& p : g->parts) {
          sum += p.bytes;
          least = sim::min(least, p.bytes);
        }
        sim::Bytes most = sim::min(sum, g->most);
        for (const work::Gather::Part& p : g->parts) most = sim::max(most, p.bytes);
        const work::Operation reduction{.what = work::Collective{.communicator = c}};
        if (!g->parts.empty()) {
          all.push_back({reduction, least, members});
          all.push_back({reduction, most, members});
        }
      } else {
        all.push_back({op, graph.buffers[static_cast<std::size_t>(work::buffer_of(op))].bytes, members});
      }
    }
  }
  return all;
}

StepPrograms::Key StepPrograms::key_of(const work::Operation& op, sim::Bytes bytes,
                                       const std::vector<int>& members) const {
  const auto* t = std::get_if<work::Transfer>(&op.what);
  const coll::Collective what =
      t != nullptr ? coll::Collective::kSend : std::get<work::Collective>(op.what).what;
  const int root = t != nullptr ? t->from : std::get<work::Collective>(op.what).root;
  const auto tokens = t != nullptr ? work::Collective::Tokens{} : std::get<work::Collective>(op.what).tokens;
  if (!all_groups_alike(job_)) return {what, root, bytes.count(), members, tokens};
  std::vector<int> first(members.size());
  std::iota(first.begin(), first.end(), 0);
  return {what, root, bytes.count(), std::move(first), tokens};
}

CollectiveJob StepPrograms::job_for(const Key& key) const {
  CollectiveJob job = job_;
  job.collective = std::get<0>(key);
  job.root = std::get<1>(key);
  job.bytes = sim::Bytes{std::get<2>(key)};
  job.members = std::get<3>(key);
  job.gpus = static_cast<int>(job.members.size());
  if (const work::Collective::Tokens& tokens = std::get<4>(key); tokens.fan_out > 0)
    job.experts = {.fan_out = tokens.fan_out, .token = sim::Bytes{tokens.bytes}};
  if (job.program != nullptr &&
      (job.program->program.collective != job.collective || job.program->program.ranks != job.gpus)) {
    job.program = nullptr;  // a user's program is for one collective; the others are left to a library's
    job.algorithm = coll::find_algorithm("ring");
  }
  job.algorithm = algorithm_for(job.algorithm, job.collective);
  if (gather_engine_ && job.collective == coll::Collective::kAllGather) job.engine = *gather_engine_;
  return job;
}

sim::Status StepPrograms::prepare(const work::Operation& op, sim::Bytes bytes,
                                  const std::vector<int>& members) {
  const Key key = key_of(op, bytes, members);
  if (entries_.contains(key)) return {};
  CollectiveJob job = job_for(key);
  const auto offers = offers_of(job, job.algorithm, protocol_);
  if (offers.empty()) {
    if (auto ok = coll::check_protocol(job.engine, protocol_.value_or(coll::Protocol::kSimple)); !ok)
      return ok;
    return sim::fail(fmt::format("{} cannot {} with the protocol {}",
                                 job.program != nullptr     ? job.program->name
                                 : job.algorithm == nullptr ? "no algorithm"
                                                            : job.algorithm->name,
                                 coll::reduces(job.collective) ? "reduce" : "communicate",
                                 protocol_ ? sim::name_of(*protocol_) : "auto"));
  }
  // What can be said against a request depends on its protocol by little; the offer that is taken is asked
  // again.
  job.algorithm = offers.front().algorithm;
  job.protocol = offers.front().protocol;
  if (auto ok = check_request(job); !ok) return ok;
  const Choice choice = choose(job, offers, keep_going_);
  job.algorithm = choice.algorithm;
  job.protocol = choice.protocol;
  auto prepared = study::prepare(job, keep_going_);
  if (!prepared) return sim::fail_as(std::move(prepared));
  entries_.emplace(key, std::make_unique<Entry>(Entry{choice, prepared->program()}));
  return {};
}

sim::Status StepPrograms::prepare(const work::Graph& graph) {
  const std::vector<PlannedCommunication> all = communications_of(graph);
  if (auto used = check_has_use({job_.algorithm, job_.engine, job_.program}, all); !used) return used;
  for (const PlannedCommunication& c : all) {
    auto prepared = prepare(c.op, c.bytes, c.members);
    if (keep_going_ && !keep_going_()) return sim::interrupted();
    if (!prepared) return prepared;
  }
  return {};
}

const StepPrograms::Entry& StepPrograms::at(const work::Graph& graph, int rank, work::OpId op) const {
  return at(graph[op], graph.buffers[static_cast<std::size_t>(work::buffer_of(graph[op]))].bytes,
            work::group_of(graph, work::communicator_of(graph[op]), rank));
}

sim::Result<coll::Program> StepPrograms::resized(const work::Operation& op, sim::Bytes bytes,
                                                 const std::vector<int>& members, sim::Bytes to) const {
  const Key key = key_of(op, bytes, members);
  CollectiveJob job = job_for(key);
  job.bytes = to;
  job.algorithm = entries_.at(key)->choice.algorithm;
  job.protocol = entries_.at(key)->choice.protocol;
  auto prepared = study::prepare(job);
  if (!prepared) return sim::fail_as(std::move(prepared));
  return prepared->program();
}

bool StepPrograms::fold(int ranks) {
  std::vector<int> first(static_cast<std::size_t>(ranks));
  std::iota(first.begin(), first.end(), 0);
  std::map<Key, std::unique_ptr<Entry>> entries;
  for (const auto& [key, entry] : entries_) {
    CollectiveJob job = job_for(key);
    job.algorithm = entry->choice.algorithm;
    job.protocol = entry->choice.protocol;
    job.even_shares = true;
    const auto prepared = study::prepare(job);
    if (!prepared) return false;
    auto folded = coll::folded(prepared->program(), ranks);
    if (!folded) return false;
    Key stands_for = key;
    std::get<3>(stands_for) = first;
    entries.emplace(std::move(stands_for), std::make_unique<Entry>(Entry{entry->choice, std::move(*folded)}));
  }
  entries_ = std::move(entries);
  return true;
}

}  // namespace infold::study

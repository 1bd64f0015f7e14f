// Choosing and compiling, once per size.
#include "study/step/bucket_programs.h"

#include <fmt/format.h>

#include "coll/program/fold.h"
#include "coll/tune/engine_tuning.h"

namespace infold::study {

sim::Status BucketPrograms::prepare(sim::Bytes bytes) {
  if (entries_.contains(bytes.count())) return {};
  CollectiveJob job = job_;
  job.bytes = bytes;
  const auto offers = offers_of(job, job_.algorithm, protocol_);
  if (offers.empty()) {
    if (auto ok = coll::check_protocol(job.engine, protocol_.value_or(coll::Protocol::kSimple)); !ok)
      return ok;
    return sim::fail(fmt::format("{} can not reduce with the protocol {}",
                                 job_.algorithm == nullptr ? "no algorithm" : job_.algorithm->name,
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
  auto prepared = study::prepare(job);
  if (!prepared) return sim::fail_as(std::move(prepared));
  entries_.emplace(bytes.count(), std::make_unique<Entry>(Entry{choice, prepared->program()}));
  return {};
}

bool BucketPrograms::fold(int ranks) {
  std::vector<coll::Program> programs;
  for (const auto& [bytes, entry] : entries_) {
    CollectiveJob job = job_;
    job.bytes = sim::Bytes{bytes};
    job.algorithm = entry->choice.algorithm;
    job.protocol = entry->choice.protocol;
    job.even_shares = true;
    const auto prepared = study::prepare(job);
    if (!prepared) return false;
    auto folded = coll::folded(prepared->program(), ranks);
    if (!folded) return false;
    programs.push_back(std::move(*folded));
  }
  auto next = programs.begin();
  for (auto& [bytes, entry] : entries_) entry->program = std::move(*next++);
  return true;
}

}  // namespace infold::study

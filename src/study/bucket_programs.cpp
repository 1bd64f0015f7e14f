// Choosing and compiling, once a size.
#include "study/bucket_programs.h"

#include <fmt/format.h>

namespace infold::study {

std::optional<std::string> BucketPrograms::prepare(sim::Bytes bytes) {
  if (entries_.contains(bytes.count())) return std::nullopt;
  CollectiveJob job = job_;
  job.bytes = bytes;
  const auto offers = offers_of(job, job_.algorithm, protocol_);
  if (offers.empty()) {
    return fmt::format("{} can not reduce with the protocol {}",
                       job_.algorithm == nullptr ? "no algorithm" : job_.algorithm->name,
                       protocol_ ? sim::name_of(*protocol_) : "auto");
  }
  // Whether it fits does not depend on the protocol by much; the offer that is taken is asked again.
  job.algorithm = offers.front().algorithm;
  job.protocol = offers.front().protocol;
  if (auto why = refuse(job)) return why;
  const Choice choice = choose(job, offers, keep_going_);
  job.algorithm = choice.algorithm;
  job.protocol = choice.protocol;
  if (auto why = refuse(job)) return why;
  entries_.emplace(bytes.count(), std::make_unique<Entry>(Entry{choice, program_of(job)}));
  return std::nullopt;
}

}  // namespace infold::study

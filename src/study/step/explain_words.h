// What explain found, as one sentence.
#pragma once

#include <string>

#include "study/step/explain_run.h"

namespace infold::study {

/// For example "ring all-gathers of data-parallel ranks".
std::string in_words(const CommunicationUse& use);
/// `sms`: those of one GPU.
std::string in_words(const ExplainResult& explained, int sms);

}  // namespace infold::study

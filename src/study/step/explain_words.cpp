// Names the largest parts of what communication costs, in the order of their size.
#include "study/step/explain_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace infold::study {

namespace {

constexpr double kHardly = 0.005;     // of the step: less is not explained
constexpr double kWorthNaming = 0.1;  // share of the whole

std::string percent(double v) {
  return fmt::format("{:.1f} %", v * 100);
}

std::string_view plural_of(coll::Collective what) {
  switch (what) {
    case coll::Collective::kAllReduce:
      return "all-reduces";
    case coll::Collective::kReduceScatter:
      return "reduce-scatters";
    case coll::Collective::kAllGather:
      return "all-gathers";
    case coll::Collective::kBroadcast:
      return "broadcasts";
    case coll::Collective::kReduce:
      return "reduces";
    case coll::Collective::kAllToAll:
      return "all-to-alls";
    case coll::Collective::kDispatch:
      return "dispatches";
    case coll::Collective::kCombine:
      return "combines";
    case coll::Collective::kBarrier:
      return "barriers";
    case coll::Collective::kSend:
    case coll::Collective::kSendRecv:
      return "sends";
  }
  return {};
}

/// Who communicates, from the name of the communicator, whose words name an axis of the layout.
std::string_view members_of(std::string_view communicator) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kKnown = {
      {{"edp", "of ranks with the same experts"},
       {"dp", "of data-parallel ranks"},
       {"tp", "of tensor-parallel ranks"},
       {"cp", "of context-parallel ranks"},
       {"ep", "of expert-parallel ranks"},
       {"pp", "between stages"},
       {"shared", "of shared parameters"}}};
  while (!communicator.empty()) {
    const std::string_view word = communicator.substr(0, communicator.find(' '));
    const auto known = std::ranges::find(kKnown, word, &std::pair<std::string_view, std::string_view>::first);
    if (known != kKnown.end()) return known->second;
    communicator.remove_prefix(std::min(word.size() + 1, communicator.size()));
  }
  return "of data-parallel ranks";
}

std::string because(Cause cause, const StepResult& r, int sms) {
  switch (cause) {
    case Cause::kSm:
      return fmt::format("collectives hold {} of {} SMs", r.sms, sms);
    case Cause::kHbm:
      return "collectives take memory bandwidth";
    case Cause::kL2:
      return "collectives take room and bandwidth in the L2 cache";
    case Cause::kLink:
      return "collectives take links from each other";
    case Cause::kSkew:
      return "collectives wait for late GPUs and hold their SMs meanwhile";
    case Cause::kWait:
    case Cause::kCopy:
    case Cause::kBubble:
    case Cause::kInteraction:
      break;
  }
  return "these shortages meet, none of which explains it alone";
}

double part_of(const Causes& causes, Cause cause) {
  const auto part = std::ranges::find(causes.parts, cause, &CausePart::cause);
  return part == causes.parts.end() ? 0 : part->slowdown;
}

/// What compute waited for most; null if it waited for nothing.
const CommunicationUse* most_exposed(const StepResult& r) {
  const auto most = std::ranges::max_element(r.communication, {}, &CommunicationUse::exposed);
  return most == r.communication.end() || most->exposed == sim::Time{} ? nullptr : &*most;
}

}  // namespace

std::string in_words(const CommunicationUse& use) {
  return fmt::format("{} {} {}", fmt::join(use.algorithms, " and "), plural_of(use.what),
                     members_of(use.communicator));
}

std::string in_words(const ExplainResult& e, int sms) {
  const StepResult& r = e.result;
  if (e.step.slowdown < kHardly) {
    return fmt::format(
        "Communication hardly makes the step longer ({:+.1f} %): of {:.3f} ms of it, {:.3f} ms are exposed.",
        e.step.slowdown * 100, r.communicating.in_us() * 1e-3, r.waited.in_us() * 1e-3);
  }
  const double wait = part_of(e.step, Cause::kWait);
  const double bubble = part_of(e.step, Cause::kBubble);
  const double copies = part_of(e.step, Cause::kCopy);
  const double beside = e.step.slowdown - wait - bubble - copies;
  std::vector<std::pair<double, std::string>> reasons;
  if (const CommunicationUse* most = most_exposed(r); most != nullptr) {
    reasons.emplace_back(wait,
                         fmt::format("compute waits for it or starts late behind it ({}), mostly for the {}",
                                     percent(wait), in_words(*most)));
  }
  reasons.emplace_back(bubble,
                       fmt::format("stages of the pipeline wait for each other ({})", percent(bubble)));
  reasons.emplace_back(copies,
                       fmt::format("data are copied into and out of its buffers ({})", percent(copies)));
  std::vector<CausePart> sharing = e.step.parts;
  std::erase_if(sharing, [](const CausePart& p) {
    return p.cause == Cause::kWait || p.cause == Cause::kCopy || p.cause == Cause::kBubble;
  });
  const auto most = std::ranges::max_element(sharing, {}, &CausePart::slowdown);
  if (most != sharing.end()) {
    reasons.emplace_back(beside, fmt::format("what runs beside it is slower ({}), mostly because {}",
                                             percent(beside), because(most->cause, r, sms)));
  }
  std::ranges::stable_sort(reasons, std::ranges::greater{}, &std::pair<double, std::string>::first);
  std::vector<std::string> named;
  for (const auto& [part, text] : reasons) {
    if (part >= kWorthNaming * e.step.slowdown) named.push_back(text);
  }
  std::string text = fmt::format(
      "Communication makes the step {} longer ({:.3f} instead of {:.3f} ms): ", percent(e.step.slowdown),
      r.step().in_us() * 1e-3, r.step_alone().in_us() * 1e-3);
  return text + fmt::format("{}.", fmt::join(named, "; "));
}

}  // namespace infold::study

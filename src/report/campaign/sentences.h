// What a study shows, in the four sentences that infold was written to check: each with its number by
// machine, and whether it holds there as simulated.
#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/campaign/study_report.h"
#include "sim/params.h"

namespace infold::report {

/// The sentences, in the order of the thesis.
enum class Claim : std::uint8_t { kThroughput, kLonger, kRepaired, kWindow };
inline constexpr std::array kClaims = {
    sim::Named{Claim::kThroughput, "overlapping all-reduce with backpropagation raises throughput",
               "samples per second, overlapped against sequential, minus 1"},
    sim::Named{Claim::kLonger, "backpropagation gets longer beside it",
               "backward beside the collective against backward alone, minus 1"},
    sim::Named{Claim::kRepaired, "a network that reduces repairs that",
               "the part of ring's slow-down of backward that is gone"},
    sim::Named{Claim::kWindow, "the gain lies in a limited range of all-reduce sizes",
               "the most times as fast as ring, at any size"},
};
constexpr std::span<const sim::Named<Claim>> names_of(Claim) {
  return kClaims;
}

/// One sentence about one machine and one way to reduce.
struct Sentence {
  Claim claim = Claim::kThroughput;
  std::string system;
  std::string algo;
  double value = 0;           ///< what names_of(claim) says
  std::string_view unit;      ///< "fraction" or "times"
  bool holds = false;         ///< whether the simulation agrees
  bool hypothetical = false;  ///< the switches of the system are not built to do this
  std::string because = {};   ///< kLonger: the cause that explains most
  /// kWindow: the sizes between which it beats ring; none where it nowhere does. It is limited where a size
  /// beyond was tried.
  std::optional<sim::Bytes> from = {}, to = {};
  bool limited_below = false, limited_above = false;
};

/// In the order of claims, then of cases and windows, then of methods.
std::vector<Sentence> sentences_of(const StudyReport& report);

/// The sentences in a line each, then what is behind each.
std::string sentences_text(const StudyReport& report);
nlohmann::ordered_json sentences_json(const StudyReport& report);
/// The windows as a list of times, one per size and method.
nlohmann::ordered_json flat_windows_json(const StudyReport& report);

}  // namespace infold::report

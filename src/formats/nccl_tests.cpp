// Line by line: headers begin with '#', rows with two numbers and a type; everything else is counted and left
// out.
#include "formats/nccl_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "config/yaml/position.h"
#include "config/yaml/text.h"

namespace infold::formats {

namespace {

constexpr std::size_t kMostMeasuredRows = 200'000;
constexpr std::size_t kLongestLogLine = 4096;
constexpr std::size_t kMostRanksListed = 100'000;

template <class T>
std::optional<T> parsed_number(std::string_view text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (words.size() < 32) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
  return words;
}

/// The line without "[1,0]<stdout>:" of mpirun or "0: " of srun.
std::string_view without_prefix(std::string_view line) {
  if (line.starts_with('[')) {
    const std::size_t stream = line.find("]<std");
    const std::size_t colon = stream == std::string_view::npos ? stream : line.find(':', stream);
    if (colon != std::string_view::npos) return line.substr(colon + 1);
  }
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos || !config::is_digit(line[first])) return line;
  const std::size_t after = line.find_first_not_of("0123456789", first);
  return after != std::string_view::npos && line.substr(after).starts_with(": ") ? line.substr(after + 1)
                                                                                 : line;
}

struct TestName {
  std::string_view test;
  coll::Collective collective;
};
constexpr std::array kTests = {
    TestName{"all_reduce", coll::Collective::kAllReduce},
    TestName{"all_gather", coll::Collective::kAllGather},
    TestName{"reduce_scatter", coll::Collective::kReduceScatter},
    TestName{"broadcast", coll::Collective::kBroadcast},
    TestName{"reduce", coll::Collective::kReduce},
    TestName{"alltoall", coll::Collective::kAllToAll},
    TestName{"sendrecv", coll::Collective::kSendRecv},
};

/// Which test an old log is of, by its operator and how its two bandwidths relate.
std::optional<coll::Collective> guess(const MeasuredRun& run, double bus_over_alg) {
  const double n = run.ranks;
  const bool reduces = run.rows.front().op != "none";
  const auto near = [&](double factor) { return std::abs(bus_over_alg / factor - 1) < 0.01; };
  if (n < 3 || bus_over_alg <= 0) return std::nullopt;
  if (reduces && near(2 * (n - 1) / n)) return coll::Collective::kAllReduce;
  if (reduces && near((n - 1) / n)) return coll::Collective::kReduceScatter;
  if (near(1)) return reduces ? coll::Collective::kReduce : coll::Collective::kBroadcast;
  return std::nullopt;
}

class LogReader {
 public:
  explicit LogReader(Measurements& out) : out_(out) {}

  void line(std::string_view text, int number) {
    text = without_prefix(text);
    if (text.ends_with('\r')) text.remove_suffix(1);
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return;
    if (text[begin] == '#') return header(text.substr(begin + 1));
    if (!row(text, number)) ++others_;
  }
  void finish() {
    end_run();
    if (others_ > 0) out_.notes.ignored.push_back(fmt::format("{} other lines", others_));
    if (cut_ > 0) out_.notes.ignored.push_back(fmt::format("{} rows with columns missing", cut_));
  }
  bool full() const { return rows_ >= kMostMeasuredRows; }

 private:
  void header(std::string_view text) {
    const auto words = words_of(text);
    if (words.empty()) return;
    if (words[0] == "nccl-tests" || words[0] == "Collective" || words[0] == "nThread") {
      if (!run_.rows.empty()) end_run();
    }
    constexpr std::string_view kStarting = "Collective test starting: ";
    if (const std::size_t at = text.find(kStarting); at != std::string_view::npos) {
      const std::string_view test = text.substr(at + kStarting.size());
      for (const TestName& known : kTests) {
        if (test.starts_with(known.test) && test.substr(known.test.size()).starts_with("_perf"))
          run_.collective = known.collective;
      }
    }
    constexpr std::string_view kLibrary = "nccl-library=";
    if (const std::size_t at = text.find(kLibrary); at != std::string_view::npos)
      run_.version = config::shown(words_of(text.substr(at + kLibrary.size())).empty()
                                       ? ""
                                       : words_of(text.substr(at + kLibrary.size()))[0],
                                   16);
    // "Rank  0 Group  0 Pid 4180122 on node3 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3"
    if (words[0] == "Rank" && static_cast<std::size_t>(run_.ranks) < kMostRanksListed) {
      ++run_.ranks;
      const auto on = std::ranges::find(words, "on");
      if (on != words.end() && on + 1 != words.end()) hosts_.insert(std::string(*(on + 1)));
      const std::size_t bracket = text.find("] ");
      if (run_.gpu.empty() && bracket != std::string_view::npos)
        run_.gpu = config::shown(config::trimmed(text.substr(bracket + 2)), 48);
    }
  }

  /// "size count type redop root time algbw busbw wrong", the last four twice; old logs have no root.
  bool row(std::string_view text, int number) {
    const auto words = words_of(text);
    if (words.size() < 3 || config::is_digit(words[2][0])) return false;
    const auto bytes = parsed_number<std::int64_t>(words[0]);
    const auto count = parsed_number<std::int64_t>(words[1]);
    if (!bytes || !count || *bytes < 0) return false;
    MeasuredRow made;
    made.bytes = sim::Bytes{*bytes};
    made.dtype = config::shown(words[2], 16);
    const bool rooted = words.size() == 9 || words.size() == 13;
    if (!rooted && words.size() != 8 && words.size() != 12) {
      ++cut_;
      return true;
    }
    made.op = config::shown(words[3], 16);
    if (rooted) made.root = parsed_number<int>(words[4]).value_or(-1);
    const std::size_t at = rooted ? 5 : 4;
    const auto time = parsed_number<double>(words[at]);
    const auto alg = parsed_number<double>(words[at + 1]);
    const auto bus = parsed_number<double>(words[at + 2]);
    if (!time || !alg || !bus || !(*time > 0)) {
      ++cut_;
      return true;
    }
    made.time_us = *time;
    made.wrong = parsed_number<std::int64_t>(words[at + 3]).value_or(0);  // "N/A" where nothing was checked
    if (words.size() > at + 4) {
      made.in_place_us = parsed_number<double>(words[at + 4]);
      made.wrong += parsed_number<std::int64_t>(words[at + 7]).value_or(0);
    }
    if (run_.rows.empty()) run_.line = number;
    if (*alg > best_alg_) {
      best_alg_ = *alg;
      bus_over_alg_ = *bus / *alg;
    }
    run_.rows.push_back(std::move(made));
    ++rows_;
    return true;
  }

  void end_run() {
    if (!run_.rows.empty()) {
      run_.hosts = static_cast<int>(hosts_.size());
      if (!run_.collective) {
        run_.collective = guess(run_, bus_over_alg_);
        out_.notes.assumed.push_back(
            run_.collective ? fmt::format("the run from line {} on is of {}, by its bandwidths", run_.line,
                                          sim::name_of(*run_.collective))
                            : fmt::format("which test the run from line {} on is of is not said", run_.line));
      }
      out_.runs.push_back(std::move(run_));
    }
    run_ = {};
    hosts_.clear();
    best_alg_ = bus_over_alg_ = 0;
  }

  Measurements& out_;
  MeasuredRun run_;
  std::set<std::string> hosts_;
  double best_alg_ = 0;
  double bus_over_alg_ = 0;
  std::size_t rows_ = 0;
  int others_ = 0;
  int cut_ = 0;
};

}  // namespace

sim::Result<Measurements> read_nccl_tests(std::string_view text, const std::string& file) {
  Measurements out;
  LogReader reader(out);
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ++number;
    if (end <= kLongestLogLine) reader.line(text.substr(0, end), number);
    if (reader.full())
      return sim::fail(config::at(file, {number, 1}, fmt::format("more than {} rows", kMostMeasuredRows)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  reader.finish();
  if (out.runs.empty()) return sim::fail(config::at(file, {1, 1}, "there is no row of results in it"));
  std::int64_t rows = 0;
  std::int64_t wrong = 0;
  std::string tests;
  for (const MeasuredRun& run : out.runs) {
    rows += static_cast<std::int64_t>(run.rows.size());
    for (const MeasuredRow& row : run.rows) wrong += row.wrong;
    tests += fmt::format("{}{}", tests.empty() ? "" : ", ",
                         run.collective ? sim::name_of(*run.collective) : "unknown");
  }
  const MeasuredRun& first = out.runs.front();
  out.notes.fact("runs", static_cast<std::int64_t>(out.runs.size()));
  out.notes.fact("collectives", std::move(tests));
  out.notes.fact("ranks", std::int64_t{first.ranks});
  out.notes.fact("hosts", std::int64_t{first.hosts});
  out.notes.fact("gpu", first.gpu);
  if (!first.version.empty()) out.notes.fact("nccl", first.version);
  out.notes.fact("rows", rows);
  out.notes.fact("wrong", wrong);
  return out;
}

}  // namespace infold::formats

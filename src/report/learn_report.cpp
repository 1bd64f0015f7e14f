// Formatting of training runs.
#include "report/learn_report.h"
#include "report/json.h"

#include <fmt/format.h>

#include <algorithm>

#include "study/collective/method.h"
#include "study/hypothetical.h"

namespace infold::report {

namespace {

using study::LearnResult;

constexpr std::size_t kLines = 11;  // lines of the curve
constexpr double kBar = 40;         // characters of the longest bar

std::string method_of(const LearnResult& r) {
  const bool own = r.algorithm->in_network || r.engine == coll::Engine::kSm;
  return study::name_of({.algorithm = r.algorithm, .engine = own ? coll::Engine::kSm : r.engine});
}

std::string curve(const std::vector<float>& loss) {
  const double most = *std::max_element(loss.begin(), loss.end());
  std::string text = fmt::format("  {:>6}  {:>10}\n", "step", "loss");
  const std::size_t lines = std::min(kLines, loss.size());
  for (std::size_t i = 0; i < lines; ++i) {
    const std::size_t step = lines == 1 ? 0 : i * (loss.size() - 1) / (lines - 1);
    const auto length = static_cast<std::size_t>(most > 0 ? loss[step] / most * kBar + 0.5 : 0);
    text += fmt::format("  {:>6}  {:>10.6f}  {}\n", step, loss[step], std::string(length, '#'));
  }
  return text;
}

std::string verdict(const LearnResult& r) {
  if (r.wrong > 0) return fmt::format("{} sums are WRONG", r.wrong);
  if (r.different_weights == 0) return "bit for bit those of one process";
  return fmt::format("within {:.2g} of one process", r.largest_difference);
}

/// Six digits are more than a float holds.
double six_digits(double v) {
  return std::stod(fmt::format("{:.6g}", v));
}
std::vector<double> six_digits(const std::vector<float>& v) {
  std::vector<double> out;
  out.reserve(v.size());
  for (const float x : v) out.push_back(six_digits(static_cast<double>(x)));
  return out;
}

}  // namespace

std::string learn_text(const LearnReport& r) {
  const LearnResult& first = r.runs.front();
  std::string text = fmt::format(
      "two spirals, learnt on {} GPUs of {}: layers of {} neurons, {} weights, {} gradients, {} samples per "
      "GPU and step\n\n{}\n",
      r.gpus, r.system, fmt::join(first.layers, "-"), first.parameters, r.dtype, r.batch, curve(first.loss));
  text += fmt::format("  {:<18} {:<7} {:>12} {:>9}  {}\n", "algorithm", "proto", "all-reduce", "accuracy",
                      fmt::format("weights after {} steps", first.loss.size()));
  for (const LearnResult& run : r.runs) {
    text += fmt::format("  {:<18} {:<7} {:>9.2f} us {:>7.1f} %  {}\n", method_of(run),
                        sim::name_of(run.protocol), run.all_reduce.in_us(), run.accuracy * 100, verdict(run));
    if (study::is_hypothetical(r.built, run.algorithm))
      text += fmt::format("  {:<18} hypothetical: its switches are not built to do this\n", "");
    if (run.ranks_apart > 0)
      text += fmt::format("  {:<18} ranks differ from each other by up to {:.2g}\n", "", run.ranks_apart);
  }
  text += fmt::format("  {:<18} {:<7} {:>12} {:>7.1f} %\n", "one process", "", "",
                      first.reference.accuracy * 100);
  return text + "\n  one process: adds the ranks' gradients in the order of ranks\n";
}

std::string learn_json(const LearnReport& r) {
  const LearnResult& first = r.runs.front();
  Json runs = Json::array();
  for (const LearnResult& run : r.runs) {
    runs.push_back({{"algo", run.algorithm->name},
                    {"proto", sim::name_of(run.protocol)},
                    {"engine", sim::name_of(run.engine)},
                    {"all_reduce_us", six_digits(run.all_reduce.in_us())},
                    {"wrong", run.wrong},
                    {"equal", run.different_weights == 0},
                    {"different_weights", run.different_weights},
                    {"largest_difference", six_digits(run.largest_difference)},
                    {"ranks_apart", six_digits(run.ranks_apart)},
                    {"accuracy", six_digits(run.accuracy)},
                    {"loss", six_digits(run.loss)}});
    if (run.algorithm->in_network)
      runs.back()["hypothetical"] = study::is_hypothetical(r.built, run.algorithm);
  }
  const Json json = {
      {"schema", 1},
      {"command", "learn"},
      {"system", r.system},
      {"gpus", r.gpus},
      {"layers", first.layers},
      {"parameters", first.parameters},
      {"batch", r.batch},
      {"steps", first.loss.size()},
      {"dtype", r.dtype},
      {"reference",
       {{"accuracy", six_digits(first.reference.accuracy)}, {"loss", six_digits(first.reference.loss)}}},
      {"runs", std::move(runs)}};
  return json.dump(1) + "\n";
}

}  // namespace infold::report

// Causes beside each other for the step, its two passes and its kernels; and what of the step is waiting.
#include "report/explain_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/json.h"
#include "report/step_json.h"
#include "study/step/explain_words.h"

namespace infold::report {

namespace {

using study::Cause;
using study::CausePart;
using study::Causes;
using study::ExplainResult;

std::string whole_line(const char* name, sim::Time alone, sim::Time whole, double slowdown) {
  return fmt::format("  {:<10} {:>12.3f} ms {:>12.3f} ms {:>+9.2f} %\n", name, ms(alone), ms(whole),
                     slowdown * 100);
}

/// The step is 24 characters wide, or fewer where a longer part would not fit a line.
std::string cause_bar(const Causes& causes, double part) {
  constexpr double kWidth = 24;
  double whole = std::max(std::abs(causes.slowdown), 1e-9);
  for (const CausePart& p : causes.parts) whole = std::max(whole, std::abs(p.slowdown) / 2);
  const auto width = static_cast<std::size_t>(std::lround(std::abs(part) / whole * kWidth));
  return std::string(width, part < 0 ? '-' : '#');
}

std::string cause_lines(const ExplainResult& e) {
  std::string text = fmt::format("  {:<12} {:>10} {:>10} {:>10}\n", "cause", "step", "forward", "backward");
  for (std::size_t i = 0; i < e.step.parts.size(); ++i) {
    const Cause cause = e.step.parts[i].cause;
    if (cause == Cause::kBubble && e.result.bubble == sim::Time{}) continue;
    if (cause == Cause::kCopy && e.result.copied.step == sim::Time{}) continue;
    if (cause == Cause::kLink && !e.why_no_link().empty()) {
      text += fmt::format("  {:<12} {:>10} {:>10} {:>10}  {}\n", "link", "-", "-", "-", e.why_no_link());
      continue;
    }
    text += fmt::format("  {:<12} {:>+8.2f} % {:>+8.2f} % {:>+8.2f} %  {}\n", sim::name_of(cause),
                        e.step.parts[i].slowdown * 100, e.forward.parts[i].slowdown * 100,
                        e.backward.parts[i].slowdown * 100, cause_bar(e.step, e.step.parts[i].slowdown));
  }
  if (e.links_are_shared()) {
    text += fmt::format("  several communicators at work together for {:.3f} ms\n", ms(e.result.together));
  }
  return text;
}

std::vector<study::CommunicationUse> by_exposure(const study::StepResult& r) {
  std::vector<study::CommunicationUse> all = r.communication;
  std::ranges::stable_sort(all, std::ranges::greater{}, &study::CommunicationUse::exposed);
  return all;
}

double of_step(const study::StepResult& r, sim::Time t) {
  return t.in_s() / r.step().in_s();
}

std::string exposed_lines(const study::StepResult& r) {
  std::string text =
      fmt::format("  {:<18} {:<15} {:<10} {:>10} {:>11} {:>8} {:>11} {:>11}\n", "exposed", "collective",
                  "algorithm", "busy ms", "exposed ms", "of step", "in forward", "in backward");
  for (const study::CommunicationUse& c : by_exposure(r)) {
    text += fmt::format("  {:<18} {:<15} {:<10} {:>10.3f} {:>11.3f} {:>6.1f} % {:>11.3f} {:>11.3f}\n",
                        c.communicator, sim::name_of(c.what), fmt::format("{}", fmt::join(c.algorithms, ",")),
                        ms(c.busy), ms(c.exposed), of_step(r, c.exposed) * 100, ms(c.exposed_in_forward),
                        ms(c.exposed_in_backward));
  }
  return text;
}

std::string class_lines(const ExplainResult& e) {
  std::string text = fmt::format("  {:<12} {:>10} {:>10} {:>9} {:>9}", "kernels", "alone ms", "beside ms",
                                 "slower", "while c.");
  const auto& names = e.kernels.empty() ? e.step.parts : e.kernels.front().causes.parts;
  for (const CausePart& p : names)
    text +=
        fmt::format(" {:>8}", sim::name_of(p.cause) == "interaction" ? "together" : sim::name_of(p.cause));
  text += "\n";
  for (std::size_t i = 0; i < e.kernels.size(); ++i) {
    const study::KernelUse& use = e.result.kernels[i];
    text += fmt::format("  {:<12} {:>10.3f} {:>10.3f} {:>+7.1f} % {:>+7.1f} %", sim::name_of(use.what),
                        ms(use.alone), ms(use.beside), use.slowdown() * 100, use.slowdown_beside() * 100);
    for (const CausePart& p : e.kernels[i].causes.parts) text += fmt::format(" {:>+8.1f}", p.slowdown * 100);
    text += "\n";
  }
  return text + "  while c.: percent, while communication was under way on that GPU\n";
}

Json causes_json(const ExplainResult& e, const Causes& causes) {
  Json all = Json::array();
  for (const CausePart& part : causes.parts) {
    Json one = {{"cause", sim::name_of(part.cause)}, {"slowdown", rounded(part.slowdown)}};
    if (part.cause == Cause::kLink && !e.why_no_link().empty())
      one["why"] = e.links_are_shared() ? e.why_no_link() : "nothing shares links";
    all.push_back(std::move(one));
  }
  return all;
}

Json exposed_json(const study::StepResult& r) {
  Json all = Json::array();
  for (const study::CommunicationUse& c : by_exposure(r)) {
    all.push_back({{"name", c.communicator},
                   {"collective", sim::name_of(c.what)},
                   {"exposed_ms", ms(c.exposed)},
                   {"of_step", rounded(of_step(r, c.exposed))},
                   {"forward_ms", ms(c.exposed_in_forward)},
                   {"backward_ms", ms(c.exposed_in_backward)}});
  }
  return all;
}

}  // namespace

std::string explain_text(const ExplainReport& report) {
  const ExplainResult& e = report.result;
  const study::StepResult& r = e.result;
  const StepLabel& l = report.label;
  std::string text = fmt::format("{}, gradients by {}\n\n", title(l, r.passes), l.sync);
  text += fmt::format("  {:<10} {:>15} {:>15} {:>11}\n", "", "kernels alone", "as it runs", "slower");
  text += whole_line("forward", r.alone.times.forward(), r.forward, e.forward.slowdown);
  text += whole_line("backward", r.alone.times.backward(), r.backward, e.backward.slowdown);
  text += whole_line("step", r.step_alone(), r.step(), e.step.slowdown);
  text += "\n" + cause_lines(e) + "\n" + exposed_lines(r) + "\n" + class_lines(e) + "\n";
  const std::size_t tables = text.size();
  if (r.bubble > sim::Time{}) {
    text +=
        fmt::format("  bubble {:.3f} ms, {:.1f} % of the step\n", ms(r.bubble), of_step(r, r.bubble) * 100);
  }
  if (l.tokens > 0) {
    text += fmt::format("  {:.0f} tokens/s per GPU, MFU {:.1f} %\n", samples_per_s(l, r) * l.tokens / l.gpus,
                        mfu(l, r) * 100);
  }
  if (text.size() > tables) text += "\n";
  text += study::in_words(e, report.sms) + "\n";
  const std::string unreal = hypothetical_text(l, std::span(&l.method, 1));
  if (!unreal.empty()) text += "\n" + unreal;
  if (report.wall_s) text += fmt::format("\n  simulated in {:.2f} s\n", *report.wall_s);
  return text;
}

std::string explain_json(const ExplainReport& report) {
  const ExplainResult& e = report.result;
  Json json = {{"schema", 1}, {"command", "explain"}};
  json.update(step_fields(report.label, e.result));
  json["backward_slowdown"] = e.backward.slowdown;
  json["causes"] = causes_json(e, e.backward);
  json["forward_slowdown"] = e.forward.slowdown;
  json["forward_causes"] = causes_json(e, e.forward);
  json["step_alone_ms"] = ms(e.result.step_alone());
  json["step_slowdown"] = e.step.slowdown;
  json["step_causes"] = causes_json(e, e.step);
  json["exposed_comm"] = exposed_json(e.result);
  json["together_ms"] = ms(e.result.together);
  for (std::size_t i = 0; i < e.kernels.size(); ++i)
    json["kernels"][i]["causes"] = causes_json(e, e.kernels[i].causes);
  json["sentence"] = study::in_words(e, report.sms);
  if (report.wall_s) json["sim"] = {{"wall_s", *report.wall_s}};
  return json.dump(1) + "\n";
}

}  // namespace infold::report

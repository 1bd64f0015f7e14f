// Goes through the layouts from the nearest on, and leaves out those that change more than another that fits.
#include "study/step/fitting_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "study/step/planned_step.h"
#include "train/strategy/sharding.h"

namespace infold::study {

namespace {

constexpr std::size_t kShown = 4;
constexpr int kTries = 6;

double gigabytes_of(sim::Bytes n) {
  return static_cast<double>(n.count()) * 1e-9;
}

/// What a candidate changes. Each setting is better for memory the higher it is.
struct Settings {
  int tp = 1;
  int pp = 1;
  train::SyncKind sync = train::SyncKind::kDdp;
  train::Recompute recompute = train::Recompute::kNone;
  int batch = 1;

  /// How far it is from what was asked for. Sharding and recomputation are smaller steps than cutting layers
  /// or the model in two.
  int distance(const Settings& asked) const {
    int d = sync != asked.sync ? 1 : 0;
    d += static_cast<int>(recompute) - static_cast<int>(asked.recompute);
    for (int n = asked.tp; n < tp; n *= 2) d += 2;
    for (int n = asked.pp; n < pp; n *= 2) d += 2;
    for (int n = batch; n < asked.batch; n *= 2) d += 1;
    return d;
  }
  /// Whether everything that it changes is as in `other`.
  bool part_of(const Settings& other, const Settings& asked) const {
    const auto within = [](const auto& mine, const auto& theirs, const auto& was) {
      return mine == was || mine == theirs;
    };
    return within(tp, other.tp, asked.tp) && within(pp, other.pp, asked.pp) &&
           within(sync, other.sync, asked.sync) && within(recompute, other.recompute, asked.recompute) &&
           (batch == asked.batch || batch >= other.batch);
  }
};

class Search {
 public:
  Search(const StepJob& asked, train::Numbers numbers)
      : asked_(asked),
        numbers_(numbers),
        was_{.tp = asked.layout.tp,
             .pp = asked.layout.pp,
             .sync = asked.sync.kind,
             .recompute = asked.recipe.recompute,
             .batch = asked.recipe.batch},
        room_(asked.system->machine.gpu.hbm.capacity) {}

  FittingLayouts run() {
    for (const Settings& s : candidates()) {
      if (fit_.size() == kShown) break;
      if (!changes_more_than_needed(s)) look_at(s);
    }
    std::ranges::stable_sort(fit_, {}, [&](const auto& f) { return f.first.distance(was_); });
    FittingLayouts all;
    for (const auto& [settings, memory] : fit_) all.nearest.push_back(layout_of(settings, memory));
    if (all.nearest.empty() && least_) all.least = layout_of(least_->first, least_->second);
    return all;
  }

 private:
  /// With the batch that was asked for, from the nearest on.
  std::vector<Settings> candidates() const {
    std::vector<train::SyncKind> syncs = {was_.sync};
    for (const train::SyncKind kind : {train::SyncKind::kZero1, train::SyncKind::kFsdp}) {
      if (train::sharding_of(kind) > train::sharding_of(was_.sync)) syncs.push_back(kind);
    }
    std::vector<Settings> all;
    for (int tp = was_.tp; tp <= asked_.gpus; tp *= 2) {
      for (int pp = was_.pp; tp * pp <= asked_.gpus; pp *= 2) {
        for (const train::SyncKind sync : syncs) {
          for (const auto& recompute : train::kRecomputeNames) {
            if (recompute.value >= was_.recompute) all.push_back({tp, pp, sync, recompute.value, was_.batch});
          }
        }
      }
    }
    std::ranges::stable_sort(all, {}, [&](const Settings& s) { return s.distance(was_); });
    return all;
  }

  /// Whether another that fits changes only some of what this one changes.
  bool changes_more_than_needed(const Settings& s) const {
    return std::ranges::any_of(fit_, [&](const auto& f) { return f.first.part_of(s, was_); });
  }

  StepJob job_of(const Settings& s) const {
    StepJob job = asked_;
    job.layout.tp = s.tp;
    job.layout.pp = s.pp;
    job.layout.dp = 0;
    job.sequence_parallel = s.tp > was_.tp || job.sequence_parallel;
    job.sync.kind = s.sync;
    job.recipe.recompute = s.recompute;
    job.recipe.batch = s.batch;
    job.recipe.numbers = numbers_;
    return job;
  }

  FittingLayout layout_of(const Settings& s, sim::Bytes memory) const {
    return {.job = job_of(s), .options = options_of(s), .memory = memory};
  }

  /// Nothing if there is no such layout.
  std::optional<train::MemoryNeed> need_of(const Settings& s) const {
    StepJob job = job_of(s);
    auto layout = train::fill(job.layout, job.gpus);
    if (!layout) return std::nullopt;
    job.layout = *layout;
    const auto planned = plan_step(job);
    return planned ? std::optional(planned->memory) : std::nullopt;
  }

  void look_at(Settings s) {
    // What recomputation and the batch do not change is looked at once; if it is too much alone, only the
    // least matters.
    const auto place = fixed_.find({s.tp, s.pp, s.sync});
    const bool hopeless = place != fixed_.end() && place->second > room_;
    if (hopeless && s.recompute != train::Recompute::kFull) return;
    auto need = need_of(s);
    if (!need) return;
    const sim::Bytes fixed = need->weights + need->gradients + need->optimizer;
    fixed_[{s.tp, s.pp, s.sync}] = fixed;
    note_least(s, need->total());
    // Not all of the rest grows with the batch, so a batch in proportion may still be too large by a little.
    for (int tries = 0; tries < kTries && need->total() > room_ && fixed < room_ && s.batch > 1; ++tries) {
      const double share =
          static_cast<double>((room_ - fixed).count()) / static_cast<double>((need->total() - fixed).count());
      s.batch = std::clamp(static_cast<int>(share * s.batch), 1, s.batch - 1);
      need = need_of(s);
      if (!need) return;
      note_least(s, need->total());
    }
    if (need->total() <= room_ && !changes_more_than_needed(s)) fit_.emplace_back(s, need->total());
  }

  void note_least(const Settings& s, sim::Bytes memory) {
    if (!least_ || memory < least_->second) least_ = {s, memory};
  }

  std::string options_of(const Settings& s) const {
    std::vector<std::string> words;
    if (numbers_ != asked_.recipe.numbers) words.push_back(fmt::format("--dtype {}", sim::name_of(numbers_)));
    const bool cut = s.tp != was_.tp || s.pp != was_.pp;
    if (cut && asked_.layout.dp > 0) {
      const int dp = asked_.gpus / (s.tp * s.pp * asked_.layout.cp);
      words.push_back(fmt::format("--dp {}", dp));
    }
    if (s.tp != was_.tp) words.push_back(fmt::format("--tp {}", s.tp));
    if (s.pp != was_.pp) words.push_back(fmt::format("--pp {}", s.pp));
    if (s.sync != was_.sync) words.push_back(fmt::format("--sync {}", sim::name_of(s.sync)));
    if (s.recompute != was_.recompute)
      words.push_back(fmt::format("--recompute {}", sim::name_of(s.recompute)));
    if (s.batch != was_.batch) words.push_back(fmt::format("--batch {}", s.batch));
    return fmt::format("{}", fmt::join(words, " "));
  }

  const StepJob& asked_;
  train::Numbers numbers_;
  Settings was_;
  sim::Bytes room_;
  std::map<std::tuple<int, int, train::SyncKind>, sim::Bytes> fixed_;
  std::vector<std::pair<Settings, sim::Bytes>> fit_;
  std::optional<std::pair<Settings, sim::Bytes>> least_;
};

}  // namespace

FittingLayouts fitting_layouts(const StepJob& asked) {
  FittingLayouts found = Search(asked, asked.recipe.numbers).run();
  if (!found.nearest.empty() || asked.recipe.has_master()) return found;
  FittingLayouts shorter = Search(asked, train::Numbers::kBf16).run();
  if (!shorter.nearest.empty() || !found.least) return shorter;
  const bool less = shorter.least && shorter.least->memory < found.least->memory;
  return less ? shorter : found;
}

std::string in_words(const FittingLayouts& layouts, int gpus) {
  if (!layouts.nearest.empty()) {
    std::vector<std::string> each;
    for (const FittingLayout& l : layouts.nearest)
      each.push_back(fmt::format("{} ({:.1f} GB)", l.options, gigabytes_of(l.memory)));
    return fmt::format("on these {} GPUs it fits with {}; ", gpus, fmt::join(each, ", or "));
  }
  if (!layouts.least) return {};
  return fmt::format("no layout of these {} GPUs fits, the least is {:.1f} GB{}{}: take more of them; ", gpus,
                     gigabytes_of(layouts.least->memory), layouts.least->options.empty() ? "" : " with ",
                     layouts.least->options);
}

}  // namespace infold::study

// When the options of train, compare and explain have an effect.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cli/options/effects.h"
#include "cli/options/systems.h"
#include "cli/options/train_options.h"
#include "coll/algo/algorithms.h"
#include "train/strategy/sync_spec.h"

namespace infold::cli {

namespace {

bool is_synchroniser(const std::string& word) {
  return std::ranges::any_of(train::kSyncNames, [&](const auto& n) { return n.name == word; });
}

/// The options of one or two synchronisers. A word that is not a synchroniser is refused elsewhere.
void add_sync_effects(CLI::App& c, const TrainArguments& a, Effects& effects) {
  struct Own {
    const char* option;
    const char* sync;
    const char* other = nullptr;
  };
  constexpr std::array<Own, 9> kOwn = {{{"--bucket", "ddp"},
                                        {"--first-bucket", "ddp"},
                                        {"--gradient-as-view", "ddp"},
                                        {"--fusion-size", "horovod"},
                                        {"--cycle", "horovod"},
                                        {"--packs", "tensorflow"},
                                        {"--shard", "hsdp"},
                                        {"--reshard", "fsdp", "hsdp"},
                                        {"--reduce-dtype", "fsdp", "hsdp"}}};
  for (const Own& own : kOwn) {
    effects.add(c.get_option(own.option), [&a, own]() -> std::string {
      if (a.sync == own.sync || (own.other != nullptr && a.sync == own.other) || !is_synchroniser(a.sync))
        return "";
      return fmt::format("with --sync {}; it is an option of {}{}", a.sync, own.sync,
                         own.other == nullptr ? "" : fmt::format(" and {}", own.other));
    });
  }
}

/// Options of one kind of parallelism.
void add_layout_effects(CLI::App& c, const TrainArguments& a, Effects& effects) {
  effects.only(
      c.get_option("--gather-engine"),
      [&a] {
        const bool shards =
            a.sync != "ddp" && a.sync != "horovod" && a.sync != "tensorflow" && a.sync != "per-tensor";
        return shards || a.layout.tp > 1 || a.layout.cp > 1;
      },
      "without all-gathers: --sync zero1, zero2, fsdp or hsdp, --tp or --cp has them");
  effects.only(
      c.get_option("--sp"), [&a] { return a.layout.tp > 1; }, "without --tp, which splits layers");
  effects.only(
      c.get_option("--cp-comm"), [&a] { return a.layout.cp > 1; }, "without --cp, which divides sequences");
  effects.only(
      c.get_option("--expert-skew"), [&a] { return a.layout.ep > 1; }, "without --ep, which divides experts");
  effects.only(
      c.get_option("--ep-comm"), [&a] { return a.layout.ep > 1; }, "without --ep, which divides experts");
  for (const char* option : {"--schedule", "--micro-batches"}) {
    effects.only(
        c.get_option(option), [&a] { return a.layout.pp > 1; }, "without --pp, which makes stages");
  }
  effects.only(
      c.get_option("--virtual"), [&a] { return a.layout.pp > 1 && a.schedule == "interleaved"; },
      "without --pp and --schedule interleaved");
  for (const char* option : {"--first-bucket", "--gradient-as-view"}) {
    effects.only(
        c.get_option(option), [&a] { return a.layout.pp == 1; },
        "with --pp, where gradients of micro-batches are added up in buckets of one size");
  }
  effects.only(
      c.get_option("--accumulate"), [&a] { return a.layout.pp == 1; },
      "with --pp, where --micro-batches are added up");
}

/// What is asked of an algorithm. Its engine is the one that --engine names, unless it has one of its own
/// ("ring@dma").
struct Asked {
  const coll::Algorithm* algorithm;
  std::string engine;
};
std::vector<Asked> asked_of(const TrainArguments& a) {
  std::vector<Asked> all;
  for (const std::string& word : split(a.algorithms)) {
    const std::size_t at = word.find('@');
    all.push_back(
        {coll::find_algorithm(word.substr(0, at)), at == std::string::npos ? a.engine : word.substr(at + 1)});
  }
  return all;
}

}  // namespace

void add_collective_effects(CLI::App& c, const TrainArguments& a, Effects& effects) {
  for (const char* name : {"--algo", "--engine", "--channels"}) {
    effects.only(
        c.get_option(name), [&a] { return a.programs.empty() || a.beside_programs; },
        "with --program, which brings its own steps");
  }
  effects.only(
      c.get_option("--engine"),
      [&a] {
        return std::ranges::any_of(split(a.algorithms),
                                   [](const auto& word) { return word.find('@') == std::string::npos; });
      },
      "where every algorithm has its own, as ring@dma");
  effects.only(
      c.get_option("--channels"),
      [&a] {
        return std::ranges::any_of(asked_of(a), [](const Asked& asked) {
          return asked.engine == "sm" && (asked.algorithm == nullptr || !asked.algorithm->in_network);
        });
      },
      "where no algorithm runs on workgroups of coll.channels (dma has gpu.copy.engines, ace "
      "gpu.ace.machines, "
      "nvls coll.nvls.channels)");
  effects.only(
      c.get_option("--priority"),
      [&a] {
        return a.layout.pp > 1 || !a.programs.empty() ||
               std::ranges::any_of(asked_of(a), [](const Asked& asked) {
                 return asked.algorithm == nullptr || asked.algorithm->unit != inc::Unit::kProposed;
               });
      },
      "with inc-pull and inc-push, which hold no SM");
  effects.only(
      c.get_option("--seed"), [&a] { return !a.skew.empty(); }, "without --skew, the one thing by chance");
}

namespace {

void add_fold_effects(CLI::App& c, const TrainArguments& a, Effects& effects) {
  const auto folds = [&a] {
    return std::ranges::any_of(asked_of(a), [](const Asked& asked) {
      return asked.algorithm == nullptr || !asked.algorithm->in_network;
    });
  };
  effects.only(c.get_option("--fold"), folds, "where switches reduce, which all GPUs meet in");
  effects.only(
      c.get_option("--fold"), [&a] { return a.gpus == 0 || a.gpus > 4; },
      "on four GPUs or fewer, which are simulated as they are");
}

/// The options that one GPU by itself has no use for.
void add_alone_effects(CLI::App& c, const TrainArguments& a, Effects& effects) {
  constexpr std::array kTogether = {"--sync",         "--bucket",
                                    "--first-bucket", "--gradient-as-view",
                                    "--fusion-size",  "--cycle",
                                    "--packs",        "--shard",
                                    "--reshard",      "--reduce-dtype",
                                    "--dp",           "--tp",
                                    "--sp",           "--pp",
                                    "--cp",           "--ep",
                                    "--expert-skew",  "--schedule",
                                    "--virtual",      "--micro-batches",
                                    "--ep-comm",      "--gather-engine",
                                    "--algo",         "--engine",
                                    "--proto",        "--channels",
                                    "--priority",     "--without",
                                    "--sms-reserved", "--skew",
                                    "--burst",        "--fold",
                                    "--overlap",      "--sequential",
                                    "--program",      "--workload",
                                    "--fidelity",     "--budget",
                                    "--no-cache",     "--env"};
  for (const char* name : kTogether) {
    const CLI::Option* option = c.get_option_no_throw(name);
    if (option == nullptr) continue;
    effects.only(
        option, [&a] { return a.gpus != 1; }, "on one GPU, which has nothing to communicate with");
  }
}

}  // namespace

void add_train_effects(CLI::App& c, const TrainArguments& a, Effects& effects) {
  add_alone_effects(c, a, effects);
  add_sync_effects(c, a, effects);
  add_layout_effects(c, a, effects);
  add_collective_effects(c, a, effects);
  add_fold_effects(c, a, effects);
  add_fidelity_effects(c, a.fidelity, effects);
  if (const CLI::Option* interval = c.get_option_no_throw("--trace-interval")) {
    effects.only(
        interval, [&a] { return !a.trace.file.empty(); }, "without --trace");
  }
  if (c.get_option_no_throw("--sequential") != nullptr) {
    effects.only(
        c.get_option("--priority"), [&a] { return !a.sequential; },
        "with --sequential, where collectives wait for the end of backward");
  }
}

}  // namespace infold::cli

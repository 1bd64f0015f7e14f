// The command line: which commands there are. Each command is one file that only connects the other rooms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/result.h"

namespace CLI {
class App;
}

namespace infold::cli {

class Effects;

inline constexpr std::string_view kVersion = "0.1.0";

/// Exit codes that scripts rely on.
enum Exit : int {
  kDone = 0,
  kFailed = 1,  ///< the simulation failed: a deadlock, a wrong value
  kBadInput = 2,
  kInterrupted = 130,
};

/// Runs one command line and returns its exit code.
int run(int argc, char** argv);

/// Each of these adds its command to `app`. The command stores its exit code in `exit` when it is called.
/// `typed` is the command line, for reports that say how they were made. `effects` learns when options have
/// an effect that have none in some modes of the command.
void add_bench(CLI::App& app, const std::string& typed, int& exit, Effects& effects);
/// The kernels that bench can time.
void add_bench_kernels(CLI::App& bench, const std::string& typed, int& exit, Effects& effects);
void add_check(CLI::App& app, int& exit);
void add_doctor(CLI::App& app, const std::string& typed, int& exit);
void add_export(CLI::App& app, int& exit);
void add_import(CLI::App& app, int& exit);
void add_list(CLI::App& app, int& exit);
void add_replay(CLI::App& app, const std::string& typed, int& exit, Effects& effects);
void add_program(CLI::App& app, int& exit, Effects& effects);
void add_describe(CLI::App& app, int& exit);
void add_train(CLI::App& app, const std::string& typed, int& exit, Effects& effects);
void add_compare(CLI::App& app, const std::string& typed, int& exit, Effects& effects);
void add_explain(CLI::App& app, const std::string& typed, int& exit, Effects& effects);
void add_study(CLI::App& app, const std::string& typed, int& exit);
void add_sweep(CLI::App& app, const std::string& typed, int& exit);
void add_learn(CLI::App& app, int& exit);
void add_validate(CLI::App& app, const std::string& typed, int& exit);

/// Whether the words of a command line make sense, as far as can be said without running it.
sim::Status check_words(const std::vector<std::string>& words);

}  // namespace infold::cli

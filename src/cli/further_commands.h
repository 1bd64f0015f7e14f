// Commands that run others or train for real, and what they need to know of a command line.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace infold::cli {

/// What is wrong with the words of a command line, as far as can be said without running it; or empty.
std::string refuse_words(const std::vector<std::string>& words);

/// As those in cli/app.h.
void add_learn(CLI::App& app, int& exit);
void add_sweep(CLI::App& app, int& exit);

}  // namespace infold::cli

// Splits commands into words.
#include "study/campaign/command_run.h"

#include <cstddef>

namespace infold::study {

std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  char quote = 0;        // the quote that is open, if any
  bool in_word = false;  // a pair of quotes alone is a word too
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (quote == 0 && space) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == '"' && c == '\\' && i + 1 < command.size() &&
               (command[i + 1] == '"' || command[i + 1] == '\\')) {
      words.back() += command[++i];
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::vector<std::string> words_for_result(std::vector<std::string> words) {
  words.insert(words.end(), {"--json", "--no-timing"});
  return words;
}

}  // namespace infold::study

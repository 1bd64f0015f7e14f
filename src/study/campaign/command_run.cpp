// Commands as words.
#include "study/campaign/command_run.h"

#include <sstream>

namespace infold::study {

std::vector<std::string> words_of(std::string_view command) {
  std::istringstream in{std::string(command)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> words_for_result(std::vector<std::string> words) {
  words.insert(words.end(), {"--json", "--no-timing"});
  return words;
}

}  // namespace infold::study

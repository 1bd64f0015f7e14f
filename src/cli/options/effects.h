// Which options of a command line have an effect. Each option that depends on others says when it has one; if
// it is given where it has none, the command line is refused, so that nothing that is asked for is ignored.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/result.h"

namespace CLI {
class Option;
}

namespace infold::cli {

class Effects {
 public:
  /// The reason why the option has no effect on the command line that was parsed ("without --check"); empty
  /// if it has one.
  using WhyNot = std::function<std::string()>;

  /// There may be several for one option. What `why_not` refers to must live as long as the command.
  void add(const CLI::Option* option, WhyNot why_not);
  /// The option has an effect only if `has_effect` says so; `otherwise` is a reason such as "without
  /// --check".
  void only(const CLI::Option* option, std::function<bool()> has_effect, std::string otherwise);

  /// Refuses the first option that was given and has no effect. Requires: the command line was parsed.
  sim::Status check() const;

 private:
  struct Rule {
    const CLI::Option* option;
    WhyNot why_not;
  };
  std::vector<Rule> rules_;
};

}  // namespace infold::cli

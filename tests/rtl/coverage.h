// Functional coverage: situations that random packets have to meet. A bin that stays empty is a failure,
// because what was never met was never compared.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace infold::rtl {

class Coverage {
 public:
  explicit Coverage(const std::vector<std::string>& bins) {
    for (const auto& b : bins) counts_[b] = 0;
  }
  void met(const std::string& bin, bool really = true) { counts_.at(bin) += really ? 1 : 0; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }
  std::string empty() const {
    std::string names;
    for (const auto& [name, count] : counts_) {
      if (count == 0) names += (names.empty() ? "" : ", ") + name;
    }
    return names;
  }

 private:
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace infold::rtl

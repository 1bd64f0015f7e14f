// Statistics: components count in plain members; the registry binds a name to each once and reads it
// when asked, so the hot path pays nothing for being observed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace infold::sim {

class StatRegistry {
 public:
  /// `counter` must outlive the registry.
  void add(std::string name, const std::uint64_t& counter) {
    entries_.emplace_back(std::move(name), &counter);
  }

  /// Current values in order of registration.
  std::vector<std::pair<std::string, std::uint64_t>> snapshot() const {
    std::vector<std::pair<std::string, std::uint64_t>> out;
    out.reserve(entries_.size());
    for (const auto& [name, counter] : entries_) out.emplace_back(name, *counter);
    return out;
  }

 private:
  std::vector<std::pair<std::string, const std::uint64_t*>> entries_;
};

}  // namespace infold::sim

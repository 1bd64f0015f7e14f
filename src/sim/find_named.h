// Searching a table whose rows have names.
#pragma once

#include <string_view>

namespace infold::sim {

/// The row of this name; null where there is none.
template <class Table>
constexpr auto find_named(const Table& table, std::string_view name) -> decltype(&*table.begin()) {
  for (const auto& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace infold::sim

// "Did you mean": the known word nearest to what was typed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace infold::config {

/// The number of letters to change, add, drop or swap with their neighbour to get from one word to the other;
/// case is ignored.
int edit_distance(std::string_view a, std::string_view b);

/// The nearest of the words, if it is near enough to be a typing error. The first one wins a tie.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known);

/// " (did you mean 'x'?)", or nothing when no word is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace infold::config

// "Did you mean ...?": the known text nearest to a mistyped one.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace millwright::webhooks {

using Texts = std::set<std::string, std::less<>>;

// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate of least distance, the first in order among equals; whole numbers are compared as
// numbers. Empty when nothing is near enough to be meant: more than a third of the text differs.
std::string nearest(std::string_view text, const Texts& candidates);

}  // namespace millwright::webhooks

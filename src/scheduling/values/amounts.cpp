#include "scheduling/values/amounts.hpp"

#include <algorithm>

namespace millwright::scheduling {

std::optional<std::size_t> Columns::find(std::string_view name) const {
  const auto at = std::lower_bound(names_.begin(), names_.end(), name);
  if (at == names_.end() || *at != name) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(at - names_.begin());
}

Amounts Columns::amounts(const model::ResourceList& list) const {
  Amounts result(names_.size(), 0);
  // Both are sorted by name.
  auto item = list.begin();
  for (std::size_t column = 0; column < names_.size() && item != list.end(); ++column) {
    while (item != list.end() && item->first < names_[column]) {
      ++item;
    }
    if (item != list.end() && item->first == names_[column]) {
      result[column] = item->second.milli();
    }
  }
  return result;
}

}  // namespace millwright::scheduling

#include "scheduling/compile/pools/min_values.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace millwright::scheduling {
namespace {

bool short_of(const Requirement& requirement, std::size_t count) {
  return requirement.min_values() &&
         count < static_cast<std::size_t>(std::max(0, *requirement.min_values()));
}

}  // namespace

std::string min_values_shortfall(const Requirements& requirements, const TypeTable& table,
                                 const RowSet& rows) {
  std::string text;
  for (const Requirement& requirement : requirements) {
    if (!requirement.min_values()) {
      continue;
    }
    const std::size_t count = table.distinct_values(requirement.key(), rows);
    if (short_of(requirement, count)) {
      text.append(text.empty() ? "" : ", ")
          .append(requirement.key() + " wants minValues " +
                  std::to_string(*requirement.min_values()) + " and has " + std::to_string(count));
    }
  }
  return text;
}

bool satisfies_min_values(const Requirements& requirements, const TypeTable& table,
                          const RowSet& rows) {
  return std::none_of(requirements.begin(), requirements.end(), [&](const Requirement& r) {
    return r.min_values() && short_of(r, table.distinct_values(r.key(), rows));
  });
}

bool relax_min_values(Requirements& requirements, const TypeTable& table, const RowSet& rows) {
  std::vector<Requirement> lowered;
  for (const Requirement& requirement : requirements) {
    if (!requirement.min_values()) {
      continue;
    }
    const std::size_t count = table.distinct_values(requirement.key(), rows);
    if (short_of(requirement, count)) {
      lowered.push_back(requirement);
      lowered.back().set_min_values(static_cast<std::int32_t>(count));
    }
  }
  for (auto& requirement : lowered) {
    requirements.replace(std::move(requirement));
  }
  return !lowered.empty();
}

std::string lower_min_values(const Requirements& requirements, const TypeTable& table,
                             const RowSet& rows) {
  std::string text;
  for (const Requirement& requirement : requirements) {
    const std::size_t count = table.distinct_values(requirement.key(), rows);
    if (short_of(requirement, count)) {
      text.append(text.empty() ? "lower minValues of " : " and of ")
          .append(requirement.key() + " to " + std::to_string(count));
    }
  }
  return text;
}

}  // namespace millwright::scheduling

#include "scheduling/compile/pools/min_values.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

bool short_of(const Requirement& requirement, std::size_t count) {
  return requirement.min_values() &&
         count < static_cast<std::size_t>(std::max(0, *requirement.min_values()));
}

// The API server takes no minValues of 0.
std::optional<std::int32_t> stated_min_values(std::size_t count) {
  return count == 0 ? std::nullopt : std::optional(static_cast<std::int32_t>(count));
}

// Gives each requirement that has too few values the number that it has; true when any was.
template <class Count>
bool lower_where_short(Requirements& requirements, Count count_of) {
  std::vector<Requirement> lowered;
  for (const Requirement& requirement : requirements) {
    if (!requirement.min_values()) {
      continue;
    }
    if (const std::size_t count = count_of(requirement); short_of(requirement, count)) {
      lowered.push_back(requirement);
      lowered.back().set_min_values(stated_min_values(count));
    }
  }
  for (auto& requirement : lowered) {
    requirements.replace(std::move(requirement));
  }
  return !lowered.empty();
}

}  // namespace

std::string min_values_shortfall(const Requirements& requirements, const TypeTable& table,
                                 const RowSet& rows) {
  std::string text;
  for (const Requirement& requirement : requirements) {
    if (!requirement.min_values()) {
      continue;
    }
    const std::size_t count = table.distinct_values(requirement, rows);
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
    return r.min_values() && short_of(r, table.distinct_values(r, rows));
  });
}

bool relax_min_values(Requirements& requirements, const TypeTable& table, const RowSet& rows) {
  return lower_where_short(requirements, [&](const Requirement& requirement) {
    return table.distinct_values(requirement, rows);
  });
}

bool keep_min_values_listed(Requirements& requirements) {
  return lower_where_short(requirements, [](const Requirement& requirement) {
    return requirement.is_complement() ? std::numeric_limits<std::size_t>::max()
                                       : requirement.values().size();
  });
}

std::string lower_min_values(const Requirements& requirements, const TypeTable& table,
                             const RowSet& rows) {
  std::string text;
  for (const Requirement& requirement : requirements) {
    const std::size_t count = table.distinct_values(requirement, rows);
    if (short_of(requirement, count)) {
      text.append(text.empty() ? "" : " and ")
          .append(count == 0 ? "drop" : "lower")
          .append(" minValues of " + requirement.key())
          .append(count == 0 ? "" : " to " + std::to_string(count));
    }
  }
  return text;
}

}  // namespace millwright::scheduling

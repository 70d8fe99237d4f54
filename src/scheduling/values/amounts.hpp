// Resource lists as columns of integers. Only resources that some pod of the problem asks for get
// a column: what nobody wants cannot run out.
#pragma once

#include "millwright/model/resources.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

// Thousandths, by column.
using Amounts = std::vector<std::int64_t>;

inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return b > 0 ? std::numeric_limits<std::int64_t>::max()
                 : std::numeric_limits<std::int64_t>::min();
  }
  return sum;
}

inline std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) {
    return b < 0 ? std::numeric_limits<std::int64_t>::max()
                 : std::numeric_limits<std::int64_t>::min();
  }
  return difference;
}

inline void add_to(Amounts& total, const Amounts& more) {
  for (std::size_t i = 0; i < total.size(); ++i) {
    total[i] = saturating_add(total[i], more[i]);
  }
}

inline void subtract_from(Amounts& total, const Amounts& less) {
  for (std::size_t i = 0; i < total.size(); ++i) {
    total[i] = saturating_subtract(total[i], less[i]);
  }
}

// No total is negative and every amount is at most its total.
inline bool fits(const Amounts& wanted, const Amounts& total) {
  for (std::size_t i = 0; i < total.size(); ++i) {
    if (total[i] < 0 || wanted[i] > total[i]) {
      return false;
    }
  }
  return true;
}

// Which resource has which column; sorted by name.
class Columns {
 public:
  Columns() = default;
  explicit Columns(const std::set<std::string>& names) : names_(names.begin(), names.end()) {}

  std::size_t size() const { return names_.size(); }
  const std::string& name(std::size_t column) const { return names_[column]; }
  std::optional<std::size_t> find(std::string_view name) const;
  // Resources without a column are left out.
  Amounts amounts(const model::ResourceList& list) const;
  friend bool operator==(const Columns&, const Columns&) = default;

 private:
  std::vector<std::string> names_;
};

}  // namespace millwright::scheduling

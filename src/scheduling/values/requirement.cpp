// One key's admissible values and how two of them combine; Karpenter's scheduling.Requirement.
#include "millwright/scheduling/requirements.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

namespace millwright::scheduling {
namespace {

using model::Operator;

constexpr std::size_t kShownValues = 5;

bool within(std::string_view value, std::optional<std::int64_t> gte,
            std::optional<std::int64_t> lte) {
  if (!gte && !lte) {
    return true;
  }
  const auto number = model::parse_integer(value);
  return number && (!gte || *number >= *gte) && (!lte || *number <= *lte);
}

std::vector<std::string> as_set(std::vector<std::string> values) {
  // As a rule it is one already.
  if (std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) != values.end()) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  return values;
}

template <class T, class Choose>
std::optional<T> combine(std::optional<T> a, std::optional<T> b, Choose choose) {
  if (!a) {
    return b;
  }
  return b ? std::optional<T>(choose(*a, *b)) : a;
}

std::optional<std::int64_t> larger(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return combine(a, b, [](auto x, auto y) { return std::max(x, y); });
}

std::optional<std::int64_t> smaller(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return combine(a, b, [](auto x, auto y) { return std::min(x, y); });
}

bool crossed(std::optional<std::int64_t> gte, std::optional<std::int64_t> lte) {
  return gte && lte && *gte > *lte;
}

}  // namespace

Requirement::Requirement(std::string_view key, Operator op, std::span<const std::string> values,
                         std::optional<std::int32_t> min_values)
    : key_(model::normalized_label_key(key)), min_values_(min_values) {
  if (op == Operator::In || op == Operator::NotIn) {
    values_ = as_set({values.begin(), values.end()});
  }
  complement_ = op != Operator::In && op != Operator::DoesNotExist;
  must_exist_ = op != Operator::NotIn && op != Operator::DoesNotExist;
  if (op != Operator::Gt && op != Operator::Lt && op != Operator::Gte && op != Operator::Lte) {
    return;
  }
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  const auto bound = values.empty() ? std::nullopt : model::parse_integer(values.front());
  if (!bound || (op == Operator::Gt && *bound == kMax) || (op == Operator::Lt && *bound == kMin)) {
    complement_ = false;  // nothing is admitted
    return;
  }
  if (op == Operator::Gt || op == Operator::Gte) {
    gte_ = op == Operator::Gt ? *bound + 1 : *bound;
  } else {
    lte_ = op == Operator::Lt ? *bound - 1 : *bound;
  }
}

Requirement Requirement::in(std::string_view key, std::vector<std::string> values) {
  Requirement result;
  result.key_ = model::normalized_label_key(key);
  result.must_exist_ = true;
  result.values_ = as_set(std::move(values));
  return result;
}

Operator Requirement::op() const {
  if (complement_) {
    return values_.empty() ? Operator::Exists : Operator::NotIn;
  }
  return values_.empty() ? Operator::DoesNotExist : Operator::In;
}

bool Requirement::admits_absence() const {
  return !must_exist_ && (op() == Operator::NotIn || op() == Operator::DoesNotExist);
}

bool Requirement::has(std::string_view value) const {
  const bool listed = std::binary_search(values_.begin(), values_.end(), value);
  return listed != complement_ && within(value, gte_, lte_);
}

Requirement Requirement::intersection(const Requirement& other) const {
  Requirement result;
  result.key_ = key_;
  result.must_exist_ = must_exist_ || other.must_exist_;
  result.min_values_ =
      combine(min_values_, other.min_values_, [](auto x, auto y) { return std::max(x, y); });
  const auto gte = larger(gte_, other.gte_);
  const auto lte = smaller(lte_, other.lte_);
  if (crossed(gte, lte)) {
    return result;
  }
  result.complement_ = complement_ && other.complement_;
  std::vector<std::string> common;
  auto out = std::back_inserter(common);
  const auto& mine = values_;
  const auto& theirs = other.values_;
  if (complement_ && other.complement_) {
    std::set_union(mine.begin(), mine.end(), theirs.begin(), theirs.end(), out);
  } else if (complement_) {
    std::set_difference(theirs.begin(), theirs.end(), mine.begin(), mine.end(), out);
  } else if (other.complement_) {
    std::set_difference(mine.begin(), mine.end(), theirs.begin(), theirs.end(), out);
  } else {
    std::set_intersection(mine.begin(), mine.end(), theirs.begin(), theirs.end(), out);
  }
  std::erase_if(common, [&](const std::string& v) { return !within(v, gte, lte); });
  result.values_ = std::move(common);
  if (result.complement_) {
    result.gte_ = gte;
    result.lte_ = lte;
  }
  return result;
}

bool Requirement::has_intersection(const Requirement& other) const {
  if (crossed(larger(gte_, other.gte_), smaller(lte_, other.lte_))) {
    return false;
  }
  if (complement_ && other.complement_) {
    return true;
  }
  const Requirement& finite = complement_ ? other : *this;
  const Requirement& filter = complement_ ? *this : other;
  return std::any_of(finite.values_.begin(), finite.values_.end(),
                     [&](const std::string& v) { return filter.has(v); });
}

std::vector<model::SelectorRequirement> Requirement::to_selectors() const {
  std::vector<model::SelectorRequirement> items;
  // Exclusions next to bounds are an item of their own, so that writing and reading loses nothing.
  const bool bounded = gte_ || lte_;
  if (!bounded || !values_.empty()) {
    items.push_back({key_, op(), values_.list(), min_values_});
  }
  if (!bounded && must_exist_ && op() == Operator::NotIn) {
    items.push_back({key_, Operator::Exists, {}, min_values_});
  }
  if (gte_) {
    items.push_back({key_, Operator::Gte, {std::to_string(*gte_)}, min_values_});
  }
  if (lte_) {
    items.push_back({key_, Operator::Lte, {std::to_string(*lte_)}, min_values_});
  }
  return items;
}

std::string Requirement::to_string() const {
  std::string text = key_;
  text.append(" ").append(model::to_string(op()));
  if (!values_.empty()) {
    text += " [";
    for (std::size_t i = 0; i < std::min(values_.size(), kShownValues); ++i) {
      text.append(i == 0 ? "" : " ").append(values_[i]);
    }
    if (values_.size() > kShownValues) {
      text.append(" and ").append(std::to_string(values_.size() - kShownValues)).append(" others");
    }
    text += "]";
  }
  if (gte_) {
    text.append(" >=").append(std::to_string(*gte_));
  }
  if (lte_) {
    text.append(" <=").append(std::to_string(*lte_));
  }
  if (min_values_) {
    text.append(" minValues ").append(std::to_string(*min_values_));
  }
  return text;
}

}  // namespace millwright::scheduling

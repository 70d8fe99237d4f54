#include "millwright/model/selector.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace millwright::model {
namespace {

struct OperatorName {
  Operator op;
  std::string_view text;
};
constexpr std::array<OperatorName, 8> kOperatorNames{{{Operator::In, "In"},
                                                      {Operator::NotIn, "NotIn"},
                                                      {Operator::Exists, "Exists"},
                                                      {Operator::DoesNotExist, "DoesNotExist"},
                                                      {Operator::Gt, "Gt"},
                                                      {Operator::Lt, "Lt"},
                                                      {Operator::Gte, "Gte"},
                                                      {Operator::Lte, "Lte"}}};

bool contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool compare(Operator op, std::string_view label, const std::vector<std::string>& values) {
  if (values.size() != 1) {
    return false;
  }
  const auto have = parse_integer(label);
  const auto want = parse_integer(values.front());
  if (!have || !want) {
    return false;
  }
  switch (op) {
    case Operator::Gt:
      return *have > *want;
    case Operator::Lt:
      return *have < *want;
    case Operator::Gte:
      return *have >= *want;
    case Operator::Lte:
      return *have <= *want;
    default:
      return false;
  }
}

template <class Lookup>
bool matches_value(const SelectorRequirement& requirement, Lookup find) {
  const std::optional<std::string_view> value = find(requirement.key);
  switch (requirement.op) {
    case Operator::In:
      return value && contains(requirement.values, *value);
    case Operator::NotIn:
      return !value || !contains(requirement.values, *value);
    case Operator::Exists:
      return value.has_value();
    case Operator::DoesNotExist:
      return !value.has_value();
    default:
      return value && compare(requirement.op, *value, requirement.values);
  }
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) {
      return std::nullopt;
    }
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string_view to_string(Operator op) {
  for (const OperatorName& known : kOperatorNames) {
    if (known.op == op) {
      return known.text;
    }
  }
  return "";
}

std::optional<Operator> parse_operator(std::string_view text) {
  for (const OperatorName& known : kOperatorNames) {
    if (known.text == text) {
      return known.op;
    }
  }
  return std::nullopt;
}

bool matches(const SelectorRequirement& requirement, const StringMap& labels) {
  return matches_value(requirement, [&labels](std::string_view key) {
    const auto found = labels.find(key);
    return found == labels.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  });
}

bool LabelSelector::matches(const StringMap& labels) const {
  return std::all_of(match_labels.begin(), match_labels.end(),
                     [&labels](const auto& wanted) {
                       const auto found = labels.find(wanted.first);
                       return found != labels.end() && found->second == wanted.second;
                     }) &&
         std::all_of(match_expressions.begin(), match_expressions.end(),
                     [&labels](const SelectorRequirement& requirement) {
                       return model::matches(requirement, labels);
                     });
}

bool matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name) {
  if (term.match_expressions.empty() && term.match_fields.empty()) {
    return false;
  }
  const auto find_field = [node_name](std::string_view key) {
    return key == "metadata.name" ? std::optional(node_name) : std::nullopt;
  };
  return std::all_of(term.match_expressions.begin(), term.match_expressions.end(),
                     [&labels](const SelectorRequirement& requirement) {
                       return matches(requirement, labels);
                     }) &&
         std::all_of(term.match_fields.begin(), term.match_fields.end(),
                     [&find_field](const SelectorRequirement& requirement) {
                       return matches_value(requirement, find_field);
                     });
}

}  // namespace millwright::model

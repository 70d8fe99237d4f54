// Label and node selectors as Kubernetes evaluates them.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/model/labels.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::model {

enum class Operator : std::uint8_t { In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte };
std::string_view to_string(Operator op);
std::optional<Operator> parse_operator(std::string_view text);
// What Gt, Lt, Gte and Lte compare: as Go's strconv.Atoi, base ten with an optional sign.
std::optional<std::int64_t> parse_integer(std::string_view text);

// One requirement as written in nodeSelectorTerms, label selectors and NodePool requirements.
struct SelectorRequirement {
  std::string key;
  Operator op = Operator::In;
  std::vector<std::string> values;
  std::optional<std::int32_t> min_values;  // NodePool requirements only
  friend bool operator==(const SelectorRequirement&, const SelectorRequirement&) = default;
};

struct LabelSelector {
  StringMap match_labels;
  std::vector<SelectorRequirement> match_expressions;
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
  bool empty() const { return match_labels.empty() && match_expressions.empty(); }
  // An empty selector matches everything; an absent one (nullopt at the caller) nothing.
  bool matches(const StringMap& labels) const;
};

struct NodeSelectorTerm {
  std::vector<SelectorRequirement> match_expressions;
  std::vector<SelectorRequirement> match_fields;
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

// kube-scheduler's semantics: NotIn and DoesNotExist match an absent key; Gt and Lt need integers.
bool matches(const SelectorRequirement& requirement, const StringMap& labels);
// An empty term matches nothing. match_fields know only metadata.name.
bool matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name);

// The `labelSelector` query parameter: "a=b,c!=d,e in (f,g),h,!i".
base::Result<LabelSelector> parse_label_selector(std::string_view text);
std::string to_string(const LabelSelector& selector);

}  // namespace millwright::model

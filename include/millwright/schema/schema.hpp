// One description per Karpenter kind: fields, defaults, rules, printer columns. The CRD's YAML,
// defaulting and validation all come from it, so that they cannot disagree. Each rule has its CEL
// text for the CRD and a C++ predicate that decides the same.
#pragma once

#include "millwright/model/kinds.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::schema {

// One violated rule of one object.
struct Problem {
  std::string path;     // "spec.disruption.budgets[0].nodes"
  std::string value;    // the offending value as JSON text, shortened; empty when absent
  std::string message;  // what is wrong and what would be accepted
  friend bool operator==(const Problem&, const Problem&) = default;
  // "<path>: Invalid value: <value>: <message>", as the API server words it.
  std::string to_string() const;
};

class Kind;  // the description; defined in src/schema

// Every described kind, in a fixed order: NodePool, NodeClaim, KWOKNodeClass, EC2NodeClass, both
// ECSNodeClasses, CCENodeClass, Provisioner, AWSNodeTemplate, NodeOverlay, CapacityBuffer.
std::span<const Kind* const> all_kinds();
// nullptr when the kind is not described here.
const Kind* find_kind(std::string_view api_version, std::string_view kind);

const model::Resource& resource_of(const Kind& kind);
std::span<const std::string_view> short_names(const Kind& kind);
std::span<const std::string_view> categories(const Kind& kind);

struct PrinterColumn {
  std::string_view name;
  std::string_view type;       // string, integer, date
  std::string_view json_path;  // ".status.nodes"
  bool wide = false;           // priority 1: only with -o wide
};
std::span<const PrinterColumn> printer_columns(const Kind& kind);

// The CustomResourceDefinition object, as JSON and as YAML text (what `millwright crds` prints).
boost::json::value crd(const Kind& kind);
std::string crd_yaml(const Kind& kind);

// Fills absent fields with their defaults; true when something changed.
bool apply_defaults(const Kind& kind, boost::json::value& object);

// More are not told: when there are so many, there may be others.
inline constexpr std::size_t kMostProblems = 100;

// Everything wrong with `object`, in field order; empty when valid. `old` (or nullptr on create)
// serves the transition rules. Covers types, required fields, formats, enums, bounds, list and map
// rules, every CEL rule of the CRD, and Karpenter's run-time validation of labels and requirements.
std::vector<Problem> validate(const Kind& kind, const boost::json::value& object,
                              const boost::json::value* old = nullptr);
// Only what the CRD itself enforces: what a real API server says without the webhook.
std::vector<Problem> validate_structure(const Kind& kind, const boost::json::value& object,
                                        const boost::json::value* old = nullptr);

// Drops fields the schema does not know, as an API server does; returns their paths.
std::vector<std::string> prune(const Kind& kind, boost::json::value& object);

}  // namespace millwright::schema

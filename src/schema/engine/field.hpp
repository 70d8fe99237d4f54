// Describes a kind as a tree of typed fields, each with its text, default, bounds and rules. CRDs,
// defaulting, pruning and validation are all walks over this tree, so that each rule is written
// once.
//
//   object("Limits of ...", {required("key", string("...").pattern(patterns::qualified_name())),
//                            optional("weight", int32("...").between(1, 100))})
#pragma once

#include "schema/engine/access.hpp"
#include "schema/engine/pattern.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::schema {

enum class Type : std::uint8_t { Object, Map, List, String, Integer, Number, Boolean, Quantity };
enum class Format : std::uint8_t { None, Int32, Int64, DateTime, Password };
// How the API server merges and compares a list: as a whole, as a set, or by the key fields.
enum class ListType : std::uint8_t { Atomic, Set, Map };

// A rule over a value: the CEL text that the CRD carries and the predicate that decides the same
// here. The message says what would be accepted. Exactly one of the two predicates is set.
struct Rule {
  std::string cel;
  std::string message;
  std::function<bool(const json::value& self)> holds;
  // A transition rule: checked only when the field is there both before and after.
  std::function<bool(const json::value& self, const json::value& old)> holds_since;
};

// A rule over each entry of a map. In its CEL text `k` is the key and `self[k]` the value.
struct EntryRule {
  std::string cel;
  std::string message;
  std::function<bool(std::string_view key, const json::value& value)> holds;
};

struct Member;

// One node of the tree. Built with the functions below and refined by the chained setters.
struct Field {
  Type type = Type::Object;
  Format format = Format::None;
  std::string description;
  std::optional<json::value> default_value;
  const Pattern* pattern_rule = nullptr;
  std::vector<std::string> accepted;  // enum
  std::optional<std::int64_t> minimum;
  std::optional<std::int64_t> maximum;
  // Characters of a string, items of a list, entries of a map.
  std::optional<std::int64_t> least_size;
  std::optional<std::int64_t> most_size;
  ListType list_type = ListType::Atomic;
  std::vector<std::string> list_keys;  // of ListType::Map
  bool atomic_map = false;             // the API server merges the map as a whole
  bool open = false;                   // unknown members are kept
  bool secret = false;                 // never shown in messages
  std::vector<Member> members;         // of an object, in order
  std::vector<Field> element;          // exactly one for a list or map
  std::vector<Rule> rules;
  std::vector<EntryRule> entry_rules;

  Field with_default(json::value value) &&;
  Field pattern(const Pattern& pattern) &&;
  Field one_of(std::vector<std::string> values) &&;
  Field at_least(std::int64_t least) &&;
  Field between(std::int64_t least, std::int64_t most) &&;
  Field size_at_least(std::int64_t least) &&;
  Field size_at_most(std::int64_t most) &&;
  Field as_set() &&;
  Field keyed_by(std::vector<std::string> keys) &&;
  Field as_atomic() &&;
  Field keeping_unknown() &&;
  Field hidden() &&;
  Field rule(Rule rule) &&;
  Field entry_rule(EntryRule rule) &&;

  const Member* find(std::string_view name) const;
};

struct Member {
  std::string name;
  Field field;
  bool required = false;
};

Member required(std::string name, Field field);
Member optional(std::string name, Field field);

Field object(std::string description, std::vector<Member> members);
Field map_of(std::string description, Field value);
Field list_of(std::string description, Field item);
Field string(std::string description);
Field date_time(std::string description);
Field int32(std::string description);
Field int64(std::string description);
// With or without a fraction.
Field number(std::string description);
Field boolean(std::string description);
// A Kubernetes quantity: a whole number or text such as "500m".
Field quantity(std::string description);

}  // namespace millwright::schema

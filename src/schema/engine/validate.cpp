// Validation: one walk that reports every problem. Rules over a value run when everything below it
// has the right JSON type, as in the API server; unlike there, one bad pattern does not silence
// the rules, so that a person sees all there is to fix.
//
// Unchanged parts of an update are not checked again (the API server's CRD validation ratcheting,
// KEP-4008): an object stored under older rules can still be edited and deleted.
#include "millwright/base/time.hpp"
#include "millwright/model/json_fields.hpp"
#include "millwright/schema/shown.hpp"
#include "schema/engine/kind.hpp"
#include "schema/engine/rules.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace millwright::schema {
namespace {

// Each item is compared with those before it. Lists whose items must differ are far shorter.
constexpr std::size_t kMostCompared = 1000;

std::int64_t count_characters(std::string_view utf8) {
  return std::count_if(utf8.begin(), utf8.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

bool holds_secret(const Field& field) {
  const auto in_member = [](const Member& member) { return holds_secret(member.field); };
  return field.secret || std::any_of(field.members.begin(), field.members.end(), in_member) ||
         std::any_of(field.element.begin(), field.element.end(), holds_secret);
}

json::value redacted(const Field& field, const json::value& value) {
  if (field.secret) {
    return "***";
  }
  if (!holds_secret(field)) {
    return value;
  }
  if (const json::object* fields = value.if_object()) {
    json::object result;
    for (const auto& [name, child] : *fields) {
      const Member* described = field.find(name);
      result[name] = described != nullptr ? redacted(described->field, child) : child;
    }
    return result;
  }
  return "***";
}

std::tuple<std::string_view, std::string_view, std::string_view> texts_of(const Problem& problem) {
  return {problem.path, problem.value, problem.message};
}

// "1 to 100", "at least 0": the bounds of a number or of a size.
std::string range_text(std::optional<std::int64_t> least, std::optional<std::int64_t> most) {
  if (least && most) {
    return std::to_string(*least) + " to " + std::to_string(*most);
  }
  if (least) {
    return "at least " + std::to_string(*least);
  }
  return most ? "at most " + std::to_string(*most) : "any number";
}

// What sizes count, in singular and plural.
struct Unit {
  std::string_view one;
  std::string_view many;
};
constexpr Unit kCharacters{"character", "characters"};
constexpr Unit kItems{"item", "items"};
constexpr Unit kEntries{"entry", "entries"};

// What a field takes, as the end of a sentence that begins with "expected".
std::string accepted_text(const Field& field) {
  if (!field.accepted.empty()) {
    return (field.accepted.size() > 1 ? "one of " : "") + rules::quoted_list(field.accepted);
  }
  if (field.pattern_rule != nullptr) {
    return field.pattern_rule->accepted();
  }
  switch (field.type) {
    case Type::Object:
      return "an object";
    case Type::Map:
      return "a map";
    case Type::List:
      return "a list";
    case Type::String:
      return field.format == Format::DateTime ? "a time such as \"2026-01-02T03:04:05Z\"" : "text";
    case Type::Integer:
      return field.minimum || field.maximum
                 ? "a whole number, " + range_text(field.minimum, field.maximum)
                 : "a whole number";
    case Type::Number:
      return "a number";
    case Type::Boolean:
      return "true or false";
    case Type::Quantity:
      return "a quantity";
  }
  return {};
}

bool right_type(const Field& field, const json::value& value) {
  switch (field.type) {
    case Type::Object:
    case Type::Map:
      return value.is_object();
    case Type::List:
      return value.is_array();
    case Type::String:
      return value.is_string();
    case Type::Integer:
      return as_integer(&value).has_value();
    case Type::Number:
      return value.is_number();
    case Type::Boolean:
      return value.is_bool();
    case Type::Quantity:
      return value.is_string() || as_integer(&value).has_value();
  }
  return false;
}

class Validator {
 public:
  explicit Validator(std::vector<Problem>& problems) : problems_(problems) {}

  // Returns whether everything in `value` has the right type.
  bool walk(const Field& field, const json::value& value, const json::value* old,
            const std::string& path) {
    if (old != nullptr && model::same_json(*old, value)) {
      return true;
    }
    if (problems_.size() >= kMostProblems) {
      return false;
    }
    if (!right_type(field, value)) {
      report(field, value, path, "expected " + accepted_text(field));
      return false;
    }
    bool typed = true;
    switch (field.type) {
      case Type::Object:
        typed = walk_members(field, value, old, path);
        break;
      case Type::Map:
        typed = walk_entries(field, value, old, path);
        break;
      case Type::List:
        typed = walk_items(field, value, old, path);
        break;
      case Type::Integer:
        check_number(field, value, path);
        break;
      case Type::String:
      case Type::Quantity:
        check_text(field, value, path);
        break;
      case Type::Number:
      case Type::Boolean:
        break;
    }
    if (typed) {
      check_rules(field, value, old, path);
    }
    return typed;
  }

 private:
  void report(const Field& field, const json::value& value, std::string path, std::string message) {
    if (problems_.size() < kMostProblems) {
      problems_.push_back({std::move(path), shown(redacted(field, value)), std::move(message)});
    }
  }
  void report_missing(const Member& described, std::string path) {
    if (problems_.size() < kMostProblems) {
      problems_.push_back({std::move(path), "", "expected " + accepted_text(described.field)});
    }
  }

  bool walk_members(const Field& field, const json::value& value, const json::value* old,
                    const std::string& path) {
    bool typed = true;
    for (const Member& described : field.members) {
      const std::string child_path = path.empty() ? described.name : path + "." + described.name;
      if (has(value, described.name)) {
        typed &= walk(described.field, *member(value, described.name), member(old, described.name),
                      child_path);
      } else if (described.required && !described.field.default_value) {
        report_missing(described, child_path);
      }
    }
    return typed;
  }

  bool walk_entries(const Field& field, const json::value& value, const json::value* old,
                    const std::string& path) {
    bool typed = true;
    check_size(field, static_cast<std::int64_t>(value.get_object().size()), value, path, kEntries);
    for (const auto& [key, child] : value.get_object()) {
      typed &=
          walk(field.element.front(), child, member(old, key), path + "[" + std::string(key) + "]");
    }
    return typed;
  }

  bool walk_items(const Field& field, const json::value& value, const json::value* old,
                  const std::string& path) {
    const json::array& items = value.get_array();
    check_size(field, static_cast<std::int64_t>(items.size()), value, path, kItems);
    const bool is_compared = items.size() <= kMostCompared;
    bool typed = true;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string item_path = path + "[" + std::to_string(i) + "]";
      typed &= walk(field.element.front(), items[i],
                    is_compared ? counterpart(field, items[i], old) : nullptr, item_path);
      if (is_compared && is_repeated(field, items, i)) {
        report(field.element.front(), items[i], item_path, repeat_message(field));
      }
    }
    return typed;
  }

  static bool same_keys(const Field& field, const json::value& a, const json::value& b) {
    return std::all_of(field.list_keys.begin(), field.list_keys.end(), [&](const std::string& key) {
      const json::value* left = member(a, key);
      const json::value* right = member(b, key);
      return left != nullptr && right != nullptr && *left == *right;
    });
  }

  // The item before the update: only lists with keys can tell.
  static const json::value* counterpart(const Field& field, const json::value& item,
                                        const json::value* old) {
    if (field.list_type != ListType::Map) {
      return nullptr;
    }
    for (const json::value& candidate : as_list(old)) {
      if (same_keys(field, item, candidate)) {
        return &candidate;
      }
    }
    return nullptr;
  }

  static bool is_repeated(const Field& field, const json::array& items, std::size_t index) {
    for (std::size_t i = 0; i < index && field.list_type != ListType::Atomic; ++i) {
      if (field.list_type == ListType::Set ? items[i] == items[index]
                                           : same_keys(field, items[i], items[index])) {
        return true;
      }
    }
    return false;
  }

  static std::string repeat_message(const Field& field) {
    std::string keys;
    for (const std::string& key : field.list_keys) {
      keys += (keys.empty() ? "" : ", ") + key;
    }
    return keys.empty() ? "listed more than once; each value may be given once"
                        : "listed more than once; each item needs its own " + keys;
  }

  void check_size(const Field& field, std::int64_t size, const json::value& value,
                  const std::string& path, Unit unit) {
    if ((field.least_size && size < *field.least_size) ||
        (field.most_size && size > *field.most_size)) {
      const bool one = field.most_size.value_or(field.least_size.value_or(0)) == 1;
      report(field, value, path,
             "expected " + range_text(field.least_size, field.most_size) + " " +
                 std::string(one ? unit.one : unit.many) + ", found " + std::to_string(size));
    }
  }

  void check_number(const Field& field, const json::value& value, const std::string& path) {
    const std::int64_t number = as_integer(&value).value_or(0);
    const bool in_format =
        field.format != Format::Int32 || (number >= std::numeric_limits<std::int32_t>::min() &&
                                          number <= std::numeric_limits<std::int32_t>::max());
    if (!in_format || (field.minimum && number < *field.minimum) ||
        (field.maximum && number > *field.maximum)) {
      report(field, value, path,
             "expected " + (in_format ? accepted_text(field) : "a number of 32 bits"));
    }
  }

  void check_text(const Field& field, const json::value& value, const std::string& path) {
    if (!value.is_string()) {
      return;  // a quantity written as a number
    }
    const std::string_view text = as_text(&value);
    check_size(field, count_characters(text), value, path, kCharacters);
    const auto& accepted = field.accepted;
    const bool listed =
        accepted.empty() || std::find(accepted.begin(), accepted.end(), text) != accepted.end();
    const bool matched = field.pattern_rule == nullptr || field.pattern_rule->matches(text);
    const bool dated = field.format != Format::DateTime || base::parse_rfc3339(text).has_value();
    if (!listed || !matched || !dated) {
      report(field, value, path, "expected " + accepted_text(field));
    }
  }

  void check_rules(const Field& field, const json::value& value, const json::value* old,
                   const std::string& path) {
    for (const EntryRule& rule : field.entry_rules) {
      for (const auto& [key, child] : value.get_object()) {
        if (!child.is_null() && !rule.holds(key, child)) {
          report(field.element.front(), child, path + "[" + std::string(key) + "]", rule.message);
        }
      }
    }
    for (const Rule& rule : field.rules) {
      const bool held =
          rule.holds ? rule.holds(value) : old == nullptr || rule.holds_since(value, *old);
      if (!held) {
        report(field, value, path, rule.message);
      }
    }
  }

  std::vector<Problem>& problems_;
};

}  // namespace

std::vector<Problem> validate_structure(const Kind& kind, const json::value& object,
                                        const json::value* old) {
  std::vector<Problem> problems;
  Validator(problems).walk(kind.root, object, old, "");
  return problems;
}

std::vector<Problem> validate(const Kind& kind, const json::value& object, const json::value* old) {
  std::vector<Problem> problems = validate_structure(kind, object, old);
  if (kind.runtime_check == nullptr || !object.is_object()) {
    return problems;
  }
  std::vector<Problem> found;
  kind.runtime_check(object, found);
  std::vector<Problem> known = problems;
  if (old != nullptr) {
    kind.runtime_check(*old, known);
  }
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> told;
  for (const Problem& problem : known) {
    told.insert(texts_of(problem));
  }
  std::set<std::string> paths;
  for (const Problem& problem : problems) {
    paths.insert(problem.path);
  }
  for (Problem& problem : found) {
    // One message per field: the CRD's own comes first; what an update leaves as it was passes.
    const bool repeated =
        told.contains(texts_of(problem)) || (!known.empty() && paths.contains(problem.path));
    if (!repeated && problems.size() < kMostProblems) {
      paths.insert(problem.path);
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

}  // namespace millwright::schema

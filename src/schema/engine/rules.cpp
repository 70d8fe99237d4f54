#include "schema/engine/rules.hpp"

#include "millwright/model/json_fields.hpp"

#include <algorithm>
#include <utility>

namespace millwright::schema::rules {
namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view separator,
                   std::string_view before = {}, std::string_view after = {}) {
  std::string result;
  for (const std::string& part : parts) {
    if (!result.empty()) {
      result += separator;
    }
    result.append(before).append(part).append(after);
  }
  return result;
}

bool contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::int64_t count_present(const json::value& self, const std::vector<std::string>& names) {
  return std::count_if(names.begin(), names.end(),
                       [&](const std::string& name) { return has(self, name); });
}

}  // namespace

std::string cel_list(const std::vector<std::string>& values) {
  return "[" + joined(values, ", ", "'", "'") + "]";
}

std::string quoted_list(const std::vector<std::string>& values) {
  return joined(values, ", ", "\"", "\"");
}

Rule exactly_one_of(std::vector<std::string> names) {
  Rule rule;
  rule.cel = names.size() == 2 ? "has(self." + names[0] + ") != has(self." + names[1] + ")"
                               : joined(names, " + ", "(has(self.", ") ? 1 : 0)") + " == 1";
  rule.message = "set exactly one of " + joined(names, ", ");
  rule.holds = [names = std::move(names)](const json::value& self) {
    return count_present(self, names) == 1;
  };
  return rule;
}

Rule at_least_one_of(std::vector<std::string> names) {
  Rule rule;
  rule.cel = joined(names, " || ", "has(self.", ")");
  rule.message = "set at least one of " + joined(names, ", ");
  rule.holds = [names = std::move(names)](const json::value& self) {
    return count_present(self, names) > 0;
  };
  return rule;
}

Rule excludes(std::string name, std::vector<std::string> others) {
  Rule rule;
  rule.cel = "!has(self." + name + ") || !(" + joined(others, " || ", "has(self.", ")") + ")";
  rule.message = name + " cannot be combined with " + joined(others, ", ");
  rule.holds = [name = std::move(name), others = std::move(others)](const json::value& self) {
    return !has(self, name) || count_present(self, others) == 0;
  };
  return rule;
}

Rule together(std::string first, std::string second) {
  Rule rule;
  rule.cel = "has(self." + first + ") == has(self." + second + ")";
  rule.message = "set " + first + " and " + second + " together or leave out both";
  rule.holds = [first = std::move(first), second = std::move(second)](const json::value& self) {
    return has(self, first) == has(self, second);
  };
  return rule;
}

Rule at_most_one_true(std::string name) {
  Rule rule;
  rule.cel = "self.filter(x, has(x." + name + ") && x." + name + ").size() <= 1";
  rule.message = "at most one item may have " + name + " true";
  rule.holds = [name = std::move(name)](const json::value& self) {
    std::size_t count = 0;
    for (const json::value& item : as_list(&self)) {
      const json::value* flag = member(item, name);
      count += flag != nullptr && flag->is_bool() && flag->get_bool() ? 1 : 0;
    }
    return count <= 1;
  };
  return rule;
}

Rule unchanging(std::string name) {
  Rule rule;
  rule.cel = "self." + name + " == oldSelf." + name;
  rule.message = name + " cannot change; delete the object and create it anew";
  rule.holds_since = [name = std::move(name)](const json::value& self, const json::value& old) {
    return text_at(self, name) == text_at(old, name);
  };
  return rule;
}

Rule immutable() {
  Rule rule;
  rule.cel = "self == oldSelf";
  rule.message = "cannot change after creation";
  rule.holds_since = [](const json::value& self, const json::value& old) {
    return model::same_json(self, old);
  };
  return rule;
}

Rule not_one_of(std::vector<std::string> values, std::string message) {
  Rule rule;
  rule.cel =
      values.size() == 1 ? "self != '" + values[0] + "'" : "!(self in " + cel_list(values) + ")";
  rule.message = std::move(message);
  rule.holds = [values = std::move(values)](const json::value& self) {
    return !contains(values, as_text(&self));
  };
  return rule;
}

EntryRule keys_one_of(std::vector<std::string> keys) {
  EntryRule rule;
  rule.cel = "k in " + cel_list(keys);
  rule.message = "expected a key among " + quoted_list(keys);
  rule.holds = [keys = std::move(keys)](std::string_view key, const json::value&) {
    return contains(keys, key);
  };
  return rule;
}

EntryRule no_empty_keys() {
  return {"k != ''", "keys cannot be empty",
          [](std::string_view key, const json::value&) { return !key.empty(); }};
}

EntryRule no_empty_keys_or_values() {
  return {"k != '' && self[k] != ''", "neither keys nor values can be empty",
          [](std::string_view key, const json::value& value) {
            return !key.empty() && !as_text(&value).empty();
          }};
}

EntryRule keys_not_reserved(std::vector<std::string> keys, std::vector<std::string> prefixes) {
  EntryRule rule;
  rule.cel = "!(k in " + cel_list(keys) + ")";
  for (const std::string& prefix : prefixes) {
    rule.cel += " && !k.startsWith('" + prefix + "')";
  }
  rule.message = "reserved for the controller: " + joined(keys, ", ");
  for (const std::string& prefix : prefixes) {
    rule.message += ", " + prefix + "*";
  }
  rule.holds = [keys = std::move(keys), prefixes = std::move(prefixes)](std::string_view key,
                                                                        const json::value&) {
    return !contains(keys, key) &&
           std::none_of(prefixes.begin(), prefixes.end(),
                        [&](const std::string& prefix) { return key.starts_with(prefix); });
  };
  return rule;
}

EntryRule values_not_negative() {
  return {
      "!self[k].startsWith('-')", "cannot be negative",
      [](std::string_view, const json::value& value) { return !as_text(&value).starts_with('-'); }};
}

bool domain_allows(std::string_view key, std::string_view domain,
                   const std::vector<std::string>& allowed) {
  return contains(allowed, key) || !key.substr(0, key.find('/')).ends_with(domain);
}

std::string domain_cel(std::string_view name, std::string_view domain,
                       const std::vector<std::string>& allowed) {
  return std::string(name) + " in " + cel_list(allowed) + " || !" + std::string(name) +
         ".split('/')[0].endsWith('" + std::string(domain) + "')";
}

}  // namespace millwright::schema::rules

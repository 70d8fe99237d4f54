// Rules that several kinds have. Each makes its CEL text and its predicate from the same arguments,
// so that they agree.
#pragma once

#include "schema/engine/field.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::schema::rules {

Rule exactly_one_of(std::vector<std::string> names);
Rule at_least_one_of(std::vector<std::string> names);
// When `name` is set none of the `others` may be.
Rule excludes(std::string name, std::vector<std::string> others);
// Both are set or neither is.
Rule together(std::string first, std::string second);
// At most one item of a list of objects has the boolean `name` true.
Rule at_most_one_true(std::string name);
// On an object: the text field cannot change once set.
Rule unchanging(std::string name);
// On any value: it cannot change at all.
Rule immutable();
// On a string: the value is none of these.
Rule not_one_of(std::vector<std::string> values, std::string message);

// Keys of a map.
EntryRule keys_one_of(std::vector<std::string> keys);
EntryRule no_empty_keys();
EntryRule no_empty_keys_or_values();
// Keys equal to one of `keys` or beginning with one of `prefixes` are refused.
EntryRule keys_not_reserved(std::vector<std::string> keys, std::vector<std::string> prefixes);
// Text that begins with "-": negative quantities.
EntryRule values_not_negative();

// A key of a label or requirement whose domain ends with `domain` has to be one of `allowed`.
bool domain_allows(std::string_view key, std::string_view domain,
                   const std::vector<std::string>& allowed);
// CEL text of the same, over the variable `name`.
std::string domain_cel(std::string_view name, std::string_view domain,
                       const std::vector<std::string>& allowed);

// "['a', 'b']" in CEL, "\"a\", \"b\"" in messages.
std::string cel_list(const std::vector<std::string>& values);
std::string quoted_list(const std::vector<std::string>& values);

}  // namespace millwright::schema::rules

#include "controllers/legacy/legacy_selectors.hpp"

#include <boost/json.hpp>

#include <vector>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxTerms = 30;

std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) {
      part.remove_prefix(1);
    }
    while (part.ends_with(' ')) {
      part.remove_suffix(1);
    }
    if (!part.empty()) {
      parts.emplace_back(part);
    }
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

bool is_id_key(std::string_view key) {
  return key == "aws-ids" || key == "aws::ids";
}

// Every term so far, once for each value of `key` below `place` (a nested map, or the term itself).
std::vector<json::object> expanded(const std::vector<json::object>& terms, std::string_view key,
                                   const std::vector<std::string>& values, bool as_tag) {
  std::vector<json::object> result;
  for (const auto& term : terms) {
    for (const auto& value : values) {
      json::object next = term;
      if (as_tag) {
        json::value& tags = next["tags"];
        if (!tags.is_object()) {
          tags.emplace_object();
        }
        tags.as_object()[key] = value;
      } else {
        next[key] = value;
      }
      result.push_back(std::move(next));
    }
  }
  return result;
}

}  // namespace

base::Result<json::array> selector_terms(const json::value& selector, const std::string& field) {
  if (!selector.is_object() || selector.as_object().empty()) {
    return base::fail(base::ErrorKind::Invalid, field + ": must select something by tags or ids");
  }
  std::vector<json::object> terms(1);
  for (const auto& [key, value] : selector.as_object()) {
    const std::vector<std::string> values =
        value.is_string() ? comma_list(value.as_string()) : std::vector<std::string>();
    if (values.empty()) {
      return base::fail(base::ErrorKind::Invalid,
                        field + "." + std::string(key) + ": must have a value");
    }
    if (is_id_key(key)) {
      terms = expanded(terms, "id", values, false);
    } else if (key == "aws::name") {
      terms = expanded(terms, "name", values, false);
    } else if (key == "aws::owners") {
      terms = expanded(terms, "owner", values, false);
    } else {
      terms = expanded(terms, key, values, true);
    }
    if (terms.size() > kMaxTerms) {
      return base::fail(base::ErrorKind::Invalid,
                        field + ": its comma lists make " + std::to_string(terms.size()) +
                            " combinations; an EC2NodeClass takes 30, write it by hand");
    }
  }
  return json::array(terms.begin(), terms.end());
}

}  // namespace millwright::controllers

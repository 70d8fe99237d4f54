#include "cloud/alibaba/calls/wire/answer.hpp"

#include "millwright/model/json_fields.hpp"

#include <cmath>

namespace millwright::cloud::alibaba {
namespace {

constexpr std::size_t kLongestText = 64U << 10;
constexpr double kLargestCount = 1e9;

const boost::json::array& no_items() {
  static const boost::json::array none;
  return none;
}

bool is_absent(const boost::json::value* value) {
  return value == nullptr || value->is_null();
}

}  // namespace

void Answer::note(std::string_view key, std::string_view what) {
  if (problem_.empty()) {
    problem_.append("not as documented: \"").append(key).append("\" ").append(what);
  }
}

const boost::json::array& Answer::optional_list(const boost::json::value& in,
                                                std::string_view outer, std::string_view inner) {
  const auto* holder = model::member(in, outer);
  return is_absent(holder) ? no_items() : list(in, outer, inner);
}

const boost::json::array& Answer::list(const boost::json::value& in, std::string_view outer,
                                       std::string_view inner) {
  const auto* holder = model::member(in, outer);
  if (holder == nullptr || !holder->is_object()) {
    note(outer, "is missing or no object");
    return no_items();
  }
  const auto* items = model::member(*holder, inner);
  if (is_absent(items)) {
    return no_items();
  }
  if (!items->is_array()) {
    note(inner, "is no list");
    return no_items();
  }
  return items->get_array();
}

std::string Answer::optional_text(const boost::json::value& in, std::string_view key) {
  const auto* found = model::member(in, key);
  if (is_absent(found)) {
    return {};
  }
  if (!found->is_string() || found->get_string().size() > kLongestText) {
    note(key, "is no text, or an endless one");
    return {};
  }
  return std::string(found->get_string());
}

std::string Answer::text(const boost::json::value& in, std::string_view key) {
  auto value = optional_text(in, key);
  if (value.empty()) {
    note(key, "is missing or no text");
  }
  return value;
}

std::string Answer::account(const boost::json::value& in, std::string_view key) {
  const auto* found = model::member(in, key);
  boost::json::error_code not_whole;
  const bool is_number = found != nullptr && found->is_number();
  const auto number = is_number ? found->to_number<std::int64_t>(not_whole) : 0;
  if (!is_number) {
    return optional_text(in, key);
  }
  if (not_whole) {
    note(key, "is no number of an account");
    return {};
  }
  return std::to_string(number);
}

double Answer::decimal(const boost::json::value& in, std::string_view key) {
  const auto* found = model::member(in, key);
  if (is_absent(found)) {
    return 0;
  }
  boost::json::error_code ignored;
  const double value = found->is_number() ? found->to_number<double>(ignored) : -1;
  if (!std::isfinite(value) || value < 0 || value > kLargestCount) {
    note(key, "is no number, or none that can be");
    return 0;
  }
  return value;
}

std::int64_t Answer::count(const boost::json::value& in, std::string_view key) {
  return static_cast<std::int64_t>(decimal(in, key));
}

}  // namespace millwright::cloud::alibaba

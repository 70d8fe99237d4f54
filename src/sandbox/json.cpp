#include "sandbox/json.hpp"

#include <boost/json.hpp>

#include <charconv>

namespace millwright::sandbox {

namespace {

// Splits the first step off `path`.
std::string_view take_step(std::string_view& path) {
  const auto dot = path.find('.');
  const auto step = path.substr(0, dot);
  path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  return step;
}

}  // namespace

const Json* find(const Json& json, std::string_view path) {
  const Json* at = &json;
  while (!path.empty()) {
    const auto step = take_step(path);
    const auto* fields = at->if_object();
    at = fields == nullptr ? nullptr : fields->if_contains(step);
    if (at == nullptr) {
      return nullptr;
    }
  }
  return at;
}

Json* find(Json& json, std::string_view path) {
  return const_cast<Json*>(find(static_cast<const Json&>(json), path));
}

std::string_view text(const Json& json, std::string_view path) {
  const auto* value = find(json, path);
  if (value == nullptr || !value->is_string()) {
    return {};
  }
  return {value->get_string().data(), value->get_string().size()};
}

std::int64_t integer(const Json& json, std::string_view path, std::int64_t fallback) {
  const auto* value = find(json, path);
  if (value == nullptr || !value->is_number()) {
    return fallback;
  }
  boost::system::error_code failed;
  const auto number = value->to_number<std::int64_t>(failed);
  return failed ? fallback : number;
}

bool boolean(const Json& json, std::string_view path) {
  const auto* value = find(json, path);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const boost::json::array& items(const Json& json, std::string_view path) {
  static const boost::json::array kEmpty;
  const auto* value = find(json, path);
  return value != nullptr && value->is_array() ? value->get_array() : kEmpty;
}

const boost::json::object& fields(const Json& json, std::string_view path) {
  static const boost::json::object kEmpty;
  const auto* value = find(json, path);
  return value != nullptr && value->is_object() ? value->get_object() : kEmpty;
}

Json& make(Json& json, std::string_view path) {
  Json* at = &json;
  while (!path.empty()) {
    const auto step = take_step(path);
    if (!at->is_object()) {
      at->emplace_object();
    }
    at = &at->get_object()[step];
  }
  return *at;
}

boost::json::object& make_object(Json& json, std::string_view path) {
  auto& value = make(json, path);
  return value.is_object() ? value.get_object() : value.emplace_object();
}

boost::json::array& make_array(Json& json, std::string_view path) {
  auto& value = make(json, path);
  return value.is_array() ? value.get_array() : value.emplace_array();
}

void erase(Json& json, std::string_view path) {
  const auto dot = path.rfind('.');
  auto* parent = dot == std::string_view::npos ? &json : find(json, path.substr(0, dot));
  if (parent != nullptr && parent->is_object()) {
    parent->get_object().erase(dot == std::string_view::npos ? path : path.substr(dot + 1));
  }
}

bool set_default(Json& json, std::string_view path, Json value) {
  auto& at = make(json, path);
  if (!at.is_null()) {
    return false;
  }
  at = std::move(value);
  return true;
}

std::optional<std::int64_t> as_integer(const Json& json) {
  if (json.is_int64()) {
    return json.get_int64();
  }
  if (!json.is_string()) {
    return std::nullopt;
  }
  const auto& digits = json.get_string();
  std::int64_t value = 0;
  const auto* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

std::string to_text(const Json& json) {
  return boost::json::serialize(json);
}

}  // namespace millwright::sandbox

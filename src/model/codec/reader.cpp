#include "model/codec/reader.hpp"

#include "millwright/model/json_fields.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace millwright::model::detail {
namespace {

namespace json = boost::json;

std::string_view kind_text(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "true or false";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "an object";
  }
  return "null";
}

// Keys such as example.com/team would be unreadable after a dot.
bool needs_brackets(std::string_view key) {
  return key.find_first_of("./[] ") != std::string_view::npos;
}

std::string number_text(const json::value& value) {
  if (const auto* const number = value.if_int64()) {
    return std::to_string(*number);
  }
  if (const auto* const number = value.if_uint64()) {
    return std::to_string(*number);
  }
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value.get_double());
  return std::string(text.data(), result.ptr);
}

}  // namespace

std::optional<Reader> Reader::find(std::string_view key) const {
  const auto* const object = value_->if_object();
  if (object == nullptr) {
    expected("an object");
    return std::nullopt;
  }
  const json::value* const found = object->if_contains(key);
  if (found == nullptr || found->is_null()) {
    return std::nullopt;
  }
  return step(key, *found);
}

void Reader::expected(std::string_view wanted) const {
  fail(std::string("expected ").append(wanted).append(", found ").append(kind_text(*value_)));
}

void Reader::fail(std::string_view problem) const {
  if (!problem_->empty()) {
    return;
  }
  *problem_ = path();
  if (!problem_->empty()) {
    *problem_ += ": ";
  }
  *problem_ += problem;
}

std::string Reader::path() const {
  if (parent_ == nullptr) {
    return {};
  }
  std::string text = parent_->path();
  if (key_.empty() && parent_->value_->is_array()) {
    return text + "[" + std::to_string(index_) + "]";
  }
  if (needs_brackets(key_)) {
    return text.append("[").append(key_).append("]");
  }
  return text.append(text.empty() ? "" : ".").append(key_);
}

void read(const Reader& reader, std::string& out) {
  if (const auto* const text = reader.value().if_string()) {
    out.assign(text->data(), text->size());
  } else {
    reader.expected("a string");
  }
}

void read(const Reader& reader, bool& out) {
  if (const auto* const flag = reader.value().if_bool()) {
    out = *flag;
  } else {
    reader.expected("true or false");
  }
}

void read(const Reader& reader, std::int64_t& out) {
  if (const auto* const number = reader.value().if_int64()) {
    out = *number;
  } else if (const auto* const large = reader.value().if_uint64()) {
    if (*large > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      reader.fail("the number does not fit in 64 bits");
    } else {
      out = static_cast<std::int64_t>(*large);
    }
  } else {
    reader.expected("an integer");
  }
}

void read(const Reader& reader, std::int32_t& out) {
  std::int64_t wide = 0;
  read(reader, wide);
  if (wide > std::numeric_limits<std::int32_t>::max() ||
      wide < std::numeric_limits<std::int32_t>::min()) {
    reader.fail("the number does not fit in 32 bits");
  } else {
    out = static_cast<std::int32_t>(wide);
  }
}

void read(const Reader& reader, base::TimePoint& out) {
  std::string text;
  read(reader, text);
  if (const auto time = base::parse_rfc3339(text)) {
    out = *time;
  } else {
    reader.fail("\"" + text + "\" is not a time such as 2026-01-02T03:04:05Z");
  }
}

void read(const Reader& reader, std::optional<base::TimePoint>& out) {
  const auto* const text = reader.value().if_string();
  // Go writes its zero time for "never"; it lies outside of what a TimePoint holds.
  if (text != nullptr && *text == "0001-01-01T00:00:00Z") {
    out.reset();
    return;
  }
  read(reader, out.emplace());
}

void read(const Reader& reader, Quantity& out) {
  std::string text;
  if (reader.value().is_number()) {
    text = number_text(reader.value());
  } else if (reader.value().is_string()) {
    read(reader, text);
  } else {
    reader.expected("a quantity");
    return;
  }
  if (const auto quantity = Quantity::parse(text)) {
    out = *quantity;
  } else {
    reader.fail(quantity.error().message);
  }
}

void read_int_or_string(const Reader& reader, std::string& out) {
  if (reader.value().is_int64() || reader.value().is_uint64()) {
    out = number_text(reader.value());
  } else if (reader.value().is_string()) {
    read(reader, out);
  } else {
    reader.expected("an integer or a string");
  }
}

namespace {

// A JSON object as a map; a null entry is the zero value, as Go reads it.
template <class Map>
void read_map(const Reader& reader, Map& out) {
  const auto* const object = reader.value().if_object();
  if (object == nullptr) {
    reader.expected("an object");
    return;
  }
  out.clear();
  for (const auto& entry : *object) {
    auto& value = out[std::string(entry.key())];
    if (!entry.value().is_null()) {
      read(reader.step(entry.key(), entry.value()), value);
    }
  }
}

}  // namespace

void read(const Reader& reader, StringMap& out) {
  read_map(reader, out);
}
void read(const Reader& reader, ResourceList& out) {
  read_map(reader, out);
}

base::Error object_error(std::string_view kind, const json::value& value,
                         std::string_view problem) {
  std::string message(kind);
  const auto* const object = value.if_object();
  if (const auto* const meta = object == nullptr ? nullptr : object->if_contains("metadata")) {
    const std::string_view ns = text_at(*meta, "namespace");
    std::string_view name = text_at(*meta, "name");
    if (name.empty()) {
      name = text_at(*meta, "generateName");
    }
    if (!name.empty()) {
      message.append(" ").append(ns).append(ns.empty() ? "" : "/").append(name);
    }
  }
  message.append(": ").append(problem);
  return {base::ErrorKind::Invalid, std::move(message), {}};
}

void check_kind(const Reader& reader, std::string_view kind) {
  // Items of a list carry no kind.
  if (const auto own = reader.find("kind")) {
    std::string text;
    read(*own, text);
    if (text != kind) {
      own->fail(std::string("expected ").append(kind).append(", found \"").append(text) + "\"");
    }
  }
}

}  // namespace millwright::model::detail

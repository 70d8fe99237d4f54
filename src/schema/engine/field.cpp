#include "schema/engine/field.hpp"

#include <utility>

namespace millwright::schema {

Field Field::with_default(json::value value) && {
  default_value = std::move(value);
  return std::move(*this);
}
Field Field::pattern(const Pattern& pattern) && {
  pattern_rule = &pattern;
  return std::move(*this);
}
Field Field::one_of(std::vector<std::string> values) && {
  accepted = std::move(values);
  return std::move(*this);
}
Field Field::at_least(std::int64_t least) && {
  minimum = least;
  return std::move(*this);
}
Field Field::between(std::int64_t least, std::int64_t most) && {
  minimum = least;
  maximum = most;
  return std::move(*this);
}
Field Field::size_at_least(std::int64_t least) && {
  least_size = least;
  return std::move(*this);
}
Field Field::size_at_most(std::int64_t most) && {
  most_size = most;
  return std::move(*this);
}
Field Field::as_set() && {
  list_type = ListType::Set;
  return std::move(*this);
}
Field Field::keyed_by(std::vector<std::string> keys) && {
  list_type = ListType::Map;
  list_keys = std::move(keys);
  return std::move(*this);
}
Field Field::as_atomic() && {
  atomic_map = true;
  return std::move(*this);
}
Field Field::keeping_unknown() && {
  open = true;
  return std::move(*this);
}
Field Field::hidden() && {
  secret = true;
  return std::move(*this);
}
Field Field::rule(Rule rule) && {
  rules.push_back(std::move(rule));
  return std::move(*this);
}
Field Field::entry_rule(EntryRule rule) && {
  entry_rules.push_back(std::move(rule));
  return std::move(*this);
}

const Member* Field::find(std::string_view name) const {
  for (const Member& candidate : members) {
    if (candidate.name == name) {
      return &candidate;
    }
  }
  return nullptr;
}

namespace {

Field make(Type type, std::string description, Format format = Format::None) {
  Field field;
  field.type = type;
  field.format = format;
  field.description = std::move(description);
  return field;
}

}  // namespace

Member required(std::string name, Field field) {
  return {std::move(name), std::move(field), true};
}
Member optional(std::string name, Field field) {
  return {std::move(name), std::move(field), false};
}

Field object(std::string description, std::vector<Member> members) {
  Field field = make(Type::Object, std::move(description));
  field.members = std::move(members);
  return field;
}
Field map_of(std::string description, Field value) {
  Field field = make(Type::Map, std::move(description));
  field.element.push_back(std::move(value));
  return field;
}
Field list_of(std::string description, Field item) {
  Field field = make(Type::List, std::move(description));
  field.element.push_back(std::move(item));
  return field;
}
Field string(std::string description) {
  return make(Type::String, std::move(description));
}
Field date_time(std::string description) {
  return make(Type::String, std::move(description), Format::DateTime);
}
Field int32(std::string description) {
  return make(Type::Integer, std::move(description), Format::Int32);
}
Field int64(std::string description) {
  return make(Type::Integer, std::move(description), Format::Int64);
}
Field number(std::string description) {
  return make(Type::Number, std::move(description));
}
Field boolean(std::string description) {
  return make(Type::Boolean, std::move(description));
}
Field quantity(std::string description) {
  return make(Type::Quantity, std::move(description)).pattern(patterns::quantity());
}

}  // namespace millwright::schema

#include "millwright/model/meta.hpp"

#include <algorithm>
#include <charconv>

namespace millwright::model {
namespace {

const std::string& find_or_empty(const StringMap& map, std::string_view key) {
  static const std::string empty;
  const auto found = map.find(key);
  return found == map.end() ? empty : found->second;
}

std::optional<std::uint64_t> as_number(std::string_view version) {
  std::uint64_t number = 0;
  const char* const end = version.data() + version.size();
  const auto [stop, error] = std::from_chars(version.data(), end, number);
  if (error != std::errc() || stop != end || version.empty()) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

bool is_lower_version(std::string_view a, std::string_view b) {
  const auto first = as_number(a);
  const auto second = as_number(b);
  return first && second && *first < *second;
}

bool ObjectMeta::has_finalizer(std::string_view finalizer) const {
  return std::find(finalizers.begin(), finalizers.end(), finalizer) != finalizers.end();
}

const std::string& ObjectMeta::label(std::string_view key) const {
  return find_or_empty(labels, key);
}

const std::string& ObjectMeta::annotation(std::string_view key) const {
  return find_or_empty(annotations, key);
}

const OwnerReference* ObjectMeta::controller() const {
  const auto found = std::find_if(owner_references.begin(), owner_references.end(),
                                  [](const OwnerReference& owner) { return owner.controller; });
  return found == owner_references.end() ? nullptr : &*found;
}

std::string ObjectKey::to_string() const {
  return namespace_.empty() ? name : namespace_ + "/" + name;
}

ObjectKey key_of(const ObjectMeta& meta) {
  return {meta.namespace_, meta.name};
}

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found =
      std::find_if(conditions.begin(), conditions.end(),
                   [type](const Condition& condition) { return condition.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

bool is_true(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* const condition = find_condition(conditions, type);
  return condition != nullptr && condition->status == ConditionStatus::True;
}

}  // namespace millwright::model

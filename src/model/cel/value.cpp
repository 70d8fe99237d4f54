#include "model/cel/value.hpp"

#include <array>
#include <limits>
#include <optional>

namespace millwright::model::cel {
namespace {

// Holds every int, uint and double exactly.
using Number = long double;
static_assert(std::numeric_limits<Number>::digits >= 64);

std::optional<Number> number_of(const Value& value) {
  if (const auto* const number = value.as<std::int64_t>()) {
    return static_cast<Number>(*number);
  }
  if (const auto* const number = value.as<std::uint64_t>()) {
    return static_cast<Number>(*number);
  }
  if (const auto* const number = value.as<double>()) {
    return static_cast<Number>(*number);
  }
  return std::nullopt;
}

std::size_t words(std::size_t bytes) {
  return bytes / sizeof(std::uint64_t);
}

base::Result<bool> equal_lists(const std::vector<Value>& a, const std::vector<Value>& b,
                               Budget& budget) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    MW_TRY(same, equal(a[i], b[i], budget));
    if (!same) {
      return false;
    }
  }
  return true;
}

base::Result<bool> equal_maps(const Map& a, const Map& b, Budget& budget) {
  if (a.entries.size() != b.entries.size()) {
    return false;
  }
  for (const auto& [key, value] : a.entries) {
    MW_TRY(other, find(b, key, budget));
    if (other == nullptr) {
      return false;
    }
    MW_TRY(same, equal(value, *other, budget));
    if (!same) {
      return false;
    }
  }
  return true;
}

// Kubernetes' types know only their own kind on the right, and null. CEL's are unequal to others.
base::Result<bool> equal_to_another_type(const Value& a, const Value& b) {
  const bool is_kubernetes = a.as<Quantity>() != nullptr || a.as<SharedVersion>() != nullptr;
  if (is_kubernetes && b.as<Null>() == nullptr) {
    return base::fail(
        base::ErrorKind::Invalid,
        std::string(type_name(a)) + " and " + std::string(type_name(b)) + " cannot be compared");
  }
  return false;
}

}  // namespace

Value make_text(std::string text) {
  return {std::make_shared<const std::string>(std::move(text))};
}

Value make_list(std::vector<Value> items) {
  return {std::make_shared<const std::vector<Value>>(std::move(items))};
}

Value make_map(Map map) {
  return {std::make_shared<const Map>(std::move(map))};
}

Value make_optional(Value value) {
  return {Optional{std::make_shared<const Value>(std::move(value))}};
}

Value make_version(Semver version) {
  return {std::make_shared<const Semver>(std::move(version))};
}

std::string_view type_name(const Value& value) {
  static constexpr std::array<std::string_view, std::variant_size_v<Value::Data>> kNames{
      "null_type", "bool", "int",      "uint",     "double", "string",
      "list",      "map",  "optional", "quantity", "semver"};
  return kNames.at(value.data.index());
}

std::string describe(const Value& key) {
  if (const auto* const text = key.as<SharedText>()) {
    constexpr std::size_t kShown = 64;
    return "\"" + (*text)->substr(0, kShown) + "\"";
  }
  if (const auto* const number = key.as<std::int64_t>()) {
    return std::to_string(*number);
  }
  if (const auto* const number = key.as<std::uint64_t>()) {
    return std::to_string(*number) + "u";
  }
  if (const auto* const flag = key.as<bool>()) {
    return *flag ? "true" : "false";
  }
  return "a value of type " + std::string(type_name(key));
}

base::Result<bool> equal(const Value& a, const Value& b, Budget& budget) {
  if (!budget.spend(1)) {
    return too_costly();
  }
  const auto number = number_of(a);
  const auto other_number = number_of(b);
  if (number && other_number) {
    return *number == *other_number;
  }
  if (a.data.index() != b.data.index()) {
    return equal_to_another_type(a, b);
  }
  if (const auto* const text = a.as<SharedText>()) {
    const std::string& other = **b.as<SharedText>();
    if (!budget.spend(words(other.size()))) {
      return too_costly();
    }
    return **text == other;
  }
  if (const auto* const list = a.as<SharedList>()) {
    return equal_lists(**list, **b.as<SharedList>(), budget);
  }
  if (const auto* const map = a.as<SharedMap>()) {
    return equal_maps(**map, **b.as<SharedMap>(), budget);
  }
  if (const auto* const optional = a.as<Optional>()) {
    const auto& other = b.as<Optional>()->value;
    if (optional->value == nullptr || other == nullptr) {
      return optional->value == other;
    }
    return equal(*optional->value, *other, budget);
  }
  if (const auto* const flag = a.as<bool>()) {
    return *flag == *b.as<bool>();
  }
  if (const auto* const quantity = a.as<Quantity>()) {
    return *quantity == *b.as<Quantity>();
  }
  if (const auto* const version = a.as<SharedVersion>()) {
    return **version == **b.as<SharedVersion>();
  }
  return true;  // null
}

base::Result<std::strong_ordering> compare(const Value& a, const Value& b) {
  const auto number = number_of(a);
  const auto other_number = number_of(b);
  if (number && other_number) {
    if (*number < *other_number) {
      return std::strong_ordering::less;
    }
    if (*number > *other_number) {
      return std::strong_ordering::greater;
    }
    if (*number == *other_number) {
      return std::strong_ordering::equal;
    }
    return base::fail(base::ErrorKind::Invalid, "what is not a number has no order");
  }
  if (const auto *text = a.as<SharedText>(), *other = b.as<SharedText>();
      text != nullptr && other != nullptr) {
    return **text <=> **other;
  }
  if (const auto *flag = a.as<bool>(), *other = b.as<bool>(); flag != nullptr && other != nullptr) {
    return *flag <=> *other;
  }
  return base::fail(base::ErrorKind::Invalid, std::string(type_name(a)) + " and " +
                                                  std::string(type_name(b)) + " have no order");
}

base::Result<const Value*> find(const Map& map, const Value& key, Budget& budget) {
  for (const auto& entry : map.entries) {
    MW_TRY(same, equal(entry.first, key, budget));
    if (same) {
      return &entry.second;
    }
  }
  return nullptr;
}

}  // namespace millwright::model::cel

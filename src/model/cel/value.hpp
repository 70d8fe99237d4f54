// What CEL expressions compute with. Text, lists and maps are shared and never change, so a value
// of any size is cheap to copy.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/model/quantity.hpp"
#include "model/cel/budget.hpp"
#include "model/cel/functions/semver.hpp"

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace millwright::model::cel {

struct Value;
struct Map;
struct Null {};
using SharedText = std::shared_ptr<const std::string>;
using SharedList = std::shared_ptr<const std::vector<Value>>;
using SharedMap = std::shared_ptr<const Map>;
using SharedVersion = std::shared_ptr<const Semver>;
// What device.?name gives: a value, or none.
struct Optional {
  std::shared_ptr<const Value> value;
};

struct Value {
  using Data = std::variant<Null, bool, std::int64_t, std::uint64_t, double, SharedText, SharedList,
                            SharedMap, Optional, Quantity, SharedVersion>;
  Data data;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
};

struct Map {
  std::vector<std::pair<Value, Value>> entries;
  // Selecting what is not there gives an empty map. Kubernetes has it so for the domains of
  // attributes, that expressions may ask for a name without asking for its domain first.
  bool missing_is_empty = false;
};

Value make_text(std::string text);
Value make_list(std::vector<Value> items);
Value make_map(Map map);
Value make_optional(Value value);
Value make_version(Semver version);

// "int", "string", as CEL calls it.
std::string_view type_name(const Value& value);
// "\"model\"", "3": for messages, shortened.
std::string describe(const Value& key);

// Numbers are equal by value, whatever their types; other values of different types are not equal.
// Invalid when that costs too much, and for a quantity or version and what is none.
base::Result<bool> equal(const Value& a, const Value& b, Budget& budget);
// Invalid for what has no order.
base::Result<std::strong_ordering> compare(const Value& a, const Value& b);
// The value at a key, or nullptr; Map::missing_is_empty does not count.
base::Result<const Value*> find(const Map& map, const Value& key, Budget& budget);

}  // namespace millwright::model::cel

// Hashes for tables that are looked up by the key of an object, or by a name without copying it.
#pragma once

#include "millwright/model/meta.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace millwright::cluster {

struct KeyHash {
  std::size_t operator()(const model::ObjectKey& key) const {
    return std::hash<std::string>{}(key.name) * 31 + std::hash<std::string>{}(key.namespace_);
  }
};

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>{}(name);
  }
};

}  // namespace millwright::cluster

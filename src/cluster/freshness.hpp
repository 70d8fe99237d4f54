// Which of two versions of an object is the older one.
#pragma once

#include "cluster/sorted_table.hpp"
#include "millwright/model/meta.hpp"

#include <memory>
#include <string_view>

namespace millwright::cluster {

// True only when `incoming` is clearly older than `known`: the same object with a lower resource
// version, or another object of the name that was created earlier. In doubt the later event wins.
bool is_stale(const model::ObjectMeta& known, const model::ObjectMeta& incoming);

// Both are versions of one object, as far as their uids tell.
bool is_same_object(const model::ObjectMeta& a, const model::ObjectMeta& b);

// The event repeats what is known (a relist does): same object, same version.
bool is_repeat(const model::ObjectMeta& known, const model::ObjectMeta& incoming);

// False when the event is clearly older than what is known, or repeats it.
template <class AnyTable, class T>
bool accept(AnyTable& table, TableKeyView key, const std::shared_ptr<const T>& object) {
  const auto known = table.find(key);
  if (known != nullptr) {
    if (is_stale(known->meta, object->meta)) {
      return false;
    }
    if constexpr (requires { *known == *object; }) {
      if (is_repeat(known->meta, object->meta) && *known == *object) {
        return false;
      }
    }
  }
  table.put(object);
  return true;
}

}  // namespace millwright::cluster

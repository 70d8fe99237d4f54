// Which of two versions of an object is the older one.
#pragma once

#include "millwright/model/meta.hpp"

namespace millwright::cluster {

// True only when `incoming` is clearly older than `known`: the same object with a lower resource
// version, or another object of the name that was created earlier. In doubt the later event wins.
// Resource versions compare as numbers (KEP-5504); any that are not numbers say nothing.
bool is_stale(const model::ObjectMeta& known, const model::ObjectMeta& incoming);

// Both are versions of one object, as far as their uids tell.
bool is_same_object(const model::ObjectMeta& a, const model::ObjectMeta& b);

// The event repeats what is known (a relist does): same object, same version.
bool is_repeat(const model::ObjectMeta& known, const model::ObjectMeta& incoming);

}  // namespace millwright::cluster

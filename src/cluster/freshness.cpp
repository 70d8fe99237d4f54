#include "cluster/freshness.hpp"

namespace millwright::cluster {

bool is_same_object(const model::ObjectMeta& a, const model::ObjectMeta& b) {
  return a.uid == b.uid || a.uid.empty() || b.uid.empty();
}

bool is_stale(const model::ObjectMeta& known, const model::ObjectMeta& incoming) {
  if (is_same_object(known, incoming)) {
    return model::is_lower_version(incoming.resource_version, known.resource_version);
  }
  if (!known.creation_timestamp || !incoming.creation_timestamp ||
      *known.creation_timestamp == *incoming.creation_timestamp) {
    // Creation times have whole seconds.
    return model::is_lower_version(incoming.resource_version, known.resource_version);
  }
  return *incoming.creation_timestamp < *known.creation_timestamp;
}

bool is_repeat(const model::ObjectMeta& known, const model::ObjectMeta& incoming) {
  return known.uid == incoming.uid && !known.resource_version.empty() &&
         known.resource_version == incoming.resource_version;
}

}  // namespace millwright::cluster

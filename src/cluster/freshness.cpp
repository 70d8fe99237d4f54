#include "cluster/freshness.hpp"

#include <charconv>

namespace millwright::cluster {
namespace {

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

bool is_same_object(const model::ObjectMeta& a, const model::ObjectMeta& b) {
  return a.uid == b.uid || a.uid.empty() || b.uid.empty();
}

bool is_stale(const model::ObjectMeta& known, const model::ObjectMeta& incoming) {
  if (is_same_object(known, incoming)) {
    return is_lower_version(incoming.resource_version, known.resource_version);
  }
  if (!known.creation_timestamp || !incoming.creation_timestamp ||
      *known.creation_timestamp == *incoming.creation_timestamp) {
    // Creation times have whole seconds.
    return is_lower_version(incoming.resource_version, known.resource_version);
  }
  return *incoming.creation_timestamp < *known.creation_timestamp;
}

bool is_repeat(const model::ObjectMeta& known, const model::ObjectMeta& incoming) {
  return known.uid == incoming.uid && !known.resource_version.empty() &&
         known.resource_version == incoming.resource_version;
}

}  // namespace millwright::cluster

#include "cloud/aws/unavailable.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

std::string key_of(std::string_view type, std::string_view zone, std::string_view capacity_type) {
  std::string key(capacity_type);
  return key.append(":").append(type).append(":").append(zone);
}

}  // namespace

void UnavailableOfferings::mark(std::string_view type, std::string_view zone,
                                std::string_view capacity_type, base::TimePoint now) {
  until_[key_of(type, zone, capacity_type)] = now + kTtl;
}

bool UnavailableOfferings::is_marked(std::string_view type, std::string_view zone,
                                     std::string_view capacity_type, base::TimePoint now) const {
  if (until_.empty()) {
    return false;
  }
  const auto marked = [&](std::string_view t, std::string_view z) {
    const auto found = until_.find(key_of(t, z, capacity_type));
    return found != until_.end() && now < found->second;
  };
  return marked(type, zone) || marked("", zone) || marked(type, "") || marked("", "");
}

bool UnavailableOfferings::sweep(base::TimePoint now) {
  return std::erase_if(until_, [now](const auto& mark) { return mark.second <= now; }) > 0;
}

std::optional<base::TimePoint> UnavailableOfferings::next_end() const {
  const auto first =
      std::min_element(until_.begin(), until_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return first == until_.end() ? std::nullopt : std::optional(first->second);
}

}  // namespace millwright::cloud::aws

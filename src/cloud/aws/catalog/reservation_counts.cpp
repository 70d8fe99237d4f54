#include "cloud/aws/catalog/reservation_counts.hpp"

namespace millwright::cloud::aws {

bool ReservationCounts::set(const std::string& id, std::int64_t available) {
  const auto [found, added] = left_.try_emplace(id, available);
  const bool changed = added || found->second != available;
  found->second = available;
  return changed;
}

void ReservationCounts::take(const std::string& id) {
  if (const auto found = left_.find(id); found != left_.end() && found->second > 0) {
    --found->second;
  }
}

int ReservationCounts::left(std::string_view id) const {
  const auto found = left_.find(id);
  return found == left_.end() ? 0 : static_cast<int>(found->second);
}

}  // namespace millwright::cloud::aws

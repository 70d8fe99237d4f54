#include "cluster/demand/namespace_use.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <limits>

namespace millwright::cluster {

void NamespaceUse::count(const model::Pod& pod, std::int64_t times) {
  const auto entry = by_namespace_.try_emplace(pod.meta.namespace_).first;
  Sums& sums = entry->second;
  sums.objects += times;
  if (!model::is_terminal(pod)) {
    for (const auto& [resource, quantity] : scheduling::effective_requests(pod)) {
      sums.requests[resource] +=
          static_cast<std::uint64_t>(quantity.milli()) * static_cast<std::uint64_t>(times);
    }
    std::erase_if(sums.requests, [](const auto& sum) { return sum.second == 0; });
  }
  if (sums.objects == 0) {
    by_namespace_.erase(entry);
  }
}

model::QuotaUse NamespaceUse::of(std::string_view name) const {
  model::QuotaUse use;
  const auto found = by_namespace_.find(name);
  if (found == by_namespace_.end()) {
    return use;
  }
  use.objects = found->second.objects;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const auto& [resource, sum] : found->second.requests) {
    use.requests.emplace(
        resource, model::Quantity::from_milli(static_cast<std::int64_t>(std::min(sum, kMost))));
  }
  return use;
}

}  // namespace millwright::cluster

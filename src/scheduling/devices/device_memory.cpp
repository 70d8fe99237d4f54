#include "scheduling/devices/device_memory.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

// One after the other they are about other pods, and the pods ask for other devices.
constexpr std::uint64_t kProblemsRemembered = 8;

}  // namespace

void DeviceMemory::begin() {
  ++problem_;
  const auto is_old = [this](std::uint64_t used) { return used + kProblemsRemembered < problem_; };
  std::erase_if(masks_, [&](const auto& entry) { return is_old(entry.second.used); });
  std::erase_if(changed_, [&](const Changed& changed) { return is_old(changed.used); });
}

InstanceTypes DeviceMemory::with(const InstanceTypes& types,
                                 const std::vector<model::ResourceList>& offered) {
  const auto known = std::find_if(changed_.begin(), changed_.end(), [&](const Changed& changed) {
    return changed.from == types && changed.offered == offered;
  });
  if (known != changed_.end()) {
    known->used = problem_;
    return known->to;
  }
  auto copy = std::make_shared<std::vector<InstanceType>>(*types);
  for (std::size_t i = 0; i < copy->size(); ++i) {
    model::add_to((*copy)[i].capacity, offered[i]);
  }
  changed_.push_back({.from = types, .offered = offered, .to = copy, .used = problem_});
  return copy;
}

}  // namespace millwright::scheduling

#include "cloud/alibaba/health/recycled_instances.hpp"

namespace millwright::cloud::alibaba {

base::Task<void> RecycledInstances::look_at(std::vector<EcsInstance> instances) {
  for (const auto& instance : instances) {
    if (!instance.is_recycling || !instance.is_spot) {
      continue;
    }
    parts_.catalog.unavailable().mark(instance.type, instance.zone, model::kSpot,
                                      parts_.loop.now());
    parts_.restock.marked();
    if (!handler_) {
      continue;
    }
    InstanceNotice notice{.provider_id = parts_.region + "." + instance.id,
                          .kind = "spot_interrupted",
                          .reason = "SpotInterrupted",
                          .message = "Alibaba Cloud takes the spot instance back",
                          .action = InstanceNotice::Action::Drain};
    const auto told = co_await handler_(std::move(notice));
    if (!told) {
      parts_.log.warn("an interruption could not be acted on", {{"error", told.error().message}});
    }
  }
}

}  // namespace millwright::cloud::alibaba

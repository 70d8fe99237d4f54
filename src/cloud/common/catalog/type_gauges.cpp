#include "cloud/common/catalog/type_gauges.hpp"

#include "millwright/model/labels.hpp"
#include "millwright/model/resources.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace millwright::cloud {
namespace {

constexpr const char* kPrice = "karpenter_cloudprovider_instance_type_offering_price_estimate";
constexpr const char* kAvailable = "karpenter_cloudprovider_instance_type_offering_available";
constexpr const char* kCores = "karpenter_cloudprovider_instance_type_cpu_cores";
constexpr const char* kMemory = "karpenter_cloudprovider_instance_type_memory_bytes";
constexpr const char* kOfClass = "millwright_cloudprovider_nodeclass_offerings_available";

base::MetricLabels labels_of_class(const model::NodeClassReference& of) {
  return {{"group", of.group}, {"kind", of.kind}, {"nodeclass", of.name}};
}

}  // namespace

// Among several reservations of a type in a zone, one that has room counts.
void TypeGauges::show(ShownByLabels& shown, const std::string& type,
                      const scheduling::Offering& offering) {
  base::MetricLabels labels{{"instance_type", type},
                            {"capacity_type", std::string(offering.capacity_type())},
                            {"zone", std::string(offering.zone())}};
  const Shown now{.price = offering.price, .available = offering.available};
  const auto [place, is_new] = shown.emplace(std::move(labels), now);
  if (!is_new && now.available && !place->second.available) {
    place->second = now;
  }
}

void TypeGauges::show_for_all(base::Metrics& metrics, const base::MetricLabels& labels) const {
  const Shown* best = nullptr;
  for (const auto& [of, offerings] : shown_) {
    const auto found = offerings.find(labels);
    if (found == offerings.end()) {
      continue;
    }
    if (best == nullptr || (found->second.available && !best->available)) {
      best = &found->second;
    }
  }
  if (best == nullptr) {
    metrics.remove(kPrice, labels);
    metrics.remove(kAvailable, labels);
    return;
  }
  metrics.set(kPrice, "What an hour of the offering is taken to cost.", labels, best->price);
  metrics.set(kAvailable, "Whether the offering can be bought now (1) or not (0).", labels,
              best->available ? 1 : 0);
}

void TypeGauges::replace(base::Metrics& metrics, const model::NodeClassReference& of,
                         ShownByLabels now) {
  const auto before = std::exchange(shown_[of], std::move(now));
  for (const auto& [labels, _] : before) {
    show_for_all(metrics, labels);
  }
  for (const auto& [labels, _] : shown_[of]) {
    if (!before.contains(labels)) {
      show_for_all(metrics, labels);
    }
  }
}

void TypeGauges::publish(base::Metrics& metrics, const model::NodeClassReference& of,
                         scheduling::InstanceTypes types) {
  auto& before = published_[of];
  if (before == types) {
    return;
  }
  before = types;
  ShownByLabels shown;
  for (const auto& type : *types) {
    const base::MetricLabels labels{{"instance_type", type.name}};
    metrics.set(kCores, "CPU cores of the instance type.", labels,
                model::get(type.capacity, model::kCpu).as_double());
    metrics.set(kMemory, "Memory of the instance type's nodes in bytes.", labels,
                model::get(type.capacity, model::kMemory).as_double());
    for (const auto& offering : type.offerings) {
      show(shown, type.name, offering);
    }
  }
  const auto available = std::count_if(shown.begin(), shown.end(),
                                       [](const auto& item) { return item.second.available; });
  metrics.set(kOfClass, "Offerings that can be bought for the NodeClass now.", labels_of_class(of),
              static_cast<double>(available));
  replace(metrics, of, std::move(shown));
}

void TypeGauges::forget(base::Metrics& metrics, const model::NodeClassReference& of) {
  if (published_.erase(of) == 0) {
    return;
  }
  replace(metrics, of, {});
  shown_.erase(of);
  metrics.remove(kOfClass, labels_of_class(of));
}

}  // namespace millwright::cloud

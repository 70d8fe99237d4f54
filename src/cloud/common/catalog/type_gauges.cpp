#include "cloud/common/catalog/type_gauges.hpp"

#include "millwright/model/labels.hpp"
#include "millwright/model/resources.hpp"

#include <string_view>

namespace millwright::cloud {
namespace {

constexpr const char* kPrice = "karpenter_cloudprovider_instance_type_offering_price_estimate";
constexpr const char* kAvailable = "karpenter_cloudprovider_instance_type_offering_available";
constexpr const char* kCores = "karpenter_cloudprovider_instance_type_cpu_cores";
constexpr const char* kMemory = "karpenter_cloudprovider_instance_type_memory_bytes";

// Among several reservations of a type in a zone, one that has room counts.
using Shown = std::map<base::MetricLabels, const scheduling::Offering*>;

void show(Shown& shown, const std::string& type, const scheduling::Offering& offering) {
  base::MetricLabels labels{{"instance_type", type},
                            {"capacity_type", std::string(offering.capacity_type())},
                            {"zone", std::string(offering.zone())}};
  auto& known = shown[std::move(labels)];
  if (known == nullptr || (offering.available && !known->available)) {
    known = &offering;
  }
}

}  // namespace

void TypeGauges::publish(base::Metrics& metrics, const std::string& of,
                         scheduling::InstanceTypes types) {
  auto& before = published_[of];
  if (before == types) {
    return;
  }
  before = types;
  Shown shown;
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
  auto gone = std::move(series_[of]);
  std::set<base::MetricLabels> now;
  for (const auto& [labels, offering] : shown) {
    metrics.set(kPrice, "What an hour of the offering is taken to cost.", labels, offering->price);
    metrics.set(kAvailable, "Whether the offering can be bought now (1) or not (0).", labels,
                offering->available ? 1 : 0);
    gone.erase(labels);
    now.insert(labels);
  }
  for (const auto& labels : gone) {
    metrics.remove(kPrice, labels);
    metrics.remove(kAvailable, labels);
  }
  series_[of] = std::move(now);
}

}  // namespace millwright::cloud

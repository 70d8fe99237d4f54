#include "cloud/huawei/catalog/catalog.hpp"

#include "cloud/huawei/catalog/capacity.hpp"
#include "cloud/huawei_labels.hpp"
#include "millwright/model/labels.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>

namespace millwright::cloud::huawei {
namespace {

using scheduling::Requirement;

// A flavor that BSS has no price for is the last choice, as with Karpenter's provider; finite, so
// that sums of prices stay so.
constexpr double kUnknownPrice = 1e6;
// Of what a machine costs while no price is known at all, so that flavors are ordered by size.
constexpr double kEstimatePerCpu = 0.035;
constexpr double kEstimatePerGib = 0.004;
constexpr double kEstimatePerGpu = 0.5;
constexpr base::Duration kTypesKept = std::chrono::hours(24);  // of a class that nobody asks for

double estimated_price(const Flavor& flavor) {
  return kEstimatePerCpu * static_cast<double>(flavor.cpus) +
         kEstimatePerGib * static_cast<double>(flavor.memory_mib) / 1024 +
         kEstimatePerGpu * static_cast<double>(flavor.gpus);
}

// What is sold out is offered as not available: without an offering, its nodes would look as if
// their flavor did not exist.
void add_offering(scheduling::InstanceType& type, const SaleByZone::value_type& sale,
                  std::string_view capacity_type, double price) {
  const auto& [zone, state] = sale;
  auto& offering = type.offerings.emplace_back();
  offering.available = state == Sale::Open;
  offering.requirements.add(Requirement::in(model::kZoneLabel, {zone}));
  offering.requirements.add(
      Requirement::in(model::kCapacityTypeLabel, {std::string(capacity_type)}));
  offering.price = price;
}

std::vector<std::string> zones_of(const SaleByZone& sale) {
  std::vector<std::string> zones;
  zones.reserve(sale.size());
  for (const auto& [zone, state] : sale) {
    zones.push_back(zone);
  }
  return zones;
}

void label_flavor(scheduling::Requirements& labels, const Flavor& flavor) {
  const auto add = [&labels](std::string_view name, std::string value) {
    const auto key = std::string(kHuaweiLabelDomain).append("/instance-").append(name);
    if (value.empty()) {
      labels.add(Requirement(key, model::Operator::DoesNotExist));
    } else {
      labels.add(Requirement::in(key, {std::move(value)}));
    }
  };
  const auto parts = parts_of_name(flavor.name);
  add("category", parts.category);
  add("family", parts.family);
  add("generation", parts.generation);
  add("size", parts.size);
  add("cpu", std::to_string(flavor.cpus));
  add("memory", std::to_string(flavor.memory_mib));
  const auto bandwidth = flavor.bandwidth_mbps;
  add("network-bandwidth", bandwidth ? std::to_string(*bandwidth) : "");
  std::string gpu = flavor.gpu_name;  // label values have no spaces
  std::replace(gpu.begin(), gpu.end(), ' ', '-');
  add("gpu-name", gpu);
  add("gpu-count", flavor.gpus > 0 ? std::to_string(flavor.gpus) : "");
  // The API tells neither.
  add("gpu-manufacturer", "");
  add("gpu-memory", "");
}

}  // namespace

void register_labels() {
  for (const auto key : kHuaweiLabels) {
    model::register_well_known_label(key);
  }
  model::register_restricted_domain(kHuaweiLabelDomain);
}

void Catalog::set_flavors(std::vector<Flavor> flavors) {
  if (flavors.empty()) {
    return;
  }
  flavors_ = std::move(flavors);
  const auto by_name = [](const Flavor& a, const Flavor& b) { return a.name < b.name; };
  const auto same_name = [](const Flavor& a, const Flavor& b) { return a.name == b.name; };
  std::stable_sort(flavors_.begin(), flavors_.end(), by_name);
  flavors_.erase(std::unique(flavors_.begin(), flavors_.end(), same_name), flavors_.end());
}

void Catalog::set_zones(std::vector<std::string> zones) {
  if (!zones.empty()) {
    zones_ = std::move(zones);
  }
}

void Catalog::changed() {
  ++version_;
  if (on_change_) {
    on_change_();
  }
}

const Flavor* Catalog::find(std::string_view name) const {
  const auto found =
      std::lower_bound(flavors_.begin(), flavors_.end(), name,
                       [](const Flavor& flavor, std::string_view n) { return flavor.name < n; });
  return found != flavors_.end() && found->name == name ? &*found : nullptr;
}

std::vector<std::string> Catalog::names_on_sale() const {
  std::vector<std::string> result;
  for (const auto& flavor : flavors_) {
    if (!sale_of(flavor, zones_).empty()) {
      result.push_back(flavor.name);
    }
  }
  return result;
}

scheduling::InstanceTypes Catalog::types(const model::NodeClass& node_class, base::TimePoint now) {
  auto made_from = std::to_string(version_) + boost::json::serialize(node_class.spec) +
                   boost::json::serialize(node_class.status);
  auto& cached = cached_[model::reference_to(node_class)];
  cached.asked = now;
  if (cached.types != nullptr && cached.made_from == made_from) {
    return cached.types;
  }
  const auto spec = read_spec(node_class);
  const bool has_subnet = !read_subnets(node_class).empty();
  auto made = std::make_shared<std::vector<scheduling::InstanceType>>();
  for (const auto& flavor : flavors_) {
    made->push_back(make(flavor, spec, has_subnet, now));
  }
  cached.made_from = std::move(made_from);
  cached.types = std::move(made);
  // Of classes that were deleted.
  std::erase_if(cached_, [now](const auto& each) { return now - each.second.asked > kTypesKept; });
  return cached.types;
}

scheduling::InstanceType Catalog::make(const Flavor& flavor, const NodeClassSpec& spec,
                                       bool has_subnet, base::TimePoint now) const {
  scheduling::InstanceType type;
  type.name = flavor.name;
  type.capacity = capacity_of(flavor, spec);
  if (const auto memory = memory_.find(flavor.name, spec.ims_family, now)) {
    type.capacity[std::string(model::kMemory)] = *memory;
  }
  type.overhead = overhead_of(flavor, spec, type.capacity);
  auto& labels = type.requirements;
  const auto pin = [&labels](std::string_view key, std::vector<std::string> values) {
    labels.add(Requirement::in(key, std::move(values)));
  };
  const auto sale = sale_of(flavor, zones_);
  pin(model::kInstanceTypeLabel, {flavor.name});
  pin(model::kArchLabel, {flavor.arch});
  pin(model::kOsLabel, {"linux"});
  pin(model::kRegionLabel, {region_});
  pin(model::kZoneLabel, zones_of(sale));
  const auto spot_sale = spot_ ? spot_sale_of(flavor, zones_) : SaleByZone();
  std::vector<std::string> capacity_types{std::string(model::kOnDemand)};
  if (!spot_sale.empty()) {
    capacity_types.emplace_back(model::kSpot);
  }
  pin(model::kCapacityTypeLabel, std::move(capacity_types));
  label_flavor(labels, flavor);
  const auto price =
      prices_.on_demand(flavor.name, estimated_price(flavor)).value_or(kUnknownPrice);
  for (const auto& each : sale) {
    add_offering(type, each, model::kOnDemand, price);
  }
  // No API tells what spot costs. Without the operator's own figure it counts as costing what
  // on-demand costs: no plan is made for a saving that nobody promised.
  for (const auto& each : spot_sale) {
    const auto own = prices_.spot(flavor.name, each.first);
    add_offering(type, each, model::kSpot, own.value_or(price));
  }
  for (auto& offering : type.offerings) {
    offering.available =
        offering.available && has_subnet &&
        !unavailable_.is_marked(flavor.name, offering.zone(), offering.capacity_type(), now);
  }
  return type;
}

}  // namespace millwright::cloud::huawei

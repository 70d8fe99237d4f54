#include "cloud/alibaba/catalog/catalog.hpp"

#include "cloud/alibaba/catalog/type_labels.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <set>

namespace millwright::cloud::alibaba {
namespace {

using scheduling::Offering;
using scheduling::Requirement;

constexpr base::Duration kTypesKept = std::chrono::hours(24);  // of a class that nobody asks for

// Changes with the NodeClass, whose resourceVersion says so if it comes from a cluster.
std::string made_from(const model::NodeClass& node_class, std::uint64_t version) {
  std::string text = node_class.meta.uid + "/" + std::to_string(version) + "/";
  if (!node_class.meta.resource_version.empty()) {
    return text + node_class.meta.resource_version;
  }
  return text + boost::json::serialize(node_class.spec) + boost::json::serialize(node_class.status);
}

Offering offering_in(const std::string& zone, std::string_view capacity_type,
                     std::optional<double> price) {
  Offering offering;
  offering.requirements.add(Requirement::in(model::kZoneLabel, {zone}));
  offering.requirements.add(Requirement::in(kZoneIdLabel, {zone}));
  offering.requirements.add(
      Requirement::in(model::kCapacityTypeLabel, {std::string(capacity_type)}));
  offering.price = price.value_or(0);
  offering.available = price.has_value();
  return offering;
}

bool is_exclusive(const model::StringMap& labels) {
  const auto found = labels.find(kExclusiveLabel);
  return found != labels.end() && found->second == kExclusive;
}

// In the currency of the account, per hour: near the list prices of general purpose families. Only
// the order of types depends on it, and only while ECS has told no price at all.
double estimated_price(const TypeFacts& type) {
  const auto cpus = static_cast<double>(type.cpus);
  const auto gib = static_cast<double>(type.memory_mib) / 1024;
  return cpus * 0.12 + gib * 0.03 + static_cast<double>(type.gpus) * 8;
}

}  // namespace

// Names of objects have no slash.
std::string Catalog::scope_name(const NodeClassSpec& spec) {
  return (spec.official ? "official/" : "") + spec.name;
}

void Catalog::set_types(std::vector<TypeFacts> types) {
  if (types.empty()) {
    return;
  }
  std::sort(types.begin(), types.end(),
            [](const TypeFacts& a, const TypeFacts& b) { return a.name < b.name; });
  types_ = std::move(types);
  ++version_;
}

bool Catalog::set_stock(const StockByType& on_demand, const StockByType& spot) {
  if (on_demand.empty()) {
    return false;
  }
  auto now = zones_;
  for (auto& [type, markets] : now) {
    for (auto& [zone, market] : markets) {
      market = {};
    }
  }
  for (const auto& [type, zones] : on_demand) {
    for (const auto& [zone, in_stock] : zones) {
      now[type][zone].on_demand = in_stock;
    }
  }
  for (const auto& [type, zones] : spot) {
    for (const auto& [zone, in_stock] : zones) {
      now[type][zone].spot = in_stock;
    }
  }
  if (now == zones_) {
    return false;
  }
  zones_ = std::move(now);
  ++version_;
  return true;
}

void Catalog::set_network(Network network, Interfaces interfaces) {
  if (settings_.network != network || settings_.interfaces != interfaces) {
    settings_.network = network;
    settings_.interfaces = interfaces;
    changed();
  }
}

void Catalog::changed() {
  ++version_;
  if (on_change_) {
    on_change_();
  }
}

const TypeFacts* Catalog::find(std::string_view name) const {
  const auto found =
      std::lower_bound(types_.begin(), types_.end(), name,
                       [](const TypeFacts& type, std::string_view n) { return type.name < n; });
  return found == types_.end() || found->name != name ? nullptr : &*found;
}

scheduling::InstanceTypes Catalog::types(const model::NodeClass& node_class,
                                         const model::StringMap& labels, base::TimePoint now) {
  auto settings = settings_;
  if (is_exclusive(labels)) {
    settings.interfaces = Interfaces::Exclusive;
  }
  auto& cached = cached_[{model::reference_to(node_class), settings.interfaces}];
  cached.asked = now;
  auto from = made_from(node_class, version_);
  if (cached.types && cached.made_from == from) {
    return cached.types;
  }
  const NodeKind kind{
      .spec = read_spec(node_class), .findings = read_status(node_class), .settings = settings};
  auto result = std::make_shared<std::vector<scheduling::InstanceType>>();
  for (const auto& facts : types_) {
    if (has_room_for_pods(facts, kind.spec, kind.settings)) {
      result->push_back(make(facts, kind, now));
    }
  }
  cached.made_from = std::move(from);
  cached.types = std::move(result);
  // Of classes that were deleted.
  std::erase_if(cached_, [now](const auto& each) { return now - each.second.asked > kTypesKept; });
  return cached.types;
}

scheduling::InstanceType Catalog::make(const TypeFacts& facts, const NodeKind& kind,
                                       base::TimePoint now) const {
  scheduling::InstanceType type;
  type.name = facts.name;
  type.requirements = labels_of(facts, kind.spec, region_);
  const auto* image = image_for(kind.findings.images, type.requirements);
  type.capacity = capacity_of(facts, kind.spec, kind.settings);
  if (image != nullptr) {
    if (const auto memory = memory_.find(facts.name, image->id, now)) {
      type.capacity[std::string(model::kMemory)] = *memory;
    }
  }
  type.overhead = overhead_of(facts, kind.spec, type.capacity);
  add_offerings(type, facts, kind, now);
  if (image == nullptr) {
    for (auto& offering : type.offerings) {
      offering.available = false;
    }
  }
  return type;
}

void Catalog::add_offerings(scheduling::InstanceType& type, const TypeFacts& facts,
                            const NodeKind& kind, base::TimePoint now) const {
  const auto class_name = scope_name(kind.spec);
  const MarkScope scope{.node_class = class_name};
  std::set<std::string> zones;  // one offering per zone: the launch chooses among its vSwitches
  for (const auto& vswitch : kind.findings.vswitches) {
    zones.insert(vswitch.zone);
  }
  std::vector<std::string> sold_in;
  std::set<std::string> capacity_types;
  const auto markets = zones_.find(facts.name);
  const auto on_demand = prices_.on_demand(facts.name, estimated_price(facts));
  for (const auto& zone : zones) {
    if (markets == zones_.end() || !markets->second.contains(zone)) {
      continue;
    }
    const auto& market = markets->second.at(zone);
    sold_in.push_back(zone);
    const auto add = [&](std::string_view capacity_type, bool stock, std::optional<double> price) {
      auto& offering = type.offerings.emplace_back(offering_in(zone, capacity_type, price));
      offering.available = offering.available && stock &&
                           !unavailable_.is_marked(facts.name, zone, capacity_type, now, scope);
      capacity_types.emplace(capacity_type);
    };
    add(model::kSpot, market.spot, prices_.spot(facts.name, zone));
    add(model::kOnDemand, market.on_demand, on_demand);
  }
  type.requirements.add(Requirement::in(model::kZoneLabel, sold_in));
  type.requirements.add(Requirement::in(kZoneIdLabel, sold_in));
  type.requirements.add(
      Requirement::in(model::kCapacityTypeLabel, {capacity_types.begin(), capacity_types.end()}));
}

}  // namespace millwright::cloud::alibaba

#include "cloud/aws/catalog/catalog.hpp"

#include "cloud/aws/catalog/estimated_price.hpp"
#include "cloud/aws/catalog/type_labels.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

// Reserved capacity is paid for already: almost free, but with cheaper types before dearer ones.
constexpr double kReservedPriceDivisor = 10'000'000;

using scheduling::Offering;
using scheduling::Requirement;

bool by_name(const TypeFacts& a, const TypeFacts& b) {
  return a.name < b.name;
}

// False for types that the family's images cannot run on, or that cannot do what the class asks.
bool is_compatible(const TypeFacts& type, const NodeClassSpec& spec) {
  // Only the Nitro System tracks connections as told; all bare metal is of it.
  if (spec.tracking.is_given() && type.hypervisor != "nitro" && !type.bare_metal) {
    return false;
  }
  if (spec.family == Family::Al2023 && type.name.starts_with("a1.")) {
    return false;
  }
  return !is_windows(spec.family) || type.arch == "amd64";
}

void pin_reservation(scheduling::Requirements& to, const CapacityReservation& reservation) {
  to.add(Requirement::in(kReservationIdLabel, {reservation.id}));
  to.add(Requirement::in(kReservationTypeLabel, {reservation.kind}));
  to.add(Requirement::in(kReservationInterruptibleLabel,
                         {reservation.interruptible ? "true" : "false"}));
}

void make_unavailable(scheduling::InstanceType& type) {
  for (auto& offering : type.offerings) {
    offering.available = false;
  }
}

// Changes with the NodeClass, whose resourceVersion says so if it comes from a cluster.
std::string fingerprint(const model::NodeClass& node_class, std::uint64_t version) {
  std::string text = node_class.meta.uid + "/" + std::to_string(version) + "/";
  if (!node_class.meta.resource_version.empty()) {
    return text + node_class.meta.resource_version;
  }
  return text + boost::json::serialize(node_class.spec) + boost::json::serialize(node_class.status);
}

// Something of a type to buy: where, how, and for how much. No price: it cannot be bought now.
struct Offer {
  const ResolvedSubnet& subnet;
  std::string_view capacity_type;
  std::optional<double> price;
};

Offering offering_of(const Offer& offer) {
  Offering result;
  result.requirements.add(Requirement::in(model::kZoneLabel, {offer.subnet.zone}));
  result.requirements.add(
      Requirement::in(model::kCapacityTypeLabel, {std::string(offer.capacity_type)}));
  if (!offer.subnet.zone_id.empty()) {
    result.requirements.add(Requirement::in(kZoneIdLabel, {offer.subnet.zone_id}));
  }
  result.price = offer.price.value_or(0);
  result.available = offer.price.has_value();
  return result;
}

// One subnet per zone: the launch chooses among a zone's subnets.
std::vector<ResolvedSubnet> zones_of(const NodeClassFindings& findings) {
  std::vector<ResolvedSubnet> result = findings.subnets;
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.zone < b.zone; });
  result.erase(std::unique(result.begin(), result.end(),
                           [](const auto& a, const auto& b) { return a.zone == b.zone; }),
               result.end());
  return result;
}

std::vector<std::string> sorted_unique(std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void replace_all(scheduling::InstanceType& type, std::string_view key,
                 std::vector<std::string> values) {
  type.requirements.replace(Requirement::in(key, sorted_unique(std::move(values))));
}

// Where and how a type is sold: the values of its own labels.
struct Markets {
  std::vector<std::string> zones;
  std::vector<std::string> zone_ids;
  std::vector<std::string> capacity_types;

  void add_zone(const ResolvedSubnet& subnet) {
    zones.push_back(subnet.zone);
    if (!subnet.zone_id.empty()) {
      zone_ids.push_back(subnet.zone_id);
    }
  }
  void label(scheduling::InstanceType& type) {
    const auto add = [&type](std::string_view key, std::vector<std::string> values) {
      type.requirements.add(Requirement::in(key, sorted_unique(std::move(values))));
    };
    add(model::kZoneLabel, std::move(zones));
    add(kZoneIdLabel, std::move(zone_ids));
    add(model::kCapacityTypeLabel, std::move(capacity_types));
  }
};

// A type that can be launched into reservations has the labels of all of them.
void pin_reservations(scheduling::InstanceType& type,
                      const std::vector<const CapacityReservation*>& usable) {
  std::vector<std::string> ids;
  std::vector<std::string> kinds;
  std::vector<std::string> interruptible;
  for (const auto* each : usable) {
    ids.push_back(each->id);
    kinds.push_back(each->kind);
    interruptible.emplace_back(each->interruptible ? "true" : "false");
  }
  for (auto& offering : type.offerings) {
    if (offering.capacity_type() == model::kReserved) {
      continue;
    }
    for (const auto key :
         {kReservationIdLabel, kReservationTypeLabel, kReservationInterruptibleLabel}) {
      offering.requirements.add(Requirement(key, model::Operator::DoesNotExist));
    }
  }
  replace_all(type, kReservationIdLabel, std::move(ids));
  replace_all(type, kReservationTypeLabel, std::move(kinds));
  replace_all(type, kReservationInterruptibleLabel, std::move(interruptible));
}

}  // namespace

void Catalog::set_types(std::vector<TypeFacts> types) {
  if (types.empty()) {
    return;
  }
  std::sort(types.begin(), types.end(), by_name);
  types_ = std::move(types);
  touch();
}

void Catalog::set_zones(ZonesByType zones) {
  if (!zones.empty()) {
    zones_ = std::move(zones);
    touch();
  }
}

void Catalog::changed() {
  touch();
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

scheduling::InstanceTypes Catalog::types(const model::NodeClass& node_class, base::TimePoint now) {
  auto& cached = cached_[model::reference_to(node_class)];
  auto made_from = fingerprint(node_class, version_);
  if (cached.types && cached.made_from == made_from) {
    return cached.types;
  }
  const auto spec = read_spec(node_class);
  auto findings = read_status(node_class);
  findings.subnets = zones_of(findings);
  auto result = std::make_shared<std::vector<scheduling::InstanceType>>();
  for (const auto& facts : types_) {
    if (is_compatible(facts, spec)) {
      auto& type = result->emplace_back(make(facts, spec, findings, now));
      if (spec.placement.is_given()) {
        place(type, facts, spec.placement, now);
      }
    }
  }
  cached = {std::move(made_from), std::move(result)};
  return cached.types;
}

scheduling::InstanceType Catalog::make(const TypeFacts& facts, const NodeClassSpec& spec,
                                       const NodeClassFindings& findings,
                                       base::TimePoint now) const {
  scheduling::InstanceType type;
  type.name = facts.name;
  type.requirements = labels_of(facts, spec, region_);
  const auto* image = image_for(findings.images, type.requirements);
  type.capacity = capacity_of(facts, spec, settings_);
  if (image != nullptr) {
    if (const auto memory = memory_.find(facts.name, image->id, now)) {
      type.capacity[std::string(model::kMemory)] = *memory;
    }
  }
  type.overhead = overhead_of(facts, spec, type.capacity);
  type.volume_limits = volume_limits_of(facts, spec);
  Markets markets;
  const auto zones = zones_.find(facts.name);
  const auto on_demand = prices_.on_demand(facts.name, estimated_price(facts));
  const auto add = [&](const Offer& offer) {
    auto& added = type.offerings.emplace_back(offering_of(offer));
    added.available =
        added.available && !unavailable_.is_shifted(offer.subnet.zone_id, now) &&
        !unavailable_.is_marked(facts.name, offer.subnet.zone, offer.capacity_type, now);
    markets.capacity_types.emplace_back(offer.capacity_type);
  };
  for (const auto& subnet : findings.subnets) {
    if (zones == zones_.end() || !zones->second.contains(subnet.zone)) {
      continue;
    }
    markets.add_zone(subnet);
    if (facts.has_spot) {
      add({subnet, model::kSpot, prices_.spot(facts.name, subnet.zone)});
    }
    if (facts.has_on_demand) {
      add({subnet, model::kOnDemand, on_demand});
    }
  }
  std::vector<const CapacityReservation*> usable;
  for (const auto& reservation : findings.reservations) {
    const auto subnet = std::find_if(findings.subnets.begin(), findings.subnets.end(),
                                     [&](const auto& s) { return s.zone == reservation.zone; });
    if (reservation.type != facts.name || subnet == findings.subnets.end()) {
      continue;
    }
    usable.push_back(&reservation);
    markets.add_zone(*subnet);
    add({*subnet, model::kReserved, on_demand});
    reserve(type.offerings.back(), reservation);
  }
  if (!usable.empty()) {
    pin_reservations(type, usable);
  }
  if (image == nullptr) {
    make_unavailable(type);
  }
  markets.label(type);
  return type;
}

void Catalog::reserve(scheduling::Offering& offering,
                      const CapacityReservation& reservation) const {
  pin_reservation(offering.requirements, reservation);
  offering.price /= kReservedPriceDivisor;
  offering.reservation_capacity = reservations_.left(reservation.id);
  offering.available =
      offering.available && offering.reservation_capacity > 0 && !reservation.expiring;
}

// A class with a selector launches everything into its group, and into one of its partitions where
// it has any. While the group is not known, nothing is launched.
void Catalog::place(scheduling::InstanceType& type, const TypeFacts& facts,
                    const PlacementSelector& selector, base::TimePoint now) const {
  const auto* group = placements_.find(selector);
  if (group == nullptr) {
    make_unavailable(type);
    return;
  }
  const auto& strategies = facts.placement_strategies;
  const bool fits = strategies.empty() || std::find(strategies.begin(), strategies.end(),
                                                    group->strategy) != strategies.end();
  std::vector<Offering> placed;
  const int first = group->partitions == 0 ? 0 : 1;
  for (const auto& offering : type.offerings) {
    for (int partition = first; partition <= group->partitions; ++partition) {
      auto& each = placed.emplace_back(offering);
      if (partition > 0) {
        each.requirements.add(Requirement::in(kPartitionLabel, {std::to_string(partition)}));
      }
      each.available =
          each.available && fits &&
          !unavailable_.is_marked(type.name, each.zone(), each.capacity_type(), now,
                                  {.placement_group = group->id, .partition = partition});
    }
  }
  type.offerings = std::move(placed);
  replace_all(type, kPlacementGroupLabel, {group->id});
  std::vector<std::string> partitions;
  for (int partition = 1; partition <= group->partitions; ++partition) {
    partitions.push_back(std::to_string(partition));
  }
  if (!partitions.empty()) {
    replace_all(type, kPartitionLabel, std::move(partitions));
  }
}

}  // namespace millwright::cloud::aws

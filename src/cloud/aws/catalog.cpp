#include "cloud/aws/catalog.hpp"

#include "cloud/aws/type_labels.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

// Reserved capacity is paid for already: all but free, yet cheaper types before dearer ones.
constexpr double kReservedPriceDivisor = 10'000'000;

using scheduling::Offering;
using scheduling::Requirement;

bool by_name(const TypeFacts& a, const TypeFacts& b) {
  return a.name < b.name;
}

// What the families' images cannot run on.
bool is_compatible(const TypeFacts& type, const NodeClassSpec& spec) {
  if (spec.family == Family::Al2023 && type.name.starts_with("a1.")) {
    return false;
  }
  return !is_windows(spec.family) || type.arch == "amd64";
}

void pin_reservation(scheduling::Requirements& to, const ResolvedReservation& reservation) {
  to.add(Requirement::in(kReservationIdLabel, {reservation.id}));
  to.add(Requirement::in(kReservationTypeLabel, {reservation.kind}));
  to.add(Requirement::in(kReservationInterruptibleLabel,
                         {reservation.interruptible ? "true" : "false"}));
}

// Changes whenever the NodeClass does; objects of a cluster carry a version for that.
std::string fingerprint(const model::NodeClass& node_class, std::uint64_t version) {
  std::string text = node_class.meta.uid + "/" + std::to_string(version) + "/";
  if (!node_class.meta.resource_version.empty()) {
    return text + node_class.meta.resource_version;
  }
  return text + boost::json::serialize(node_class.spec) + boost::json::serialize(node_class.status);
}

Offering offering(const ResolvedSubnet& subnet, std::string_view capacity_type) {
  Offering result;
  result.requirements.add(Requirement::in(model::kZoneLabel, {subnet.zone}));
  result.requirements.add(Requirement::in(model::kCapacityTypeLabel, {std::string(capacity_type)}));
  if (!subnet.zone_id.empty()) {
    result.requirements.add(Requirement::in(kZoneIdLabel, {subnet.zone_id}));
  }
  return result;
}

// One subnet per zone: which of a zone's it will be is decided at launch.
std::vector<ResolvedSubnet> zones_of(const NodeClassFindings& findings) {
  std::vector<ResolvedSubnet> result = findings.subnets;
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.zone < b.zone; });
  result.erase(std::unique(result.begin(), result.end(),
                           [](const auto& a, const auto& b) { return a.zone == b.zone; }),
               result.end());
  return result;
}

void pin_all(scheduling::InstanceType& type, std::string_view key,
             std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  type.requirements.add(Requirement::in(key, std::move(values)));
}

void replace_all(scheduling::InstanceType& type, std::string_view key,
                 std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  type.requirements.replace(Requirement::in(key, std::move(values)));
}

// What can be bought into its reservations too: their labels are the type's, all of them.
void pin_reservations(scheduling::InstanceType& type,
                      const std::vector<const ResolvedReservation*>& usable) {
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

const TypeFacts* Catalog::find(std::string_view name) const {
  const auto found =
      std::lower_bound(types_.begin(), types_.end(), name,
                       [](const TypeFacts& type, std::string_view n) { return type.name < n; });
  return found == types_.end() || found->name != name ? nullptr : &*found;
}

scheduling::InstanceTypes Catalog::types(const model::NodeClass& node_class, base::TimePoint now) {
  auto& made = made_[node_class.meta.name];
  auto of = fingerprint(node_class, version_);
  if (made.types && made.of == of) {
    return made.types;
  }
  const auto spec = read_spec(node_class);
  auto findings = read_status(node_class);
  findings.subnets = zones_of(findings);
  auto result = std::make_shared<std::vector<scheduling::InstanceType>>();
  for (const auto& facts : types_) {
    if (is_compatible(facts, spec)) {
      result->push_back(make(facts, spec, findings, now));
    }
  }
  made = {std::move(of), std::move(result)};
  return made.types;
}

scheduling::InstanceType Catalog::make(const TypeFacts& facts, const NodeClassSpec& spec,
                                       const NodeClassFindings& findings,
                                       base::TimePoint now) const {
  scheduling::InstanceType type;
  type.name = facts.name;
  type.requirements = labels_of(facts, spec, region_);
  type.capacity = capacity_of(facts, spec, settings_);
  type.overhead = overhead_of(facts, spec, type.capacity);
  const bool has_image = image_for(findings.images, type.requirements) != nullptr;
  const auto zones = zones_.find(facts.name);
  const auto on_demand = prices_.on_demand(facts);
  std::vector<std::string> names;
  std::vector<std::string> ids;
  std::vector<std::string> capacity_types;
  const auto add = [&](const ResolvedSubnet& subnet, std::string_view capacity_type,
                       std::optional<double> price) {
    auto& added = type.offerings.emplace_back(offering(subnet, capacity_type));
    added.price = price.value_or(0);
    added.available =
        price && has_image && !unavailable_.is_marked(facts.name, subnet.zone, capacity_type, now);
    capacity_types.emplace_back(capacity_type);
  };
  for (const auto& subnet : findings.subnets) {
    if (zones == zones_.end() || !zones->second.contains(subnet.zone)) {
      continue;
    }
    names.push_back(subnet.zone);
    if (!subnet.zone_id.empty()) {
      ids.push_back(subnet.zone_id);
    }
    if (facts.has_spot) {
      add(subnet, model::kSpot, prices_.spot(facts.name, subnet.zone));
    }
    if (facts.has_on_demand) {
      add(subnet, model::kOnDemand, on_demand);
    }
  }
  std::vector<const ResolvedReservation*> usable;
  for (const auto& reservation : findings.reservations) {
    const auto subnet = std::find_if(findings.subnets.begin(), findings.subnets.end(),
                                     [&](const auto& s) { return s.zone == reservation.zone; });
    if (reservation.type != facts.name || subnet == findings.subnets.end()) {
      continue;
    }
    usable.push_back(&reservation);
    add(*subnet, model::kReserved, on_demand);
    auto& added = type.offerings.back();
    pin_reservation(added.requirements, reservation);
    added.price /= kReservedPriceDivisor;
    added.reservation_capacity = reservations_.left(reservation.id);
    added.available = added.available && added.reservation_capacity > 0 && !reservation.expiring;
    names.push_back(subnet->zone);
    if (!subnet->zone_id.empty()) {
      ids.push_back(subnet->zone_id);
    }
  }
  if (!usable.empty()) {
    pin_reservations(type, usable);
  }
  pin_all(type, model::kZoneLabel, std::move(names));
  pin_all(type, kZoneIdLabel, std::move(ids));
  pin_all(type, model::kCapacityTypeLabel, std::move(capacity_types));
  return type;
}

}  // namespace millwright::cloud::aws

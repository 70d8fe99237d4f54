#include "cloud/simulated/catalog.hpp"

namespace millwright::cloud::simulated {

using model::Quantity;

Quantity bytes(std::int64_t count) {
  return Quantity::from_units(count, Quantity::Format::BinarySI);
}
Quantity millicores(std::int64_t milli) {
  return Quantity::from_milli(milli);
}
Quantity count(std::int64_t units) {
  return Quantity::from_units(units);
}

void pin(scheduling::Requirements& requirements, std::string_view key, std::string value) {
  requirements.add(scheduling::Requirement::in(key, {std::move(value)}));
}
void pin(scheduling::Requirements& requirements, std::string_view key,
         std::vector<std::string> values) {
  requirements.add(scheduling::Requirement::in(key, std::move(values)));
}
void forbid(scheduling::Requirements& requirements, std::string_view key) {
  requirements.add(scheduling::Requirement(key, model::Operator::DoesNotExist));
}

void pin_core_labels(scheduling::InstanceType& type, std::string_view arch,
                     std::span<const std::string_view> zones,
                     std::span<const std::string_view> capacity_types) {
  pin(type.requirements, model::kInstanceTypeLabel, type.name);
  pin(type.requirements, model::kArchLabel, std::string(arch));
  pin(type.requirements, model::kZoneLabel, std::vector<std::string>(zones.begin(), zones.end()));
  pin(type.requirements, model::kCapacityTypeLabel,
      std::vector<std::string>(capacity_types.begin(), capacity_types.end()));
}

scheduling::Offering offering(std::string_view zone, std::string_view capacity_type, double price) {
  scheduling::Offering result;
  pin(result.requirements, model::kZoneLabel, std::string(zone));
  pin(result.requirements, model::kCapacityTypeLabel, std::string(capacity_type));
  result.price = price;
  return result;
}

double spot_fraction(std::string_view type, std::string_view zone) {
  const auto hash = stable_hash(std::string(type).append("/").append(zone));
  return 0.30 + 0.10 * static_cast<double>(hash % 1000) / 1000.0;
}

std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  // FNV's low bits move little for short texts that differ in one letter: mix once more.
  hash ^= hash >> 33U;
  hash *= 0xff51afd7ed558ccd;
  return hash ^ (hash >> 33U);
}

}  // namespace millwright::cloud::simulated

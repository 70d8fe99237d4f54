#include "cluster/volume_limit_table.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace millwright::cluster {
namespace {

// Of a driver that names none.
constexpr std::int32_t kNoLimit = std::numeric_limits<std::int32_t>::max();

std::optional<std::int32_t> told_limit(const scheduling::VolumeCounts& limits,
                                       const std::string& driver) {
  const auto found = limits.find(driver);
  return found == limits.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

void VolumeLimitTable::put(const model::Node& node) {
  const std::string type = node.meta.label(model::kInstanceTypeLabel);
  const auto known = nodes_.find(node.meta.name);
  if (known == nodes_.end() || known->second.type != type) {
    change(node.meta.name,
           {type, known == nodes_.end() ? scheduling::VolumeCounts() : known->second.limits});
  }
}

void VolumeLimitTable::put(const model::CSINode& node) {
  scheduling::VolumeCounts limits;
  for (const model::CSINodeDriver& driver : node.drivers) {
    limits[driver.name] = std::max(driver.allocatable_count.value_or(kNoLimit), 0);
  }
  const auto known = nodes_.find(node.meta.name);
  if (known == nodes_.end() ? !limits.empty() : known->second.limits != limits) {
    change(node.meta.name,
           {known == nodes_.end() ? std::string() : known->second.type, std::move(limits)});
  }
}

void VolumeLimitTable::erase_node(std::string_view name) {
  if (const auto known = nodes_.find(name); known != nodes_.end()) {
    change(name, {{}, known->second.limits});
  }
}

void VolumeLimitTable::erase_csi_node(std::string_view name) {
  if (const auto known = nodes_.find(name); known != nodes_.end()) {
    change(name, {known->second.type, {}});
  }
}

void VolumeLimitTable::change(std::string_view name, Known now) {
  // The new limit comes first, so that a type with one node never forgets what it said.
  count(now, 1);
  if (const auto known = nodes_.find(name); known != nodes_.end()) {
    count(known->second, -1);
    nodes_.erase(known);
  }
  if (!now.type.empty() || !now.limits.empty()) {
    nodes_.emplace(name, std::move(now));
  }
}

void VolumeLimitTable::count(const Known& known, std::int32_t nodes) {
  if (known.type.empty()) {
    return;
  }
  for (const auto& [driver, limit] : known.limits) {
    Census& census = censuses_[known.type][driver];
    if ((census[limit] += nodes) == 0) {
      census.erase(limit);
    }
    note(known.type, driver, census);
  }
}

void VolumeLimitTable::note(const std::string& type, const std::string& driver,
                            const Census& census) {
  if (census.empty()) {
    return;
  }
  const std::int32_t least = census.begin()->first;
  const auto of_type = limits_->find(type);
  const auto known = of_type == limits_->end() ? std::optional<std::int32_t>()
                                               : told_limit(of_type->second, driver);
  if (known.value_or(kNoLimit) == least) {
    return;
  }
  auto next = std::make_shared<scheduling::VolumeLimits>(*limits_);
  if (least == kNoLimit) {
    (*next)[type].erase(driver);
  } else {
    (*next)[type][driver] = least;
  }
  limits_ = std::move(next);
}

}  // namespace millwright::cluster

#include "scheduling/compile/pools/type_table.hpp"

#include "scheduling/values/signature.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace millwright::scheduling {
namespace {

using model::Operator;

// A reservation is told apart by what its offering requires beyond zone and capacity type (a
// reservation id); without any, each type and zone is a reservation of its own.
std::string reservation_of(const InstanceType& type, const Offering& offering) {
  std::string id;
  for (const Requirement& requirement : offering.requirements) {
    if (requirement.key() != model::kZoneLabel && requirement.key() != model::kCapacityTypeLabel) {
      append_signature(id, requirement);
    }
  }
  if (id.empty()) {
    id.append(type.name).append("\n").append(offering.zone());
  }
  return id;
}

model::ResourceList overlaid(model::ResourceList base,
                             const std::optional<model::ResourceList>& override_list) {
  if (override_list) {
    for (const auto& [name, quantity] : *override_list) {
      base[name] = quantity;
    }
  }
  return base;
}

// Lists are long to copy, and few offerings override anything.
TypeRow row_of(const InstanceType& type, const Offering& offering) {
  if (!offering.capacity_override && !offering.overhead_override) {
    return {&type, std::nullopt, type.allocatable()};
  }
  auto capacity = overlaid(type.capacity, offering.capacity_override);
  auto allocatable = allocatable_of(capacity, overlaid(type.overhead, offering.overhead_override));
  return {&type, std::move(capacity), std::move(allocatable)};
}

bool same_override(const Offering& a, const Offering& b) {
  return a.capacity_override == b.capacity_override && a.overhead_override == b.overhead_override;
}

}  // namespace

TypeTable::TypeTable(InstanceTypes types, double node_overhead)
    : types_(std::move(types)), node_overhead_(node_overhead) {
  rows_.reserve(types_->size());
  for (const InstanceType& type : *types_) {
    add_rows(type);
  }
  // The number of rows is known only now; the sets made on the way are brought to that size.
  for (auto& kind : kinds_) {
    RowSet full(rows_.size());
    for (std::size_t row = 0; row < kind.price.size(); ++row) {
      if (kind.price[row] != std::numeric_limits<double>::infinity()) {
        full.insert(row);
      }
    }
    kind.rows = std::move(full);
    kind.price.resize(rows_.size(), std::numeric_limits<double>::infinity());
  }
  index_labels();
  sort_rows();
}

void TypeTable::sort_rows() {
  by_name_.resize(rows_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0U);
  std::stable_sort(by_name_.begin(), by_name_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return rows_[a].type->name < rows_[b].type->name;
  });
  std::vector<double> least(rows_.size(), std::numeric_limits<double>::infinity());
  for (const OfferingKind& kind : kinds_) {
    for (std::size_t row = 0; !kind.reserved && row < least.size(); ++row) {
      least[row] = std::min(least[row], kind.price[row]);
    }
  }
  by_price_ = by_name_;
  std::stable_sort(by_price_.begin(), by_price_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return least[a] < least[b]; });
}

void TypeTable::add_rows(const InstanceType& type) {
  const std::size_t first_row = rows_.size();
  std::vector<const Offering*> leaders;  // the first offering of each row
  for (const Offering& offering : type.offerings) {
    if (!offering.available) {
      continue;
    }
    const auto leader = std::find_if(leaders.begin(), leaders.end(), [&](const Offering* other) {
      return same_override(*other, offering);
    });
    const std::size_t row = first_row + static_cast<std::size_t>(leader - leaders.begin());
    if (leader == leaders.end()) {
      leaders.push_back(&offering);
      rows_.push_back(row_of(type, offering));
    }
    OfferingKind& kind = kind_of(type, offering);
    kind.reservation_capacity = std::min(kind.reservation_capacity, offering.reservation_capacity);
    kind.price.resize(row + 1, std::numeric_limits<double>::infinity());
    kind.price[row] = std::min(kind.price[row], offering.price + node_overhead_);
  }
  if (leaders.empty()) {
    // Sold out everywhere. Kept, so that a refusal can say so.
    rows_.push_back({&type, std::nullopt, type.allocatable()});
  }
}

OfferingKind& TypeTable::kind_of(const InstanceType& type, const Offering& offering) {
  // Types list their offerings in the same order as a rule, so the kind that followed the last one
  // before is likely to follow it again.
  const std::size_t likely = last_kind_ + 1 < kinds_.size() ? last_kind_ + 1 : 0;
  if (!kinds_.empty() && !kinds_[likely].reserved &&
      kinds_[likely].requirements == offering.requirements) {
    last_kind_ = likely;
    return kinds_[likely];
  }
  const bool reserved = offering.capacity_type() == model::kReserved;
  std::string signature;
  append_signature(signature, offering.requirements);
  if (reserved) {
    signature.append(reservation_of(type, offering));
  }
  const auto [found, added] = kind_by_signature_.try_emplace(std::move(signature), kinds_.size());
  if (added) {
    kinds_.push_back({.requirements = offering.requirements, .reserved = reserved});
    if (reserved) {
      kinds_.back().reservation = reservation_of(type, offering);
      kinds_.back().reservation_capacity = offering.reservation_capacity;
    }
  }
  last_kind_ = found->second;
  return kinds_[last_kind_];
}

void TypeTable::index_labels() {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    // Both are sorted, and as a rule all types have the same keys.
    auto next = keys_.begin();
    for (const Requirement& requirement : rows_[row].type->requirements) {
      if (next == keys_.end() || next->first != requirement.key()) {
        const auto [found, added] = keys_.try_emplace(requirement.key());
        next = found;
        if (added) {
          next->second.undefined = all();
        }
      }
      Key& key = (next++)->second;
      key.undefined.erase(row);
      if (requirement.op() == Operator::In) {
        for (const auto& value : requirement.values()) {
          key.by_value.try_emplace(value, rows_.size()).first->second.insert(row);
        }
        continue;
      }
      auto open = std::find_if(key.open.begin(), key.open.end(),
                               [&](const auto& item) { return item.first == requirement; });
      if (open == key.open.end()) {
        open = key.open.insert(key.open.end(), {requirement, RowSet(rows_.size())});
      }
      open->second.insert(row);
    }
  }
}

RowSet TypeTable::admitted(const Requirement& requirement) const {
  const auto found = keys_.find(requirement.key());
  if (found == keys_.end()) {
    return all();
  }
  const Key& key = found->second;
  RowSet result = key.undefined;
  if (requirement.is_complement()) {
    for (const auto& [value, rows] : key.by_value) {
      if (requirement.has(value)) {
        result |= rows;
      }
    }
  } else {
    for (const auto& value : requirement.values()) {
      if (const auto rows = key.by_value.find(value); rows != key.by_value.end()) {
        result |= rows->second;
      }
    }
  }
  for (const auto& [open, rows] : key.open) {
    if (open.has_intersection(requirement) ||
        (open.admits_absence() && requirement.admits_absence())) {
      result |= rows;
    }
  }
  return result;
}

RowSet TypeTable::admitted(const Requirements& requirements) const {
  RowSet result = all();
  for (const Requirement& requirement : requirements) {
    result &= admitted(requirement);
  }
  return result;
}

std::vector<std::string_view> TypeTable::values(std::string_view key) const {
  std::vector<std::string_view> result;
  if (const auto found = keys_.find(key); found != keys_.end()) {
    for (const auto& [value, rows] : found->second.by_value) {
      result.push_back(value);
    }
  }
  return result;
}

std::size_t TypeTable::distinct_values(const Requirement& requirement, const RowSet& rows) const {
  const auto found = keys_.find(requirement.key());
  if (found == keys_.end()) {
    return 0;
  }
  return static_cast<std::size_t>(std::count_if(
      found->second.by_value.begin(), found->second.by_value.end(), [&](const auto& item) {
        return requirement.has(item.first) && item.second.intersects(rows);
      }));
}

}  // namespace millwright::scheduling

#include "scheduling/compile/nodes/launch_options.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millwright::scheduling {

bool is_unlaunched(const NodeRecord& node) {
  return node.claim && !node.node && node.claim->provider_id.empty();
}

RowSet launch_options(const model::NodeClaim& claim, const TypeTable& table) {
  const Requirements requirements(claim.requirements);
  RowSet rows = table.admitted(requirements);
  RowSet sold(table.size());
  for (const OfferingKind& kind : table.kinds()) {
    if (requirements.compatible(kind.requirements, AllowUndefined::WellKnown)) {
      sold |= kind.rows;
    }
  }
  // Sold out by now, perhaps; the launch will tell. Until then the claim is what it says.
  return rows.intersects(sold) ? rows & sold : rows;
}

Requirements guaranteed_labels(const model::NodeClaim& claim, const TypeTable& table,
                               const RowSet& rows) {
  Requirements result(claim.requirements);
  result.add(Requirements::from_labels(claim.meta.labels));
  // Keys that only the types define: the values of all options together.
  std::vector<const InstanceType*> types;
  rows.for_each([&](std::size_t row) {
    if (types.empty() || types.back() != table.row(row).type) {
      types.push_back(table.row(row).type);
    }
  });
  std::set<std::string> keys;
  for (const InstanceType* type : types) {
    for (const Requirement& requirement : type->requirements) {
      if (result.find(requirement.key()) == nullptr) {
        keys.insert(requirement.key());
      }
    }
  }
  for (const std::string& key : keys) {
    std::vector<std::string> values;
    const bool finite = std::all_of(types.begin(), types.end(), [&](const InstanceType* type) {
      const Requirement* requirement = type->requirements.find(key);
      if (requirement == nullptr || requirement->op() != model::Operator::In) {
        return false;
      }
      values.insert(values.end(), requirement->values().begin(), requirement->values().end());
      return true;
    });
    if (finite) {
      result.add(Requirement::in(key, std::move(values)));
    }
  }
  return result;
}

bool always_satisfies(const Requirements& offered, const Requirements& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Requirement& want) {
    const Requirement* have = offered.find(want.key());
    if (have == nullptr || have->op() == model::Operator::DoesNotExist) {
      return want.admits_absence();
    }
    if (have->op() == model::Operator::In) {
      return std::all_of(have->values().begin(), have->values().end(),
                         [&](const std::string& value) { return want.has(value); });
    }
    return want.op() == model::Operator::Exists && !want.gte() && !want.lte();
  });
}

Amounts guaranteed_room(const RoomTable& room, const RowSet& rows, std::size_t columns) {
  Amounts result;
  rows.for_each([&](std::size_t row) {
    if (result.empty()) {
      result = room.room(row);
      return;
    }
    for (std::size_t c = 0; c < columns; ++c) {
      result[c] = std::min(result[c], room.room(row)[c]);
    }
  });
  result.resize(columns, 0);
  return result;
}

}  // namespace millwright::scheduling

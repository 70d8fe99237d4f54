// A claim that was created but not launched: which machine it becomes is still open, so a pod may
// count on it only as far as every option allows.
#pragma once

#include "millwright/scheduling/snapshot.hpp"
#include "scheduling/pool_template.hpp"

namespace millwright::scheduling {

bool is_unlaunched(const NodeRecord& node);

// The rows that the claim's requirements admit.
RowSet launch_options(const model::NodeClaim& claim, const TypeTable& table);

// What every option of the claim guarantees: for each label the values it can still take. A pod
// may be promised to the claim only if each of these satisfies it.
Requirements guaranteed_labels(const model::NodeClaim& claim, const TypeTable& table,
                               const RowSet& rows);
// Whatever value `offered` settles on, `wanted` accepts it.
bool always_satisfies(const Requirements& offered, const Requirements& wanted);
// Per resource the least room of all options, DaemonSets already taken off.
Amounts guaranteed_room(const RoomTable& room, const RowSet& rows, std::size_t columns);

}  // namespace millwright::scheduling

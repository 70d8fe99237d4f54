// A claim that was created but not launched: which machine it becomes is still open, so a pod may
// count on it only as far as every option allows.
#pragma once

#include "millwright/scheduling/snapshot.hpp"
#include "scheduling/compile/pools/pool_template.hpp"

namespace millwright::scheduling {

bool is_unlaunched(const NodeRecord& node);

// The rows that the claim's requirements admit.
RowSet launch_options(const model::NodeClaim& claim, const TypeTable& table);

// For each label the values that it can still take, whichever option is launched. A pod may be
// promised to the claim only if it accepts each of these values.
Requirements guaranteed_labels(const model::NodeClaim& claim, const TypeTable& table,
                               const RowSet& rows);
// Whether `wanted` accepts every value that `offered` can still take.
bool always_satisfies(const Requirements& offered, const Requirements& wanted);
// Per resource the least room of all options, DaemonSets already taken off.
Amounts guaranteed_room(const RoomTable& room, const RowSet& rows, std::size_t columns);

}  // namespace millwright::scheduling

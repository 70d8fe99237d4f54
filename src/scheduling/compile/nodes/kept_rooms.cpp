#include "millwright/scheduling/kept_rooms.hpp"

namespace millwright::scheduling {

KeptRoom KeptRooms::of(const Reservation& reservation, std::int32_t pods) {
  const GroupDemand* demand = find_demand(snapshot_.demand, reservation.group);
  return {.target = reservation.target,
          .pod_uid = {},
          .requests = model::multiplied(reservation.requests, pods),
          .volumes = attachments_.of_group(reservation.group, pods),
          .sample = demand == nullptr ? nullptr : demand->sample,
          .pods = pods};
}

}  // namespace millwright::scheduling

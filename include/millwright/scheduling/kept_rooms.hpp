// Room that reservations keep, as a problem has it. For a few questions about one snapshot.
#pragma once

#include "millwright/scheduling/attachments.hpp"
#include "millwright/scheduling/solve.hpp"

namespace millwright::scheduling {

class KeptRooms {
 public:
  // Keeps a reference.
  explicit KeptRooms(const Snapshot& snapshot) : snapshot_(snapshot), attachments_(snapshot) {}

  // For so many of the reservation's pods, none of which the problem is to place.
  KeptRoom of(const Reservation& reservation, std::int32_t pods);

 private:
  const Snapshot& snapshot_;
  Attachments attachments_;
};

}  // namespace millwright::scheduling

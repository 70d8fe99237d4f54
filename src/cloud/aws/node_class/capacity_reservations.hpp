// Which EC2 capacity reservations classes select (Karpenter's capacity reservation provider). How
// many instances each has left: catalog/reservation_counts.hpp. Loop thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/catalog/reservation_counts.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

// The reservations that the terms select, sorted by id. Terms that select none are no error.
base::Task<ApiResult<std::vector<CountedReservation>>> find_reservations(
    Api& api, std::vector<SelectorTerm> terms);

// The reservations that all classes have selected so far.
class SelectedReservations {
 public:
  // Remembers the reservations of a class; returns them for its status.
  std::vector<CapacityReservation> keep(std::vector<CountedReservation> found);
  // Stores how many instances were left at the last keep(). True when a number changed.
  bool publish(ReservationCounts& counts);

  std::vector<std::string> ids() const { return {known_.begin(), known_.end()}; }
  // The reservation has ended.
  void forget(const std::string& id);
  // Capacity blocks that EC2 is about to end.
  std::set<std::string, std::less<>> expiring_blocks(base::TimePoint now) const;

 private:
  std::map<std::string, std::int64_t> counted_;  // by id; not published yet
  std::set<std::string> known_;
  std::map<std::string, base::TimePoint> block_ends_;
};

}  // namespace millwright::cloud::aws

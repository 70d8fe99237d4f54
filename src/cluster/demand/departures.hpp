// Pods that left a node which is going, and whose controller is of a kind that does not tell how
// many pods it wants (Shortfalls knows the others). What is reserved for them stays for a moment,
// so that their successors find it.
#pragma once

#include "millwright/scheduling/demand.hpp"

#include <deque>

namespace millwright::cluster {

class Departures {
 public:
  // A controller that still wants the pod has created another by then.
  static constexpr base::Duration kSuccessorWait = std::chrono::seconds(10);

  void left(const scheduling::PodPtr& pod, base::TimePoint now);
  // The pod stands in for the first of its group that left.
  void arrived(const model::Pod& pod);
  // Forgets whose time is over; false when there is none.
  bool expire(base::TimePoint now);

  // Calls visit(pod) for each that is waited for, the first that left first.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Departure& departure : departures_) {
      visit(departure.pod);
    }
  }

 private:
  struct Departure {
    scheduling::PodPtr pod;
    scheduling::GroupId group;
    base::TimePoint until;
  };
  std::deque<Departure> departures_;
};

}  // namespace millwright::cluster

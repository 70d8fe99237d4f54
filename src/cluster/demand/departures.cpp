#include "cluster/demand/departures.hpp"

#include <algorithm>

namespace millwright::cluster {

void Departures::left(const scheduling::PodPtr& pod, base::TimePoint now) {
  departures_.push_back(
      {.pod = pod, .group = scheduling::group_of(*pod), .until = now + kSuccessorWait});
}

void Departures::arrived(const model::Pod& pod) {
  if (departures_.empty()) {
    return;
  }
  const scheduling::GroupId group = scheduling::group_of(pod);
  const auto first =
      std::find_if(departures_.begin(), departures_.end(),
                   [&](const Departure& departure) { return departure.group == group; });
  if (first != departures_.end()) {
    departures_.erase(first);
  }
}

bool Departures::expire(base::TimePoint now) {
  bool expired = false;
  while (!departures_.empty() && departures_.front().until <= now) {
    departures_.pop_front();
    expired = true;
  }
  return expired;
}

}  // namespace millwright::cluster

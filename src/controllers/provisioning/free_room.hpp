#pragma once

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::controllers {

// As kube-scheduler judges it: of what the pod does not ask for there may be too little. A device
// that broke while all were in use leaves less than nothing of its kind, and room for other pods.
inline bool has_room_for(const model::ResourceList& requests, const model::ResourceList& room) {
  return std::all_of(requests.begin(), requests.end(), [&room](const auto& entry) {
    return entry.second.is_zero() || entry.second <= model::get(room, entry.first);
  });
}

// Whether kube-scheduler may find room for pods it has not tried yet. Those it has tried come
// first: take() what they will use. What pods leave is no room until they are gone: whom
// kube-scheduler refuses until then is planned into it. Resources only: a pod left out for nothing
// is planned a moment later, when it is reported; one planned for nothing is bound elsewhere and
// leaves a node without its pod.
class FreeRoom {
 public:
  FreeRoom(const std::vector<scheduling::NodeRecordPtr>& nodes,
           const std::vector<scheduling::KeptRoom>& kept_rooms) {
    std::map<std::string_view, model::ResourceList> kept;
    for (const auto& room : kept_rooms) {
      model::add_to(kept[room.target], room.requests);
    }
    for (const auto& record : nodes) {
      if (record->node == nullptr) {
        continue;
      }
      model::ResourceList room = record->allocatable();
      model::subtract_from(room, record->pod_requests);
      if (const auto found = kept.find(record->name()); found != kept.end()) {
        model::subtract_from(room, found->second);
      }
      rooms_.push_back(std::move(room));
    }
  }

  // Whether there is room for one more pod like this one; what it takes is not there for the next.
  bool take(const model::Pod& pod) {
    const auto requests = scheduling::effective_requests(pod);
    // Rooms only shrink: what was too small for such a pod stays so.
    std::size_t& room = first_for_[model::to_string(requests)];
    while (room < rooms_.size() && !has_room_for(requests, rooms_[room])) {
      ++room;
    }
    if (room == rooms_.size()) {
      return false;
    }
    model::subtract_from(rooms_[room], requests);
    return true;
  }

 private:
  std::vector<model::ResourceList> rooms_;
  std::map<std::string, std::size_t, std::less<>> first_for_;  // by the text of the requests
};

}  // namespace millwright::controllers

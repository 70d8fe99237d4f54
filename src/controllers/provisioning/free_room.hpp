#pragma once

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::controllers {

// Whether kube-scheduler may find room for a pod it has not tried yet. Resources only: a pod left
// out for nothing is planned a moment later, when it is reported; one planned for nothing is bound
// elsewhere and leaves a node without its pod.
class FreeRoom {
 public:
  explicit FreeRoom(const scheduling::Problem& problem) {
    std::map<std::string_view, model::ResourceList> kept;
    for (const auto& room : problem.kept) {
      model::add_to(kept[room.target], room.requests);
    }
    for (const auto& record : problem.nodes) {
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

  bool may_take(const model::Pod& pod) {
    const auto requests = scheduling::effective_requests(pod);
    const auto [known, first] = answers_.try_emplace(model::to_string(requests), false);
    if (first) {
      known->second = std::any_of(rooms_.begin(), rooms_.end(),
                                  [&](const auto& room) { return model::fits(requests, room); });
    }
    return known->second;
  }

 private:
  std::vector<model::ResourceList> rooms_;
  std::map<std::string, bool, std::less<>> answers_;  // by the text of the requests
};

}  // namespace millwright::controllers

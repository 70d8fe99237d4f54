// The part of Packing that PlanningSession changes a finished packing with. Here nodes and claims
// do get emptier, so what pods were turned away by is looked at again where that happens.
#include "scheduling/packing.hpp"

#include <algorithm>

namespace millwright::scheduling {

void Packing::reopen() {
  look_again();
  recount();
}

void Packing::grow() {
  outcomes_.resize(pods_.pods.size());
  steps_.resize(pods_.pods.size(), 0);
  gave_up_.resize(pods_.classes.size(), 0);
  for (std::size_t i = seekers_.size(); i < pods_.classes.size(); ++i) {
    seekers_.emplace_back(pods_.constraints[pods_.classes[i].constraint].ladder.size());
  }
  for (std::size_t i = verdicts_.size(); i < pods_.constraints.size(); ++i) {
    verdicts_.emplace_back(pods_.constraints[i].ladder.size());
  }
  const std::size_t nodes = nodes_.nodes().size();
  if (room_.size() < nodes) {
    room_.resize(nodes);
    ports_.resize(nodes);
    volumes_.resize(nodes);
    hosts_.resize(nodes);
    for (auto& by_rung : verdicts_) {
      for (auto& by_node : by_rung) {
        by_node.resize(by_node.empty() ? 0 : nodes, -1);
      }
    }
  }
  drafts_.note_new_classes();
}

std::vector<std::uint32_t> Packing::arrive(std::span<const std::uint32_t> pods) {
  waiting_.insert(waiting_.end(), pods.begin(), pods.end());
  std::vector<std::uint32_t> placed;
  for (std::size_t before = waiting_.size() + 1; waiting_.size() < before;) {
    before = waiting_.size();
    std::erase_if(waiting_, [&](std::uint32_t pod) {
      const bool found = place(pod);
      if (found) {
        placed.push_back(pod);
      }
      return found;
    });
  }
  return placed;
}

void Packing::take_out(std::uint32_t pod) {
  const Outcome was = outcomes_[pod];
  outcomes_[pod] = {};
  steps_[pod] = 0;
  if (was.kind == Outcome::Kind::Refused) {
    std::erase(waiting_, pod);
  } else if (was.kind == Outcome::Kind::Node) {
    add_to(room_[was.index], pods_.classes[pods_.pods[pod].pod_class].requests);
    look_at_node_again(was.index);
  } else {
    drafts_.take_out(was.index, pod);
    look_again();
  }
}

void Packing::bound(std::uint32_t pod) {
  outcomes_[pod] = {};
  steps_[pod] = 0;
}

void Packing::look_at_node_again(std::uint32_t node) {
  std::fill(gave_up_.begin(), gave_up_.end(), 0);
  for (auto& seekers : seekers_) {
    for (Seeker& seeker : seekers) {
      seeker.next_node = std::min(seeker.next_node, node);
    }
  }
  for (auto& [choice, seeker] : seekers_by_choice_) {
    seeker.next_node = std::min(seeker.next_node, node);
  }
}

std::vector<std::uint32_t> Packing::pods_on(std::uint32_t node) const {
  std::vector<std::uint32_t> pods;
  for (std::uint32_t pod = 0; pod < outcomes_.size(); ++pod) {
    if (outcomes_[pod].kind == Outcome::Kind::Node && outcomes_[pod].index == node) {
      pods.push_back(pod);
    }
  }
  std::sort(pods.begin(), pods.end(),
            [this](std::uint32_t a, std::uint32_t b) { return steps_[a] < steps_[b]; });
  return pods;
}

std::vector<std::uint32_t> Packing::refresh_node(std::uint32_t node) {
  const ExistingNode& now = nodes_.nodes()[node];
  room_[node] = now.room;
  ports_[node] = now.ports;
  volumes_[node] = now.volumes;
  for (auto& by_rung : verdicts_) {
    for (auto& by_node : by_rung) {
      if (!by_node.empty()) {
        by_node[node] = -1;
      }
    }
  }
  std::vector<std::uint32_t> displaced;
  for (const std::uint32_t pod : pods_on(node)) {
    const PodClass& pod_class = pods_.classes[pods_.pods[pod].pod_class];
    const Constraint& constraint = pods_.constraints[pod_class.constraint];
    const auto& volumes = pods_.volumes[pods_.pods[pod].volumes];
    const bool stays =
        fits(pod_class.requests, room_[node]) &&
        ports_[node].conflict(constraint.ports) == nullptr && volumes_[node].fit(volumes) &&
        std::any_of(constraint.ladder.begin(), constraint.ladder.end(), [&](const Rung& rung) {
          return node_admits(node, {pod_class, constraint, rung});
        });
    if (!stays) {
      outcomes_[pod] = {};
      steps_[pod] = 0;
      displaced.push_back(pod);
      continue;
    }
    subtract_from(room_[node], pod_class.requests);
    ports_[node].add(constraint.ports);
    volumes_[node].add(volumes);
  }
  look_at_node_again(node);
  return displaced;
}

}  // namespace millwright::scheduling

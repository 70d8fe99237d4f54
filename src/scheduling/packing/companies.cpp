#include "scheduling/packing/companies.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

// The last rung has only what is required.
TopologyGroupId meeting_place(const Constraint& constraint, const Topology& topology) {
  if (constraint.ladder.empty()) {
    return TopologyGroupId::none();
  }
  const auto& on_host = constraint.ladder.back().on_host;
  const auto found = std::find_if(on_host.begin(), on_host.end(), [&](TopologyGroupId group) {
    return topology.groups()[group].kind == TopologyKind::Affinity && constraint.counts_for(group);
  });
  return found == on_host.end() ? TopologyGroupId::none() : *found;
}

}  // namespace

Companies::Companies(const PodClasses& pods, const Topology& topology) : pods_(pods) {
  for (const Constraint& constraint : pods.constraints) {
    groups_.push_back(meeting_place(constraint, topology));
  }
  for (PodId pod; pod < pods.pods.end_id(); ++pod) {
    if (const TopologyGroupId group = group_of(pod); group != TopologyGroupId::none()) {
      Company& company = by_group_[group];
      ++company.pods;
      company.requests.resize(pods.columns.size(), 0);
      add_to(company.requests, pods.class_of(pod).requests);
    }
  }
  std::erase_if(by_group_, [](const auto& company) { return company.second.pods < 2; });
}

const Amounts* Companies::requests(TopologyGroupId group) const {
  const auto found = by_group_.find(group);
  return found == by_group_.end() ? nullptr : &found->second.requests;
}

std::vector<PodId> Companies::behind_their_first(std::span<const PodId> order) const {
  std::map<TopologyGroupId, std::vector<PodId>> members;
  for (const PodId pod : order) {
    if (by_group_.contains(group_of(pod))) {
      members[group_of(pod)].push_back(pod);
    }
  }
  std::vector<PodId> result;
  result.reserve(order.size());
  for (const PodId pod : order) {
    const auto company = members.find(group_of(pod));
    if (company == members.end()) {
      result.push_back(pod);
    } else if (company->second.front() == pod) {
      result.insert(result.end(), company->second.begin(), company->second.end());
    }
  }
  return result;
}

}  // namespace millwright::scheduling

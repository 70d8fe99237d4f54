#include "controllers/provisioning/drafts.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <set>

namespace millwright::controllers {
namespace {

// Not even the smallest of its pods could be added to the machine that sets its price. Room for a
// buffer waits for nobody.
bool is_full(const PlanningRound& round, const scheduling::PlannedClaim& planned) {
  if (std::any_of(planned.pod_uids.begin(), planned.pod_uids.end(),
                  [&](const auto& uid) { return round.virtual_uids.contains(uid); })) {
    return true;
  }
  const auto& pools = round.problem.pools;
  const auto pool = std::find_if(pools.begin(), pools.end(), [&](const auto& each) {
    return each.pool->meta.name == planned.node_pool;
  });
  if (pool == pools.end() || planned.instance_types.empty()) {
    return false;
  }
  const auto type = std::find_if(pool->types->begin(), pool->types->end(), [&](const auto& each) {
    return each.name == planned.instance_types.front();
  });
  if (type == pool->types->end()) {
    return false;
  }
  model::ResourceList left = type->allocatable();
  model::subtract_from(left, planned.requests);
  std::set<model::ResourceList> tried;
  return std::none_of(planned.pod_uids.begin(), planned.pod_uids.end(), [&](const auto& uid) {
    auto requests = scheduling::effective_requests(*round.pods.at(uid));
    return tried.insert(requests).second && model::fits(requests, left);
  });
}

}  // namespace

std::vector<bool> full_claims(const PlanningRound& round) {
  std::vector<bool> full;
  full.reserve(round.plan.claims.size());
  for (const auto& planned : round.plan.claims) {
    full.push_back(is_full(round, planned));
  }
  return full;
}

DraftTimer::Drafts drafts_of(const PlanningRound& round) {
  DraftTimer::Drafts drafts;
  for (std::size_t i = 0; i < round.plan.claims.size(); ++i) {
    if (!round.full[i]) {
      for (const auto& uid : round.plan.claims[i].pod_uids) {
        ++drafts[scheduling::group_of(*round.pods.at(uid))];
      }
    }
  }
  return drafts;
}

}  // namespace millwright::controllers

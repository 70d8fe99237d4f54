#include "disruption/simulation/simulation.hpp"

#include "millwright/disruption/protection.hpp"
#include "millwright/scheduling/kept_rooms.hpp"
#include "millwright/scheduling/pod_rules.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace millwright::disruption {
namespace {

// Per resource the least that any of the pods needs: a node with less free takes none of them.
model::ResourceList least_needed(const std::vector<scheduling::PodPtr>& pods) {
  model::ResourceList least;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const auto requests = scheduling::effective_requests(*pods[i]);
    if (i == 0) {
      least = requests;
      continue;
    }
    std::erase_if(least, [&](const auto& item) { return !requests.contains(item.first); });
    for (auto& [name, quantity] : least) {
      quantity = std::min(quantity, requests.find(name)->second);
    }
  }
  return least;
}

// Of work that does not grow with pods and nodes; what is bought is chosen from all types.
constexpr std::size_t kPerPlan = 50;

// The planner counts where all pods are for those that have rules about others. Up to so many pods
// that is in what a unit takes anyway; in larger clusters it is most of a plan.
constexpr std::size_t kCountedAnyway = 1000;

bool is_left_alone(const Destination& destination, Reason reason) {
  return destination.down || (destination.within_consolidate_after && reason != Reason::Drifted);
}

// Leaving out nodes that are full spares the planner most of a large, well packed cluster.
std::vector<scheduling::NodeRecordPtr> useful_nodes(const Survey& survey, Candidates candidates,
                                                    Reason reason,
                                                    const std::vector<scheduling::PodPtr>& pods) {
  const auto least = least_needed(pods);
  std::vector<scheduling::NodeRecordPtr> nodes;
  for (const auto& destination : survey.destinations().nodes()) {
    if (is_left_alone(destination, reason)) {
      continue;
    }
    const bool full =
        destination.sized && std::any_of(least.begin(), least.end(), [&](const auto& item) {
          return !item.second.is_zero() && model::get(destination.free, item.first) < item.second;
        });
    const bool removed = std::any_of(candidates.begin(), candidates.end(), [&](const auto* each) {
      return each->record.get() == destination.record.get();
    });
    if (!full && !removed) {
      nodes.push_back(destination.record);
    }
  }
  return nodes;
}

// What is reserved stays so; spare reservations are for the candidates' own pods.
std::vector<scheduling::KeptRoom> kept_room(const Survey& survey, Candidates candidates,
                                            const std::vector<scheduling::NodeRecordPtr>& nodes) {
  const Destinations& destinations = survey.destinations();
  scheduling::KeptRooms rooms(*survey.input().snapshot);
  std::set<std::string_view> targets;
  for (const auto& record : nodes) {
    targets.insert(record->name());
    targets.insert(record->claim_name());
  }
  std::map<scheduling::GroupId, std::vector<scheduling::PodPtr>> movers;
  for (const auto* candidate : candidates) {
    for (const auto& pod : candidate->pods()) {
      if (destinations.reservations().empty()) {
        break;
      }
      auto group = scheduling::group_of(*pod);
      const std::int32_t spare = destinations.spare(group);
      auto& pods = movers[std::move(group)];
      if (static_cast<std::int32_t>(pods.size()) < spare) {
        pods.push_back(pod);
      }
    }
  }
  std::vector<scheduling::KeptRoom> kept;
  for (const auto& reservation : destinations.reservations()) {
    if (!targets.contains(reservation.target)) {
      continue;
    }
    const auto own = movers.find(reservation.group);
    std::int32_t others = reservation.count;
    while (own != movers.end() && !own->second.empty() && others > 0) {
      kept.push_back({.target = reservation.target,
                      .pod_uid = own->second.back()->meta.uid,
                      .requests = reservation.requests});
      own->second.pop_back();
      --others;
    }
    if (others > 0) {
      kept.push_back(rooms.of(reservation, others));
    }
  }
  return kept;
}

// The room of buffers moves with the candidates, and keeps its place elsewhere, as far as the plan
// sees that place. Room without a place competes for one.
void add_rooms_of_buffers(const Survey& survey, Candidates candidates, Reason reason,
                          scheduling::Problem& problem) {
  std::set<std::string_view> removed;
  for (const auto* candidate : candidates) {
    removed.insert(candidate->record->name());
  }
  for (const auto& [room, home] : survey.destinations().rooms_of_buffers()) {
    const bool moves = home == nullptr || removed.contains(room->target);
    if (!moves && (!home->sized || is_left_alone(*home, reason))) {
      continue;
    }
    problem.pods.push_back(room->pod);
    if (!moves) {
      problem.kept.push_back({.target = room->target,
                              .pod_uid = room->pod->meta.uid,
                              .requests = scheduling::effective_requests(*room->pod)});
    }
  }
}

// The cluster and its market, before anybody moves.
scheduling::Problem base_problem(const Survey& survey) {
  const auto& input = survey.input();
  scheduling::Problem problem;
  problem.pools = survey.destinations().pools();
  problem.counted_nodes = input.snapshot->nodes;
  problem.departing = survey.destinations().departing();
  problem.daemon_sets = input.snapshot->daemon_sets;
  problem.options = input.options.solve;
  // Karpenter never relaxes minValues to save money.
  problem.options.min_values = scheduling::MinValuesPolicy::Strict;
  problem.cluster = input.snapshot;
  return problem;
}

// Drift replaces nodes of a pool that has reached its limits, too: for a while there is one more.
// While that node is open, or waits for its replacement, it counts for all others.
void count_no_candidates(Candidates candidates, scheduling::Problem& problem) {
  std::erase_if(problem.counted_nodes, [&](const auto& record) {
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const auto* each) { return each->record == record; });
  });
}

// Drift does not ask what a bare pod would need: nothing of it comes back. Nor what those need that
// are still there when their node's terminationGracePeriod ends.
bool needs_a_place(const Survey& survey, const Candidate& candidate, const model::Pod& pod,
                   Reason reason) {
  if (reason != Reason::Drifted) {
    return true;
  }
  const bool stays = overrides_pods(*candidate.record, reason) &&
                     !survey.pod_obstacles().is_currently_reschedulable(pod);
  return !stays && scheduling::has_successor(pod);
}

void spend_for(const scheduling::Problem& problem, const Survey& survey) {
  survey.work().spend(kPerPlan + problem.pods.size() + problem.nodes.size());
  if (survey.pod_count() > kCountedAnyway &&
      std::any_of(problem.pods.begin(), problem.pods.end(),
                  [](const auto& pod) { return scheduling::has_topology(pod->spec); })) {
    survey.work().spend(survey.pod_count() - kCountedAnyway);
  }
}

scheduling::Problem make_problem(const Survey& survey, Candidates candidates, Reason reason) {
  auto problem = base_problem(survey);
  if (reason == Reason::Drifted) {
    count_no_candidates(candidates, problem);
  }
  for (const auto* candidate : candidates) {
    std::copy_if(candidate->pods().begin(), candidate->pods().end(),
                 std::back_inserter(problem.pods),
                 [&](const auto& pod) { return needs_a_place(survey, *candidate, *pod, reason); });
  }
  const auto& competitors = survey.competitors(reason);
  problem.pods.insert(problem.pods.end(), competitors.begin(), competitors.end());
  add_rooms_of_buffers(survey, candidates, reason, problem);
  problem.nodes = useful_nodes(survey, candidates, reason, problem.pods);
  auto kept = kept_room(survey, candidates, problem.nodes);
  problem.kept.insert(problem.kept.end(), kept.begin(), kept.end());
  return problem;
}

// The candidates' pods by uid, virtual ones included.
std::map<std::string_view, const model::Pod*> pods_of(Candidates candidates) {
  std::map<std::string_view, const model::Pod*> pods;
  for (const auto* candidate : candidates) {
    for (const auto* list : {&candidate->pods(), &candidate->virtual_pods}) {
      for (const auto& pod : *list) {
        pods.emplace(pod->meta.uid, pod.get());
      }
    }
  }
  return pods;
}

std::string name_of(const model::Pod& pod) {
  return model::key_of(pod.meta).to_string();
}

}  // namespace

bool stays_empty(const Survey& survey, const scheduling::PlannedClaim& claim,
                 Candidates candidates) {
  const auto pods = pods_of(candidates);
  return std::none_of(claim.pod_uids.begin(), claim.pod_uids.end(), [&](const auto& uid) {
    const auto pod = pods.find(uid);
    return survey.destinations().is_virtual(uid) ||
           (pod != pods.end() && scheduling::has_successor(*pod->second));
  });
}

namespace {

SimulatedRemoval impossible(Cause cause, std::string message) {
  return {.problem = Why{cause, std::move(message)}};
}

// A pod for which room is reserved already goes there.
void add_wanted(std::span<const scheduling::Placement> wanted, scheduling::Problem& problem) {
  if (wanted.empty()) {
    return;
  }
  std::set<std::string> promised;
  for (const auto& kept : problem.kept) {
    promised.insert(kept.pod_uid);
  }
  for (const auto& placement : wanted) {
    const auto* node = std::get_if<std::string>(&placement.target);
    if (node != nullptr && promised.insert(placement.pod_uid).second) {
      problem.kept.push_back({.target = *node, .pod_uid = placement.pod_uid, .requests = {}});
    }
  }
}

scheduling::Plan plan_of(const scheduling::Problem& problem, const Survey& survey) {
  spend_for(problem, survey);
  return scheduling::solve(problem, survey.plan_memory());
}

using PodsByUid = std::map<std::string_view, const model::Pod*>;

// Pods that are neither the candidates' nor room of buffers, on claims of the plan.
std::set<std::string> bought_for_others(const Survey& survey, const PodsByUid& own,
                                        const scheduling::Plan& plan) {
  std::set<std::string> others;
  for (const auto& claim : plan.claims) {
    std::copy_if(claim.pod_uids.begin(), claim.pod_uids.end(), std::inserter(others, others.end()),
                 [&](const auto& uid) {
                   return !own.contains(uid) && !survey.destinations().is_virtual(uid);
                 });
  }
  return others;
}

// Pods that wait and that the plan has no room for. The others among its refusals may keep the
// candidates.
std::set<std::string> refused_that_wait(const Survey& survey, const PodsByUid& own,
                                        const scheduling::Plan& plan) {
  const auto& destinations = survey.destinations();
  std::set<std::string> refused;
  for (const auto& refusal : plan.refusals) {
    const auto& uid = refusal.pod_uid;
    if (!refusal.postponed && !own.contains(uid) && !destinations.is_leaving(uid) &&
        !destinations.is_virtual(uid)) {
      refused.insert(uid);
    }
  }
  return refused;
}

// The plan without what it would buy for others: provisioning buys that. The others who go to nodes
// that exist stay in it, so that their room is not counted on. The plan as it was if that leaves
// one more pod without a place.
scheduling::Plan without_purchases_for_others(const Survey& survey, const PodsByUid& own,
                                              scheduling::Problem problem, scheduling::Plan plan) {
  // Each time there are fewer pods. Once is enough, unless a pod that had room on a node wants a
  // new one after all. For that, pods that have no room anywhere are left out, too: where a limit
  // is reached, the next of them would be bought for in place of those before.
  for (auto others = bought_for_others(survey, own, plan); !others.empty();
       others = bought_for_others(survey, own, plan)) {
    auto refused = refused_that_wait(survey, own, plan);
    const std::size_t refused_before = plan.refusals.size() - refused.size();
    others.merge(std::move(refused));
    std::erase_if(problem.pods, [&](const auto& pod) { return others.contains(pod->meta.uid); });
    auto fewer = plan_of(problem, survey);
    if (fewer.refusals.size() > refused_before) {
      return plan;
    }
    plan = std::move(fewer);
  }
  return plan;
}

}  // namespace

scheduling::Problem relocation_problem(const Survey& survey, Candidates candidates) {
  const Destinations& destinations = survey.destinations();
  auto problem = base_problem(survey);
  for (const auto* candidate : candidates) {
    problem.pods.insert(problem.pods.end(), candidate->pods().begin(), candidate->pods().end());
  }
  problem.pods.insert(problem.pods.end(), destinations.other_pods().begin(),
                      destinations.other_pods().end());
  for (const auto& destination : destinations.nodes()) {
    if (!is_left_alone(destination, Reason::Underutilized) && destination.record->initialized()) {
      problem.nodes.push_back(destination.record);
    }
  }
  // Nobody's spare room is counted on: that is for the simulation to do.
  problem.kept = kept_room(survey, {}, problem.nodes);
  for (const auto& [room, home] : destinations.rooms_of_buffers()) {
    if (home != nullptr) {
      problem.kept.push_back({.target = room->target,
                              .pod_uid = {},
                              .requests = scheduling::effective_requests(*room->pod)});
    }
  }
  return problem;
}

namespace {

// Why the candidates stay if this pod has no place without them; nullopt: it is one that waits, or
// that has none as it is. One such pod would keep all nodes for ever.
std::optional<Why> kept_by_refusal(const Survey& survey, Reason reason, const PodsByUid& own,
                                   const scheduling::Refusal& refusal) {
  const auto pod = own.find(refusal.pod_uid);
  const bool is_room = survey.destinations().is_virtual(refusal.pod_uid);
  if (pod != own.end() && !is_room) {
    return Why{Cause::PodsHaveNoPlace,
               "pod " + name_of(*pod->second) + " would find no place: " + refusal.reason};
  }
  if (!is_room && !survey.destinations().is_leaving(refusal.pod_uid)) {
    return std::nullopt;
  }
  if (pod == own.end() && survey.homeless(reason).contains(refusal.pod_uid)) {
    return std::nullopt;
  }
  return Why{Cause::OthersNeedRoom,
             is_room ? "a CapacityBuffer would lose its room: " + refusal.reason
                     : "a pod of a node that is going already would find no place"};
}

}  // namespace

std::set<std::string, std::less<>> find_homeless(const Survey& survey, Reason reason) {
  std::set<std::string, std::less<>> homeless;
  const auto plan = plan_of(make_problem(survey, {}, reason), survey);
  for (const auto& refusal : plan.refusals) {
    if (!refusal.postponed) {
      homeless.insert(refusal.pod_uid);
    }
  }
  return homeless;
}

SimulatedRemoval simulate_removal(const Survey& survey, Candidates candidates, Reason reason,
                                  Planning planning,
                                  std::span<const scheduling::Placement> wanted) {
  const auto own = pods_of(candidates);
  auto problem = make_problem(survey, candidates, reason);
  add_wanted(wanted, problem);
  problem.options.economise = problem.options.economise && planning == Planning::Cheapest;
  auto plan = plan_of(problem, survey);
  if (!plan.claims.empty()) {
    survey.work().spend(survey.destinations().for_sale().size());
  }
  // In a busy cluster some pod always waits for new capacity. A node that has drifted must go all
  // the same, also where a limit leaves room for its replacement only.
  if (reason == Reason::Drifted) {
    plan = without_purchases_for_others(survey, own, std::move(problem), std::move(plan));
  }
  for (const auto& refusal : plan.refusals) {
    if (auto why_not = kept_by_refusal(survey, reason, own, refusal)) {
      return {.problem = std::move(why_not)};
    }
  }
  // New capacity for anybody else means that a pod still waits to be planned: it may want the very
  // room that this removal counts on.
  for (const auto& claim : plan.claims) {
    const bool ours =
        std::all_of(claim.pod_uids.begin(), claim.pod_uids.end(),
                    [&](const auto& uid) {
                      return own.contains(uid) || survey.destinations().is_virtual(uid);
                    }) &&
        std::any_of(claim.pod_uids.begin(), claim.pod_uids.end(),
                    [&](const auto& uid) { return own.contains(uid); });
    if (!ours) {
      return impossible(Cause::OthersNeedRoom,
                        "pods that wait for new capacity may need the same room");
    }
  }
  SimulatedRemoval removal;
  removal.claims = std::move(plan.claims);
  for (auto& placement : plan.placements) {
    const auto pod = own.find(placement.pod_uid);
    if (pod == own.end()) {
      continue;
    }
    if (const auto* name = std::get_if<std::string>(&placement.target)) {
      const auto* node = survey.destinations().find_node(*name);
      if (node == nullptr || !node->initialized()) {
        return impossible(Cause::PodsNeedUnreadyNode, "pod " + name_of(*pod->second) +
                                                          " would need node " + *name +
                                                          ", which is not initialized yet");
      }
    }
    removal.placements.push_back(std::move(placement));
  }
  return removal;
}

}  // namespace millwright::disruption

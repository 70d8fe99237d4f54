#include "controllers/provisioning/planning_round.hpp"

#include "controllers/buffers/buffer_plans.hpp"
#include "controllers/provisioning/free_room.hpp"
#include "millwright/controllers/buffers/buffer_room.hpp"
#include "millwright/controllers/provisioning/holds.hpp"
#include "millwright/disruption/pod_obstacles.hpp"

#include <algorithm>
#include <string_view>

namespace millwright::controllers {
namespace {

bool is_growing(const model::NodePool& pool) {
  return !pool.meta.is_deleting() && !pool.replicas && model::is_true(pool.conditions, "Ready");
}

// A claim whose size is not known yet takes no more pods; those planned onto it are held there.
bool is_usable(const scheduling::NodeRecord& record) {
  return !record.marked_for_deletion && !record.fenced &&
         (record.node != nullptr || model::is_true(record.claim->conditions, model::kLaunched));
}

// Fills a round, part by part.
class RoundMaker {
 public:
  RoundMaker(Services& services, PlanningRound& round)
      : services_(services), round_(round), snapshot_(*round.snapshot), problem_(round.problem) {}

  void add_nodes() {
    std::set<std::string_view> targets;
    for (const auto& record : snapshot_.nodes) {
      problem_.counted_nodes.push_back(record);
      if (is_usable(*record)) {
        problem_.nodes.push_back(record);
      }
      if (!record->marked_for_deletion) {
        targets.insert(record->name());
      }
    }
    for (const auto& hold : snapshot_.holds) {
      if (targets.contains(hold.target)) {
        held_.insert(hold.id());
        problem_.holds.push_back(as_planned(hold));
      }
    }
  }

  void add_pending_pods(const IsSignalled& is_signalled) {
    const auto bound_soon = pods_being_bound(services_);
    FreeRoom free_room(problem_);
    for (const auto& pod : snapshot_.pending_pods) {
      const bool signalled = is_signalled(*pod);
      if (bound_soon.contains(pod->meta.uid)) {
        round_.any_being_bound = round_.any_being_bound || signalled;
      } else if (signalled || (is_untried(*pod) && !free_room.may_take(*pod))) {
        add(pod, signalled);
      }
    }
  }

  void add_pods_that_lose_their_node() {
    const disruption::PodObstacles obstacles(snapshot_.disruption_budgets, services_.loop.now());
    for (const auto& record : snapshot_.nodes) {
      if (!record->marked_for_deletion) {
        continue;
      }
      for (const auto& pod : record->pods) {
        if (obstacles.is_currently_reschedulable(*pod) && scheduling::has_successor(*pod)) {
          add(pod, true);
        }
      }
    }
  }

  void add_buffers(const BufferRoom& buffers) {
    for (const auto& pod : buffers.to_plan(snapshot_)) {
      problem_.pods.push_back(pod);
      round_.pods.emplace(pod->meta.uid, pod);
      round_.virtual_uids.insert(pod->meta.uid);
    }
  }

  void add_pools() {
    const auto catalog = catalog_of(services_, snapshot_);
    for (const auto& pool : snapshot_.node_pools) {
      const auto types = catalog.find(pool->meta.name);
      if (is_growing(*pool) && types != catalog.end()) {
        problem_.pools.push_back({pool, types->second});
      }
    }
  }

 private:
  void add(const scheduling::PodPtr& pod, bool signalled) {
    if (held_.contains(hold_id(*pod)) || pod->meta.is_deleting()) {
      return;
    }
    problem_.pods.push_back(pod);
    round_.pods.emplace(pod->meta.uid, pod);
    if (signalled) {
      round_.signalled.insert(pod->meta.uid);
    }
  }

  Services& services_;
  PlanningRound& round_;
  const scheduling::Snapshot& snapshot_;
  scheduling::Problem& problem_;
  std::set<scheduling::HoldId> held_;
};

}  // namespace

bool is_untried(const model::Pod& pod) {
  return pod.spec.scheduling_gates.empty() && pod.status.nominated_node_name.empty() &&
         !model::is_owned_by_daemonset(pod) && !model::is_mirror(pod) && !pod.meta.is_deleting() &&
         model::find_condition(pod.status.conditions, "PodScheduled") == nullptr;
}

std::set<std::string, std::less<>> pods_being_bound(const Services& services) {
  std::set<std::string, std::less<>> pods;
  for (const auto& pass : services.ledger.passes(services.loop.now())) {
    if (pass->everywhere || !pass->node_hashes.empty()) {
      pods.insert(pass->pod_uid);
    }
  }
  return pods;
}

bool any_homeless(const scheduling::Snapshot& snapshot, const IsSignalled& is_signalled) {
  return std::any_of(snapshot.pending_pods.begin(), snapshot.pending_pods.end(),
                     [&](const auto& pod) { return is_signalled(*pod); }) ||
         std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(), [](const auto& record) {
           return record->marked_for_deletion && !record->pods.empty();
         });
}

std::shared_ptr<PlanningRound> make_planning_round(Services& services,
                                                   const IsSignalled& is_signalled) {
  auto round = std::make_shared<PlanningRound>();
  round->snapshot = services.state.snapshot();
  const auto& snapshot = *round->snapshot;
  const bool buffers_due = services.buffers != nullptr && services.buffers->due();
  if (!snapshot.synced || (!any_homeless(snapshot, is_signalled) && !buffers_due)) {
    return round;
  }
  RoundMaker maker(services, *round);
  maker.add_nodes();
  maker.add_pending_pods(is_signalled);
  maker.add_pods_that_lose_their_node();
  if (round->signalled.empty() && !buffers_due) {
    round->problem.pods.clear();
    return round;
  }
  if (services.buffers != nullptr) {
    maker.add_buffers(*services.buffers);
  }
  maker.add_pools();
  round->problem.daemon_sets = snapshot.daemon_sets;
  round->problem.options = services.options.solve;
  round->problem.surroundings = round->snapshot;
  return round;
}

}  // namespace millwright::controllers

#include "controllers/provisioning/planning_round.hpp"

#include "controllers/provisioning/free_room.hpp"
#include "controllers/provisioning/leaving_pods.hpp"
#include "controllers/provisioning/open_demand.hpp"
#include "millwright/controllers/buffers/buffer_room.hpp"
#include "millwright/disruption/pod_obstacles.hpp"
#include "millwright/disruption/preferences.hpp"
#include "millwright/scheduling/kept_rooms.hpp"
#include "millwright/scheduling/stuck_nodes.hpp"

#include <algorithm>
#include <string_view>

namespace millwright::controllers {
namespace {

// A claim whose size is not known yet takes no more pods, but for those in place of what it lost
// (is_left_over). Those planned onto it have their room reserved.
bool is_usable(const scheduling::NodeRecord& record) {
  return !record.marked_for_deletion && !record.fenced &&
         (record.node != nullptr || model::is_true(record.claim->conditions, model::kLaunched));
}

// The claim says which pods it was bought for.
bool has_lost_pods(const model::NodeClaim& claim, const cluster::LedgerView& ledger) {
  if (!ledger.by_target.contains(claim.meta.name)) {
    return true;
  }
  const auto bought_for = cluster::decode_reservations(
      claim.meta.annotation(model::kReservationsAnnotation), claim.meta.name);
  return bought_for && std::any_of(bought_for->begin(), bought_for->end(), [&](const auto& then) {
           const auto* now = ledger.find(then.group, claim.meta.name);
           return now == nullptr || now->of_buffer || now->count < then.count;
         });
}

// Some of its pods went before it was launched: what is guaranteed of it and reserved for nobody is
// anybody's, until it is given up.
bool is_left_over(const scheduling::NodeRecord& record, const cluster::LedgerView& ledger) {
  return !record.marked_for_deletion && !record.fenced && record.node == nullptr &&
         has_lost_pods(*record.claim, ledger);
}

// What a pod that its controller has not created yet will look like.
scheduling::PodPtr expected_pod(const scheduling::GroupDemand& demand, std::int32_t index) {
  auto pod = std::make_shared<model::Pod>(*demand.sample);
  pod->meta.uid = "expected/" + demand.group.text() + "/" + std::to_string(index);
  pod->meta.name += "-expected-" + std::to_string(index);
  pod->spec.node_name.clear();
  pod->status = {};
  pod->status.phase = "Pending";
  return pod;
}

std::optional<base::TimePoint> earlier(std::optional<base::TimePoint> a,
                                       std::optional<base::TimePoint> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

// Fills a round, part by part.
class RoundMaker {
 public:
  RoundMaker(Services& services, SchedulerQueues& queues, PlanningRound& round)
      : services_(services),
        queues_(queues),
        round_(round),
        snapshot_(*round.snapshot),
        problem_(round.problem),
        open_(services, *round.snapshot),
        kept_rooms_(*round.snapshot) {}

  void add_nodes() {
    std::set<std::string_view> targets;
    const base::TimePoint now = services_.loop.now();
    const scheduling::StuckNodes stuck(snapshot_, now, services_.options.registration_timeout);
    LeavingPods leaving(snapshot_, now);
    const cluster::LedgerViewPtr ledger = services_.ledger.view();
    for (const auto& record : snapshot_.nodes) {
      problem_.counted_nodes.push_back(record);
      if ((is_usable(*record) || is_left_over(*record, *ledger)) && !stuck.is_given_up(*record)) {
        usable_.push_back(record);
        problem_.nodes.push_back(leaving.without(record));
        round_.stale_at = earlier(round_.stale_at, stuck.given_up_at(*record));
      }
      if (!record->marked_for_deletion) {
        targets.insert(record->name());
      }
    }
    round_.stale_at = earlier(round_.stale_at, leaving.overdue_at());
    for (const auto& reservation : snapshot_.reservations) {
      if (targets.contains(reservation.target)) {
        keep(reservation);
      }
    }
  }

  void add_demand(const IsSignalled& is_signalled) {
    std::vector<Wanted> wanted = find_wanted(is_signalled);
    FreeRoom free_room(usable_, problem_.kept);
    for (const Wanted& each : wanted) {
      for (std::size_t i = each.covered; i < each.signalled.size(); ++i) {
        free_room.take(*each.signalled[i]);
      }
    }
    const bool any_signalled = std::any_of(
        wanted.begin(), wanted.end(), [](const Wanted& each) { return !each.signalled.empty(); });
    for (Wanted& each : wanted) {
      // In the order in which they are planned when there is room for some of them.
      std::vector<scheduling::PodPtr> pods = std::move(each.signalled);
      const bool may_buy = !pods.empty();
      std::copy_if(each.untried.begin(), each.untried.end(), std::back_inserter(pods),
                   [&](const auto& pod) { return !free_room.take(*pod); });
      // On what is bought for others there may be room for them.
      for (std::int32_t i = 0; any_signalled && i < each.demand->expected; ++i) {
        if (!free_room.take(*each.demand->sample)) {
          pods.push_back(expected_pod(*each.demand, i));
          round_.expected.insert(pods.back()->meta.uid);
        }
      }
      const std::size_t open = pods.size() - std::min(pods.size(), each.covered);
      std::copy_if(pods.begin() + static_cast<std::ptrdiff_t>(open), pods.end(),
                   std::back_inserter(problem_.departing),
                   [](const auto& pod) { return !pod->spec.node_name.empty(); });
      pods.resize(open);
      for (const auto& pod : pods) {
        add(pod, may_buy);
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
        const auto asked = disruption::parse_preferences(pool->meta.annotations);
        const auto& options = services_.options;
        problem_.pools.push_back(
            {.pool = pool,
             .types = types->second,
             .node_overhead = asked.node_overhead.value_or(options.node_overhead),
             .max_price_ratio = asked.max_price_ratio.value_or(options.max_price_ratio)});
      }
    }
  }

 private:
  // The pods of one group.
  struct Wanted {
    const scheduling::GroupDemand* demand = nullptr;
    std::vector<scheduling::PodPtr> signalled;
    std::vector<scheduling::PodPtr> untried;
    std::size_t covered = 0;  // so many of them have a place
  };

  std::vector<Wanted> find_wanted(const IsSignalled& is_signalled) {
    const base::TimePoint now = services_.loop.now();
    const disruption::PodObstacles obstacles(snapshot_.disruption_budgets, now);
    std::vector<Wanted> wanted;
    for (const auto& demand : snapshot_.demand) {
      Wanted& each = wanted.emplace_back();
      each.demand = &demand;
      each.covered = static_cast<std::size_t>(open_.covered(demand.group));
      for (const auto& pod : demand.waiting) {
        const bool known = is_signalled(*pod);
        if (open_.is_being_bound(*pod)) {
          round_.any_being_bound = round_.any_being_bound || known;
        } else if (known) {
          each.signalled.push_back(pod);
        } else if (is_untried(*pod) && queues_.is_about_to_try(*pod, snapshot_, now)) {
          each.untried.push_back(pod);
        }
      }
      std::copy_if(demand.leaving.begin(), demand.leaving.end(), std::back_inserter(each.signalled),
                   [&](const auto& pod) { return obstacles.is_currently_reschedulable(*pod); });
    }
    return wanted;
  }

  // A buffer's own room stays with the pods that stand for it.
  void keep(const scheduling::Reservation& reservation) {
    std::int32_t others = reservation.count;
    if (reservation.of_buffer && services_.buffers != nullptr) {
      for (const auto& uid : services_.buffers->placed_on(reservation, snapshot_)) {
        if (others == 0) {
          break;
        }
        problem_.kept.push_back(
            {.target = reservation.target, .pod_uid = uid, .requests = reservation.requests});
        --others;
      }
    }
    if (others > 0) {
      problem_.kept.push_back(kept_rooms_.of(reservation, others));
    }
  }

  void add(const scheduling::PodPtr& pod, bool may_buy) {
    problem_.pods.push_back(pod);
    round_.pods.emplace(pod->meta.uid, pod);
    if (may_buy) {
      round_.signalled.insert(pod->meta.uid);
    }
  }

  Services& services_;
  SchedulerQueues& queues_;
  PlanningRound& round_;
  const scheduling::Snapshot& snapshot_;
  scheduling::Problem& problem_;
  OpenDemand open_;
  scheduling::KeptRooms kept_rooms_;
  std::vector<scheduling::NodeRecordPtr> usable_;
};

bool is_same_pod(const scheduling::PodPtr& a, const scheduling::PodPtr& b) {
  return a == b ||
         (a->meta.uid == b->meta.uid && a->meta.labels == b->meta.labels && a->spec == b->spec);
}

// Volumes and such aside, which are compared by themselves.
bool is_same_bound_pod(const scheduling::PodPtr& a, const scheduling::PodPtr& b) {
  return is_same_pod(a, b) && a->meta.is_deleting() == b->meta.is_deleting();
}

bool is_same_node(const std::shared_ptr<const model::Node>& a,
                  const std::shared_ptr<const model::Node>& b) {
  return a == b || (a != nullptr && b != nullptr && a->meta.uid == b->meta.uid &&
                    a->meta.labels == b->meta.labels && a->taints == b->taints &&
                    a->unschedulable == b->unschedulable && a->capacity == b->capacity &&
                    a->allocatable == b->allocatable && a->provider_id == b->provider_id);
}

bool is_same_claim(const std::shared_ptr<const model::NodeClaim>& a,
                   const std::shared_ptr<const model::NodeClaim>& b) {
  return a == b || (a != nullptr && b != nullptr && a->meta.uid == b->meta.uid &&
                    a->meta.labels == b->meta.labels &&
                    a->meta.is_deleting() == b->meta.is_deleting() && a->taints == b->taints &&
                    a->startup_taints == b->startup_taints && a->requirements == b->requirements &&
                    a->requests == b->requests && a->capacity == b->capacity &&
                    a->allocatable == b->allocatable && a->provider_id == b->provider_id &&
                    model::is_true(a->conditions, model::kLaunched) ==
                        model::is_true(b->conditions, model::kLaunched));
}

// As far as a plan reads them. A kubelet's heartbeats, for example, change no plan.
bool is_same_record(const scheduling::NodeRecordPtr& a, const scheduling::NodeRecordPtr& b) {
  return a == b ||
         (is_same_node(a->node, b->node) && is_same_claim(a->claim, b->claim) &&
          a->marked_for_deletion == b->marked_for_deletion && a->fenced == b->fenced &&
          a->pod_requests == b->pod_requests && a->daemon_requests == b->daemon_requests &&
          std::equal(a->pods.begin(), a->pods.end(), b->pods.begin(), b->pods.end(),
                     is_same_bound_pod));
}

// Of a group that waits, the first stands for all. When that one is bound, the next does.
bool stand_for_the_same(const scheduling::PodPtr& a, const scheduling::PodPtr& b) {
  return a == b || (a != nullptr && b != nullptr && a->meta.namespace_ == b->meta.namespace_ &&
                    a->meta.labels == b->meta.labels && a->spec.affinity == b->spec.affinity);
}

bool is_same_kept(const scheduling::KeptRoom& a, const scheduling::KeptRoom& b) {
  return a.target == b.target && a.pod_uid == b.pod_uid && a.requests == b.requests &&
         a.volumes == b.volumes && a.pods == b.pods && stand_for_the_same(a.sample, b.sample);
}

bool are_same_devices(const scheduling::Snapshot& a, const scheduling::Snapshot& b) {
  return a.device_classes == b.device_classes && a.resource_claims == b.resource_claims &&
         a.resource_claim_templates == b.resource_claim_templates &&
         a.resource_slices == b.resource_slices && a.published_devices == b.published_devices;
}

bool is_same_pool(const scheduling::PoolOption& a, const scheduling::PoolOption& b) {
  return a.pool == b.pool && a.types == b.types && a.node_overhead == b.node_overhead &&
         a.max_price_ratio == b.max_price_ratio;
}

}  // namespace

bool is_same_problem(const PlanningRound& a, const PlanningRound& b) {
  const auto& x = a.problem;
  const auto& y = b.problem;
  const auto same = [](const auto& one, const auto& other, auto equal) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), equal);
  };
  return same(x.nodes, y.nodes, is_same_record) &&
         same(x.counted_nodes, y.counted_nodes, is_same_record) &&
         same(x.kept, y.kept, is_same_kept) && same(x.departing, y.departing, is_same_pod) &&
         x.daemon_sets == y.daemon_sets && same(x.pools, y.pools, is_same_pool) &&
         same(x.pods, y.pods, is_same_pod) && a.signalled == b.signalled &&
         a.snapshot->volume_claims == b.snapshot->volume_claims &&
         a.snapshot->volumes == b.snapshot->volumes &&
         a.snapshot->storage_classes == b.snapshot->storage_classes &&
         a.snapshot->csi_nodes == b.snapshot->csi_nodes &&
         a.snapshot->volume_limits == b.snapshot->volume_limits &&
         are_same_devices(*a.snapshot, *b.snapshot) &&
         a.snapshot->namespaces == b.snapshot->namespaces &&
         a.snapshot->pod_selectors == b.snapshot->pod_selectors;
}

bool is_untried(const model::Pod& pod) {
  return pod.spec.scheduling_gates.empty() && pod.status.nominated_node_name.empty() &&
         !model::is_owned_by_daemonset(pod) && !model::is_mirror(pod) && !pod.meta.is_deleting() &&
         model::find_condition(pod.status.conditions, "PodScheduled") == nullptr;
}

bool is_growing(const model::NodePool& pool) {
  return !pool.meta.is_deleting() && !pool.replicas && model::is_true(pool.conditions, "Ready");
}

bool any_homeless(const scheduling::Snapshot& snapshot, const IsSignalled& is_signalled) {
  return std::any_of(snapshot.pending_pods.begin(), snapshot.pending_pods.end(),
                     [&](const auto& pod) { return is_signalled(*pod); }) ||
         std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(), [](const auto& record) {
           return record->marked_for_deletion && !record->pods.empty();
         });
}

std::shared_ptr<PlanningRound> make_planning_round(Services& services, SchedulerQueues& queues,
                                                   const IsSignalled& is_signalled) {
  auto round = std::make_shared<PlanningRound>();
  round->shown = services.claims_in_creation->shown();
  round->snapshot = services.state.snapshot();
  const auto& snapshot = *round->snapshot;
  const bool buffers_due = services.buffers != nullptr && services.buffers->due();
  if (!snapshot.synced || (!any_homeless(snapshot, is_signalled) && !buffers_due)) {
    return round;
  }
  RoundMaker maker(services, queues, *round);
  maker.add_nodes();
  maker.add_demand(is_signalled);
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
  round->problem.cluster = round->snapshot;
  return round;
}

}  // namespace millwright::controllers

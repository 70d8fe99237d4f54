#include "millwright/controllers/provisioning.hpp"

#include "controllers/buffer_plans.hpp"
#include "controllers/free_room.hpp"
#include "millwright/controllers/buffers.hpp"
#include "millwright/controllers/holds.hpp"
#include "millwright/disruption/pod_obstacles.hpp"
#include "millwright/telemetry/chronicle.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace millwright::controllers {
namespace {

constexpr auto kNomination = std::chrono::seconds(20);
constexpr auto kRefusalDedupe = std::chrono::minutes(5);
constexpr auto kLookAgain = std::chrono::seconds(1);

// Not tried by kube-scheduler yet; planned along, but never the reason for a claim.
bool is_untried(const model::Pod& pod) {
  return pod.spec.scheduling_gates.empty() && pod.status.nominated_node_name.empty() &&
         !model::is_owned_by_daemonset(pod) && !model::is_mirror(pod) && !pod.meta.is_deleting() &&
         model::find_condition(pod.status.conditions, "PodScheduled") == nullptr;
}

bool is_growing(const model::NodePool& pool) {
  return !pool.meta.is_deleting() && !pool.replicas && model::is_true(pool.conditions, "Ready");
}

// A claim whose size is not known yet takes no more pods; those planned onto it are held there.
bool is_usable(const scheduling::NodeRecord& record) {
  return !record.marked_for_deletion && !record.fenced &&
         (record.node != nullptr || model::is_true(record.claim->conditions, model::kLaunched));
}

// Pods that the extender let through moments ago: kube-scheduler is about to bind them, whatever
// an older report says that we may be seeing only now.
std::set<std::string, std::less<>> being_bound(const Services& services) {
  std::set<std::string, std::less<>> pods;
  for (const auto& pass : services.ledger.passes(services.loop.now())) {
    if (pass->everywhere || !pass->node_hashes.empty()) {
      pods.insert(pass->pod_uid);
    }
  }
  return pods;
}

}  // namespace

struct Provisioner::Round {
  scheduling::SnapshotPtr snapshot;
  scheduling::Problem problem;
  std::map<std::string, scheduling::PodPtr, std::less<>> pods;  // by uid
  std::set<std::string, std::less<>> signalled;                 // uids that may cause a claim
  std::set<std::string, std::less<>> virtual_uids;              // pods of CapacityBuffers
  bool any_being_bound = false;                                 // left out for that reason
  scheduling::Plan plan;
};

Provisioner::Provisioner(Services& services, Holds& holds)
    : services_(services),
      holds_(holds),
      signal_(services.loop),
      memory_(std::make_shared<scheduling::PlanMemory>()) {}

void Provisioner::notify() {
  signal_.notify();
}

void Provisioner::refused(std::string pod_uid) {
  if (refused_pods_.insert(std::move(pod_uid)).second) {
    signal_.notify();
  }
}

bool Provisioner::is_signalled(const model::Pod& pod) const {
  return scheduling::is_provisionable(pod) ||
         (refused_pods_.contains(pod.meta.uid) && pod.status.nominated_node_name.empty());
}

std::shared_ptr<Provisioner::Round> Provisioner::make_round() const {
  auto round = std::make_shared<Round>();
  round->snapshot = services_.state.snapshot();
  const auto& snapshot = *round->snapshot;
  const auto* buffers = services_.buffers;
  const bool buffers_due = buffers != nullptr && buffers->due();
  if (!snapshot.synced || (!any_homeless(snapshot) && !buffers_due)) {
    return round;
  }
  auto& problem = round->problem;
  std::set<std::string_view> targets;
  for (const auto& record : snapshot.nodes) {
    problem.counted_nodes.push_back(record);
    if (is_usable(*record)) {
      problem.nodes.push_back(record);
    }
    if (!record->marked_for_deletion) {
      targets.insert(record->name());
    }
  }
  std::set<std::string_view> held;
  for (const auto& hold : snapshot.holds) {
    if (targets.contains(hold.target)) {
      held.insert(hold.pod_uid);
      problem.holds.push_back(as_planned(hold));
    }
  }
  const auto add = [&](const scheduling::PodPtr& pod, bool signalled) {
    if (held.contains(hold_id(*pod)) || pod->meta.is_deleting()) {
      return;
    }
    problem.pods.push_back(pod);
    round->pods.emplace(pod->meta.uid, pod);
    if (signalled) {
      round->signalled.insert(pod->meta.uid);
    }
  };
  const auto bound_soon = being_bound(services_);
  FreeRoom free_room(problem);
  for (const auto& pod : snapshot.pending_pods) {
    const bool signalled = is_signalled(*pod);
    if (bound_soon.contains(pod->meta.uid)) {
      round->any_being_bound = round->any_being_bound || signalled;
      continue;
    }
    if (signalled || (is_untried(*pod) && !free_room.may_take(*pod))) {
      add(pod, signalled);
    }
  }
  const disruption::PodObstacles obstacles(snapshot.disruption_budgets, services_.loop.now());
  for (const auto& record : snapshot.nodes) {
    if (record->marked_for_deletion) {
      for (const auto& pod : record->pods) {
        if (obstacles.is_currently_reschedulable(*pod) && scheduling::has_successor(*pod)) {
          add(pod, true);
        }
      }
    }
  }
  if (round->signalled.empty() && !buffers_due) {
    problem.pods.clear();
    return round;
  }
  if (buffers != nullptr) {
    for (const auto& pod : buffers->to_plan(snapshot)) {
      problem.pods.push_back(pod);
      round->pods.emplace(pod->meta.uid, pod);
      round->virtual_uids.insert(pod->meta.uid);
    }
  }
  const auto catalog = catalog_of(services_, snapshot);
  for (const auto& pool : snapshot.node_pools) {
    const auto types = catalog.find(pool->meta.name);
    if (is_growing(*pool) && types != catalog.end()) {
      problem.pools.push_back({pool, types->second});
    }
  }
  problem.daemon_sets = snapshot.daemon_sets;
  problem.options = services_.options.solve;
  problem.surroundings = round->snapshot;
  return round;
}

namespace {

void nominate(Services& services, const model::Pod& pod, const std::string& target) {
  services.events.record({.object = kube::reference_to(model::kPodResource, pod.meta),
                          .warning = false,
                          .reason = "Nominated",
                          .message = "Pod should schedule on: " + target,
                          .dedupe_values = {}});
}

// The log says it once per reason; the event repeats while the pod waits.
void report_refusal(Services& services, const model::Pod& pod, const scheduling::Refusal& refusal,
                    std::map<std::string, std::string, std::less<>>& reported) {
  std::string message = "Failed to schedule pod, " + refusal.reason;
  if (!refusal.remedy.empty()) {
    message += "; " + refusal.remedy;
  }
  if (auto& reason = reported[pod.meta.uid]; reason != refusal.reason) {
    reason = refusal.reason;
    services.log.error("could not schedule pod",
                       {{"Pod", model::key_of(pod.meta).to_string()}, {"error", refusal.reason}});
  }
  services.events.record({.object = kube::reference_to(model::kPodResource, pod.meta),
                          .warning = true,
                          .reason = "FailedScheduling",
                          .message = std::move(message),
                          .dedupe_values = {refusal.reason},
                          .dedupe_for = kRefusalDedupe});
}

// Room on a node that is still starting is kept as on a claim; a node that is up is only
// protected from disruption for a while, since kube-scheduler may bind at once.
void place_on_existing(Services& services, const scheduling::NodeRecord& record,
                       const scheduling::PodPtr& pod) {
  services.state.nominate(record.name(), services.loop.now() + kNomination);
  const std::string node = record.node ? "node/" + record.name() : "";
  nominate(services, *pod,
           !record.managed()
               ? node
               : "nodeclaim/" + record.claim_name() + (node.empty() ? "" : ", " + node));
  if (record.initialized() || !record.managed()) {
    return;
  }
  services.ledger.hold_all(make_holds({pod}, record.name(),
                                      services.loop.now() + services.options.registration_timeout));
}

}  // namespace

// Claims are created one after another, which takes a while on a busy API server; a pod that found
// room meanwhile, or is about to, needs none any more.
std::vector<scheduling::PodPtr> Provisioner::still_homeless(
    const Round& round, const scheduling::PlannedClaim& planned) const {
  const auto by_name = [](const scheduling::PodPtr& a, const scheduling::PodPtr& b) {
    return std::tie(a->meta.name, a->meta.namespace_) < std::tie(b->meta.name, b->meta.namespace_);
  };
  const auto now = services_.state.latest();
  const auto& pending = now->pending_pods;
  const auto binding = being_bound(services_);
  std::vector<scheduling::PodPtr> pods;
  for (const auto& uid : planned.pod_uids) {
    const auto& pod = round.pods.at(uid);
    const auto found = std::lower_bound(pending.begin(), pending.end(), pod, by_name);
    const bool waits =
        found != pending.end() && (*found)->meta.uid == uid && !binding.contains(uid);
    if (waits || !pod->spec.node_name.empty()) {  // or it has to leave its node
      pods.push_back(pod);
    }
  }
  return pods;
}

// What the plan made of the buffers: room on existing nodes, or none yet; room on new claims is
// noted as they are created.
void Provisioner::place_buffers(const Round& round) {
  if (services_.buffers == nullptr) {
    return;
  }
  std::map<std::string_view, std::string_view> targets;
  for (const auto& placement : round.plan.placements) {
    if (const auto* name = std::get_if<std::string>(&placement.target)) {
      targets.emplace(placement.pod_uid, *name);
    }
  }
  for (const auto& uid : round.virtual_uids) {
    const auto target = targets.find(uid);
    services_.buffers->place(uid, std::string(target == targets.end() ? "" : target->second));
    keep_buffer_room(services_, uid);
  }
}

base::Task<bool> Provisioner::carry_out(std::shared_ptr<const Round> round) {
  bool complete = true;
  const auto& plan = round->plan;
  std::map<std::string, scheduling::NodeRecordPtr, std::less<>> records;
  for (const auto& record : round->problem.nodes) {
    records.emplace(record->name(), record);
  }
  for (const auto& placement : plan.placements) {
    const auto* name = std::get_if<std::string>(&placement.target);
    if (name != nullptr && round->signalled.contains(placement.pod_uid)) {
      const auto& record = *records.at(*name);
      place_on_existing(services_, record, round->pods.at(placement.pod_uid));
      if (record.initialized() || !record.managed()) {
        holds_.has_room(placement.pod_uid);
      }
    }
  }
  std::erase_if(refusals_, [&](const auto& item) { return !round->pods.contains(item.first); });
  std::size_t unschedulable = 0;
  for (const auto& refusal : plan.refusals) {
    if (round->signalled.contains(refusal.pod_uid)) {
      ++unschedulable;
      report_refusal(services_, *round->pods.at(refusal.pod_uid), refusal, refusals_);
    }
  }
  services_.metrics.set("karpenter_scheduler_unschedulable_pods_count",
                        "Pods that the last plan could not place.", {{"controller", "provisioner"}},
                        static_cast<double>(unschedulable));

  place_buffers(*round);
  for (const auto& planned : plan.claims) {
    const auto pool = find_pool(*round->snapshot, planned.node_pool);
    const auto pods = still_homeless(*round, planned);
    const auto virtual_pods =
        std::count_if(planned.pod_uids.begin(), planned.pod_uids.end(),
                      [&](const auto& uid) { return round->virtual_uids.contains(uid); });
    const bool wanted =
        virtual_pods > 0 || std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
          return round->signalled.contains(pod->meta.uid);
        });
    complete =
        complete && pods.size() + static_cast<std::size_t>(virtual_pods) == planned.pod_uids.size();
    if (!wanted || !pool) {
      continue;
    }
    auto created = co_await create_planned_claim(services_, planned, pool, pods, "provisioned");
    if (!created) {
      services_.log.error("creating a nodeclaim failed, will plan again",
                          {{"NodePool", planned.node_pool}, {"error", created.error().message}});
      complete = false;
      continue;
    }
    for (const auto& pod : pods) {
      nominate(services_, *pod, "nodeclaim/" + (*created)->meta.name);
    }
    for (const auto& uid : planned.pod_uids) {
      if (round->virtual_uids.contains(uid)) {
        services_.buffers->place(uid, (*created)->meta.name);
      }
    }
  }
  co_return complete;
}

base::Task<bool> Provisioner::plan_once() {
  holds_.inherit();
  const auto round = make_round();
  std::erase_if(refused_pods_, [&](const auto& uid) {
    return !round->pods.contains(uid);  // bound, held or gone since
  });
  if (round->problem.pods.empty()) {
    co_return !round->any_being_bound;
  }
  if (services_.buffers != nullptr) {
    services_.buffers->planned();
  }
  const base::TimePoint begun = services_.loop.now();
  services_.chronicle.solve_begun(round->problem.pods, begun);
  // The compute thread has the problem and the memory to itself until the loop resumes.
  auto work = [round, memory = memory_] {
    return solve_for_real_pods_first(round->problem, round->virtual_uids, *memory);
  };
  auto plan = co_await base::offload(services_.loop, services_.compute, std::move(work));
  round->plan = std::move(plan);
  services_.chronicle.solve_ended(round->problem.pods, round->plan, services_.loop.now());
  const std::chrono::duration<double> took = services_.loop.now() - begun;
  services_.metrics.observe("karpenter_scheduler_scheduling_duration_seconds", "Time to plan.",
                            {{"controller", "provisioner"}}, took.count());
  services_.log.info("computed plan", {{"pods", std::to_string(round->problem.pods.size())},
                                       {"new-claims", std::to_string(round->plan.claims.size())},
                                       {"refused", std::to_string(round->plan.refusals.size())}});
  const bool complete = co_await carry_out(round);
  co_return complete && !round->any_being_bound;
}

// Something to plan for: a pod that kube-scheduler could not place, or one whose node goes.
bool Provisioner::any_homeless(const scheduling::Snapshot& snapshot) const {
  return std::any_of(snapshot.pending_pods.begin(), snapshot.pending_pods.end(),
                     [this](const auto& pod) { return is_signalled(*pod); }) ||
         std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(), [](const auto& record) {
           return record->marked_for_deletion && !record->pods.empty();
         });
}

bool Provisioner::any_untried() const {
  const auto snapshot = services_.state.snapshot();
  return std::any_of(snapshot->pending_pods.begin(), snapshot->pending_pods.end(),
                     [](const auto& pod) { return is_untried(*pod); });
}

base::Task<void> Provisioner::gather(std::stop_token stop) {
  if (!any_homeless(*services_.state.snapshot())) {
    co_return;
  }
  const base::TimePoint limit = services_.loop.now() + services_.options.batch_max;
  while (services_.loop.now() < limit && !stop.stop_requested()) {
    const auto left = limit - services_.loop.now();
    const bool more =
        co_await signal_.wait(stop, std::min<base::Duration>(services_.options.batch_idle, left));
    if (!more && !any_untried()) {
      co_return;
    }
  }
}

base::Task<void> Provisioner::run(std::stop_token stop) {
  std::optional<base::Duration> retry;
  while (!stop.stop_requested()) {
    co_await signal_.wait(stop, retry);
    if (stop.stop_requested()) {
      break;
    }
    // What arrived together is planned together.
    co_await base::yield(services_.loop);
    co_await gather(stop);
    const bool complete = co_await plan_once();
    retry = complete ? std::nullopt : std::optional<base::Duration>(kLookAgain);
  }
}

}  // namespace millwright::controllers

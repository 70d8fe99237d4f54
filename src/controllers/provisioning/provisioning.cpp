#include "millwright/controllers/provisioning/provisioning.hpp"

#include "controllers/buffers/buffer_plans.hpp"
#include "controllers/decisions/decision_notes.hpp"
#include "controllers/pools/pool_reports.hpp"
#include "controllers/process/at_once.hpp"
#include "controllers/process/pace.hpp"
#include "controllers/provisioning/draft_timer.hpp"
#include "controllers/provisioning/drafts.hpp"
#include "controllers/provisioning/open_demand.hpp"
#include "controllers/provisioning/planning_round.hpp"
#include "millwright/controllers/buffers/buffers.hpp"
#include "millwright/controllers/provisioning/reservations.hpp"
#include "millwright/telemetry/chronicle.hpp"

#include <algorithm>
#include <map>

namespace millwright::controllers {
namespace {

constexpr const char* kName = "provisioner";
constexpr std::size_t kNamedPods = 5;
constexpr auto kRefusalDedupe = std::chrono::minutes(5);
constexpr auto kProvisioningResync = std::chrono::seconds(1);
constexpr auto kNextLook = std::chrono::milliseconds(100);
constexpr int kMostVainPlans = 3;
constexpr std::size_t kPurchasesAtOnce = 32;
constexpr int kIdlesLittleByLittle = 5;    // of Options::draft_idle
constexpr double kNominatedPerSecond = 5;  // Karpenter's limit for its Nominated events
constexpr double kNominatedAtOnce = 10;

// "default/a, default/b and 3 other(s)", as in Karpenter's log.
std::string names_of(const PlanningRound& round) {
  std::string names;
  std::size_t named = 0;
  for (const auto& pod : round.problem.pods) {
    if (named == kNamedPods) {
      names += " and " + std::to_string(round.problem.pods.size() - named) + " other(s)";
      break;
    }
    names += (named++ == 0 ? "" : ", ") + model::key_of(pod->meta).to_string();
  }
  return names;
}

// Plans that buy nothing are made many times a second while pods wait for room to become free.
void log_plan(const base::Logger& log, const PlanningRound& round) {
  const auto& plan = round.plan;
  std::size_t on_new_claims = 0;
  for (const auto& claim : plan.claims) {
    on_new_claims += claim.pod_uids.size();
  }
  const std::size_t postponed = scheduling::count_postponed(plan);
  const std::string refused = std::to_string(plan.refusals.size() - postponed);
  if (postponed > 0) {
    log.info("left pod(s) for the next plan, since one plan does not do more work",
             {{"pods", std::to_string(postponed)}});
  }
  if (plan.claims.empty()) {
    log.debug("computed a plan without new nodeclaim(s)",
              {{"pods", std::to_string(round.problem.pods.size())}, {"refused", refused}});
    return;
  }
  log.info("found provisionable pod(s)", {{"Pods", names_of(round)}});
  log.info("computed new nodeclaim(s) to fit pod(s)",
           {{"nodeclaims", std::to_string(plan.claims.size())},
            {"pods", std::to_string(on_new_claims)},
            {"refused", refused}});
}

}  // namespace

Provisioner::Provisioner(Services& services, Reservations& reservations)
    : services_(services.logging_to(services.log.with({{"controller", kName}}))),
      reservations_(reservations),
      round_ids_(services.seed ^ std::hash<std::string_view>{}(kName)),
      signal_(services.loop),
      memory_(std::make_shared<scheduling::PlanMemory>()),
      nominations_(std::make_unique<Pace>(kNominatedPerSecond, kNominatedAtOnce)),
      drafts_(std::make_unique<DraftTimer>(services.options.draft_max)),
      notes_(std::make_unique<PlanNotes>()),
      queues_(std::make_unique<SchedulerQueues>()) {}
Provisioner::~Provisioner() = default;

void Provisioner::notify() {
  signal_.notify();
}

void Provisioner::refused(std::string pod_uid) {
  if (refused_pods_.insert(std::move(pod_uid)).second) {
    signal_.notify();
  }
}

bool Provisioner::refuses(const scheduling::GroupId& group) const {
  const std::scoped_lock lock(refused_groups_mutex_);
  return refused_groups_.contains(group.text());
}

void Provisioner::set_refused_groups(std::set<std::string, std::less<>> groups) {
  const std::scoped_lock lock(refused_groups_mutex_);
  refused_groups_ = std::move(groups);
}

std::function<bool(const model::Pod&)> Provisioner::signalled() const {
  return [this](const model::Pod& pod) {
    return scheduling::is_provisionable(pod) ||
           (refused_pods_.contains(pod.meta.uid) && pod.status.nominated_node_name.empty());
  };
}

namespace {

// The log says it once per reason; the event repeats while the pod waits.
void report_refusal(Services& services, const model::Pod& pod, const scheduling::Refusal& refusal,
                    std::map<std::string, std::string, std::less<>>& reported) {
  std::string message = "Failed to schedule pod, " + refusal.reason +
                        (refusal.remedy.empty() ? "" : "; " + refusal.remedy);
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

}  // namespace

// Claims are created one after another, which takes a while on a busy API server: pods may have
// found room meanwhile, or be about to, or be gone.
std::vector<std::string> Provisioner::pods_in_need(const PlanningRound& round,
                                                   const scheduling::PlannedClaim& planned) const {
  const auto now = services_.state.snapshot();
  const OpenDemand open(services_, *now);
  std::map<scheduling::GroupId, std::int32_t> left;
  std::vector<std::string> needed;
  for (const auto& uid : planned.pod_uids) {
    if (!round.virtual_uids.contains(uid)) {
      const auto [group, is_first] = left.try_emplace(scheduling::group_of(*round.pods.at(uid)), 0);
      const auto* demand = scheduling::find_demand(now->demand, group->first);
      if (is_first && demand != nullptr) {
        group->second = open.open(*demand);
      }
      if (--group->second < 0) {
        continue;
      }
    }
    needed.push_back(uid);
  }
  return needed;
}

// What the plan made of the buffers: room on existing nodes, or none yet; room on new claims is
// noted as they are created.
void Provisioner::place_buffers(const PlanningRound& round) {
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
  }
  keep_buffer_room(services_);
}

void Provisioner::report_refusals(const PlanningRound& round) {
  note_refusals(services_, round);
  std::erase_if(refusals_, [&](const auto& item) { return !round.pods.contains(item.first); });
  std::set<std::string, std::less<>> groups;
  std::size_t unschedulable = 0;
  for (const auto& refusal : round.plan.refusals) {
    if (refusal.postponed) {
      continue;
    }
    // A pod that is yet to come may lack what will be made for it, such as its volume claim.
    if (round.signalled.contains(refusal.pod_uid) && !round.expected.contains(refusal.pod_uid)) {
      groups.insert(scheduling::group_of(*round.pods.at(refusal.pod_uid)).text());
      ++unschedulable;
      report_refusal(services_, *round.pods.at(refusal.pod_uid), refusal, refusals_);
    }
  }
  services_.metrics.set("karpenter_scheduler_unschedulable_pods_count",
                        "Pods that the last plan could not place.", {{"controller", "provisioner"}},
                        static_cast<double>(unschedulable));
  set_refused_groups(std::move(groups));
}

namespace {

// While the plan was made and claims before this one were created, somebody may have edited the
// pool, deleted it or made another of its name. What only its status says changes no plan.
bool is_still_as_planned(const model::NodePool& then, const model::NodePool* now) {
  return now != nullptr && is_growing(*now) && now->meta.uid == then.meta.uid &&
         now->meta.generation == then.meta.generation;
}

}  // namespace

// False when the plan has to be made again: a claim could not be created, or is not needed as it
// was planned.
base::Task<bool> Provisioner::carry_out(std::shared_ptr<const PlanningRound> round,
                                        bool drafts_too) {
  const auto made = std::make_shared<Purchases>();
  std::vector<base::Task<void>> purchases;
  for (std::size_t i = 0; i < round->plan.claims.size(); ++i) {
    if (round->full[i] != drafts_too) {
      purchases.push_back(buy_and_note(round, round->plan.claims[i], made));
    }
  }
  co_await run_at_once(services_.loop, std::move(purchases), kPurchasesAtOnce);
  if (made->any_bought) {
    vain_plans_ = 0;
  } else if (made->any_too_large) {
    ++vain_plans_;
  }
  // Once, not for each of what may be hundreds of claims.
  for (const auto& [pool, claims] : made->of_changed_pools) {
    services_.log.info("nodepool has changed meanwhile, will plan again",
                       {{"NodePool", pool}, {"nodeclaims", std::to_string(claims)}});
  }
  co_return made->complete;
}

base::Task<void> Provisioner::buy_and_note(std::shared_ptr<const PlanningRound> round,
                                           scheduling::PlannedClaim planned,
                                           std::shared_ptr<Purchases> purchases) {
  const bool bought = co_await buy(std::move(round), std::move(planned), purchases);
  purchases->complete = purchases->complete && bought;
}

base::Task<bool> Provisioner::buy(std::shared_ptr<const PlanningRound> round,
                                  scheduling::PlannedClaim planned,
                                  std::shared_ptr<Purchases> purchases) {
  const auto pool = find_pool(*round->snapshot, planned.node_pool);
  const auto pool_now = services_.state.find_pool(planned.node_pool);
  const auto is_wanted = [&round](const auto& uid) {
    return round->virtual_uids.contains(uid) || round->signalled.contains(uid);
  };
  const bool wanted = std::any_of(planned.pod_uids.begin(), planned.pod_uids.end(), is_wanted);
  if (!wanted || !pool) {
    co_return true;
  }
  if (!is_still_as_planned(*pool, pool_now.get())) {
    ++purchases->of_changed_pools[planned.node_pool];
    co_return false;
  }
  if (auto needed = pods_in_need(*round, planned); needed.size() < planned.pod_uids.size()) {
    purchases->any_too_large = true;
    // Where pods come and go all the time, the next plan would meet the same.
    if (vain_plans_ < kMostVainPlans || std::none_of(needed.begin(), needed.end(), is_wanted)) {
      co_return false;
    }
    services_.log.info("some pods of a planned nodeclaim have gone, creating it for the others",
                       {{"NodePool", planned.node_pool},
                        {"planned", std::to_string(planned.pod_uids.size())},
                        {"left", std::to_string(needed.size())}});
    planned.pod_uids = std::move(needed);
  }
  std::vector<scheduling::PodPtr> pods;
  for (const auto& uid : planned.pod_uids) {
    if (!round->virtual_uids.contains(uid)) {
      pods.push_back(round->pods.at(uid));
    }
  }
  NewClaim wanted_claim{.planned = planned,
                        .pool = pool,
                        .pods = pods,
                        .reason = "provisioned",
                        .trace = round->trace,
                        .inputs = round->digest,
                        .snapshot = round->shown,
                        .types = types_of(*round, planned.node_pool)};
  auto created = co_await create_claim(services_, std::move(wanted_claim));
  if (!created) {
    const base::Error& error = created.error();
    if (error.kind == base::ErrorKind::Conflict) {
      services_.log.info("not creating a nodeclaim, will plan again",
                         {{"NodePool", planned.node_pool}, {"reason", error.message}});
    } else {
      services_.log.error("creating a nodeclaim failed, will plan again",
                          {{"NodePool", planned.node_pool}, {"error", error.message}});
    }
    co_return false;
  }
  bought_at_ = services_.loop.now();
  purchases->any_bought = true;
  for (const auto& pod : pods) {
    if (!round->expected.contains(pod->meta.uid)) {
      nominate(*pod, "nodeclaim/" + (*created)->meta.name);
    }
  }
  for (const auto& uid : planned.pod_uids) {
    if (round->virtual_uids.contains(uid)) {
      services_.buffers->place(uid, (*created)->meta.name);
    }
  }
  if (pods.size() < planned.pod_uids.size()) {
    keep_buffer_room_on(services_, {(*created)->meta.name});
  }
  co_return true;
}

base::Task<void> Provisioner::make_plan(std::shared_ptr<PlanningRound> round) {
  round->trace = round_ids_.uuid();
  services_.log = services_.log.with({{"reconcileID", round->trace}});
  const base::TimePoint begun = services_.loop.now();
  services_.chronicle.solve_begun(round->problem.pods, begun);
  // The compute thread has the problem and the memory to itself until the loop resumes.
  auto work = [round, memory = memory_] {
    round->digest = digest_of(round->problem);
    return solve_for_real_pods_first(round->problem, round->virtual_uids, *memory);
  };
  auto plan = co_await base::offload(services_.loop, services_.compute, std::move(work));
  round->plan = std::move(plan);
  services_.chronicle.solve_ended(round->problem.pods, round->plan, services_.loop.now());
  tell_pool_problems(services_, *round->snapshot, memory_->pool_problems());
  const std::chrono::duration<double> took = services_.loop.now() - begun;
  services_.metrics.observe("karpenter_scheduler_scheduling_duration_seconds", "Time to plan.",
                            {{"controller", "provisioner"}}, took.count());
  log_plan(services_.log, *round);
  notes_->note(services_, *round);
  round->full = full_claims(*round);
  place_pods(*round, true);
  place_buffers(*round);
}

void Provisioner::forget_settled(const scheduling::Snapshot& snapshot) {
  if (refused_pods_.empty()) {
    return;
  }
  std::set<std::string_view> pending;
  for (const auto& pod : snapshot.pending_pods) {
    pending.insert(pod->meta.uid);
  }
  std::erase_if(refused_pods_, [&](const auto& uid) { return !pending.contains(uid); });
}

// After what time to plan again though nothing changed.
std::optional<base::Duration> Provisioner::next_look(const PlanningRound& round,
                                                     bool complete) const {
  if (!round.snapshot->synced) {
    return kNextLook;
  }
  std::optional<base::Duration> next;
  if (scheduling::count_postponed(round.plan) > 0) {
    next = kNextLook;
  } else if (!complete || round.any_being_bound) {
    next = kProvisioningResync;
  }
  if (round.stale_at && !round.problem.pods.empty()) {
    const base::Duration left =
        std::max(*round.stale_at - services_.loop.now(), base::Duration::zero());
    next = next ? std::min(*next, left) : left;
  }
  return next;
}

// How long demand must stand still before its drafts are bought. Longer where it comes little by
// little: a purchase a moment ago was not the last, and one larger machine may do for several small
// ones. Longest while workloads are about to delete pods, whose room may be enough.
base::Duration Provisioner::time_to_stand_still(const scheduling::Snapshot& snapshot) const {
  const auto& options = services_.options;
  if (snapshot.surplus_pods > 0) {
    return options.draft_max;
  }
  const bool just_bought = bought_at_ && services_.loop.now() - *bought_at_ < options.draft_max;
  return just_bought ? std::min(options.draft_max, kIdlesLittleByLittle * options.draft_idle)
                     : options.draft_idle;
}

// A plan takes a while. Pods that waited may have gone meanwhile, and their room is enough perhaps.
// Pods go all the time in a rollout, so there is an end to planning again.
bool Provisioner::should_plan_again(const PlanningRound& round) {
  if (round.plan.claims.empty()) {
    vain_plans_ = 0;
    return false;
  }
  const auto now = services_.state.snapshot();
  const bool some_have_gone = now->surplus_pods < round.snapshot->surplus_pods ||
                              now->waiting_pods_gone != round.snapshot->waiting_pods_gone;
  if (!some_have_gone || vain_plans_ >= kMostVainPlans) {
    return false;
  }
  ++vain_plans_;
  services_.log.debug("pods have gone meanwhile, will plan again",
                      {{"nodeclaims", std::to_string(round.plan.claims.size())}});
  return true;
}

base::Task<std::optional<base::Duration>> Provisioner::plan_once() {
  auto round = make_planning_round(services_, *queues_, signalled());
  forget_settled(*round->snapshot);
  if (round->problem.pods.empty()) {
    last_.reset();
    vain_plans_ = 0;
    set_refused_groups({});
    note_refusals(services_, *round);
    drafts_->update({}, {}, services_.loop.now());
    co_return next_look(*round, true);
  }
  if (services_.buffers != nullptr) {
    services_.buffers->planned();
  }
  base::Duration idle = time_to_stand_still(*round->snapshot);
  bool complete = true;
  if (last_ != nullptr && is_same_problem(*last_, *round)) {
    round->plan = last_->plan;
    round->digest = last_->digest;
    round->full = last_->full;
    place_pods(*round, false);
    report_refusals(*round);
  } else {
    co_await make_plan(round);
    report_refusals(*round);
    // Workloads may be about to delete pods only now.
    idle = std::max(idle, time_to_stand_still(*services_.state.snapshot()));
    const bool all_may_change = idle > services_.options.draft_idle;
    const bool is_part = scheduling::count_postponed(round->plan) > 0;
    if (is_part) {
      // The plan for those counts on what is bought by this one.
      round->full.assign(round->full.size(), true);
    } else if (all_may_change) {
      round->full.assign(round->full.size(), false);
    }
    if (!is_part && should_plan_again(*round)) {
      drafts_->update(drafts_of(*round), idle, services_.loop.now());
      co_return base::Duration::zero();
    }
    complete = co_await carry_out(round, false) && !is_part;
  }
  last_ = complete ? round : nullptr;
  drafts_->update(drafts_of(*round), idle, services_.loop.now());
  const auto due = drafts_->due();
  if (due && *due > services_.loop.now()) {
    const base::Duration left = *due - services_.loop.now();
    co_return std::min(left, next_look(*round, complete).value_or(left));
  }
  const bool drafts_complete = co_await carry_out(round, true);
  drafts_->update({}, {}, services_.loop.now());
  if (!round->plan.claims.empty()) {
    last_.reset();
  }
  co_return next_look(*round, complete && drafts_complete);
}

bool Provisioner::any_untried() const {
  const auto snapshot = services_.state.snapshot();
  return std::any_of(snapshot->pending_pods.begin(), snapshot->pending_pods.end(),
                     [&, now = services_.loop.now()](const auto& pod) {
                       return is_untried(*pod) && queues_->is_about_to_try(*pod, *snapshot, now);
                     });
}

base::Task<void> Provisioner::gather(std::stop_token stop) {
  if (!any_homeless(*services_.state.snapshot(), signalled())) {
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
    retry = co_await plan_once();
  }
}

}  // namespace millwright::controllers

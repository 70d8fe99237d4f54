#include "disruption/survey.hpp"

#include "disruption/budgets.hpp"

#include <algorithm>
#include <limits>

namespace millwright::disruption {
namespace {

std::string after_time(std::string_view what, base::TimePoint time) {
  return std::string(what).append(base::format_rfc3339(time));
}

const std::string& label_of(const scheduling::NodeRecord& record, std::string_view key) {
  static const std::string kNone;
  const auto& labels = record.labels();
  const auto found = labels.find(key);
  return found == labels.end() ? kNone : found->second;
}

bool is_growing(const model::NodePool& pool) {
  return !pool.meta.is_deleting() && !pool.replicas &&
         model::is_true(pool.conditions, model::kReady);
}

}  // namespace

const model::Condition* Candidate::drifted() const {
  const auto* condition = model::find_condition(record->claim->conditions, model::kDrifted);
  return condition != nullptr && condition->status == model::ConditionStatus::True ? condition
                                                                                   : nullptr;
}

bool counts_in_budgets(const scheduling::NodeRecord& record) {
  return record.managed() && record.node && record.initialized() &&
         !model::is_true(record.claim->conditions, model::kInstanceTerminating);
}

Survey::Survey(const Input& input, const std::vector<std::string>& own_claims)
    : input_(input),
      snapshot_(*input.snapshot),
      pod_obstacles_(snapshot_.disruption_budgets, input.now) {
  const std::set<std::string_view> own(own_claims.begin(), own_claims.end());
  for (const auto& record : snapshot_.nodes) {
    nodes_by_name_.emplace(record->name(), record.get());
  }
  for (const auto& pod : input_.virtual_pods) {
    virtual_uids_.insert(pod->meta.uid);
  }
  for (const auto& hold : snapshot_.holds) {
    // A buffer's own room moves with the pods that stand for it.
    const auto uid = std::string_view(hold.pod_uid).substr(hold.pod_uid.rfind('/') + 1);
    if (hold.deadline > input_.now && !virtual_uids_.contains(uid)) {
      holds_.push_back(hold);
    }
  }
  for (const auto& hold : holds_) {
    holds_by_target_.try_emplace(hold.target, &hold);
  }
  count_nodes();
  collect_pools();
  for (const auto& record : snapshot_.nodes) {
    consider(record, own);
    collect_destination(record);
  }
  std::sort(candidates_.begin(), candidates_.end(),
            [](const auto& a, const auto& b) { return a.claim_name() < b.claim_name(); });
  collect_pods();
}

// --- indexes

void Survey::count_nodes() {
  for (const auto& record : snapshot_.nodes) {
    if (counts_in_budgets(*record)) {
      auto& count = counts_[record->node_pool()];
      ++count.nodes;
      count.disrupting += is_going(*record) || !model::is_ready(*record->node) ? 1 : 0;
    }
  }
}

void Survey::collect_pools() {
  for (const auto& pool : snapshot_.node_pools) {
    pools_by_name_.emplace(pool->meta.name, pool);
    const auto types = input_.catalog.find(pool->meta.name);
    if (is_growing(*pool) && types != input_.catalog.end() && types->second &&
        !types->second->empty()) {
      pools_.push_back({pool, types->second});
      collect_types(*pool, *types->second);
    }
  }
}

void Survey::collect_types(const model::NodePool& pool,
                           const std::vector<scheduling::InstanceType>& types) {
  const scheduling::Requirements wanted(pool.template_.requirements);
  for (const auto& type : types) {
    const auto* offering = type.requirements.intersects(wanted)
                               ? scheduling::cheapest_offering(type, wanted)
                               : nullptr;
    if (offering != nullptr) {
      auto room = type.allocatable();
      for (const auto& each : type.offerings) {
        model::max_into(room, each.capacity_override.value_or(model::ResourceList{}));
      }
      for_sale_.push_back({offering->price, std::move(room)});
    }
  }
}

void Survey::collect_destination(const scheduling::NodeRecordPtr& record) {
  if (is_going(*record) || record->fenced) {
    return;
  }
  const auto pool = pool_named(record->node_pool());
  Destination destination{.record = record,
                          .settling = pool && is_settling(*record, *pool, input_.now),
                          .free = record->allocatable()};
  destination.sized = !destination.free.empty();
  model::subtract_from(destination.free, record->pod_requests);
  if (!destination.settling) {
    model::max_into(most_free_, destination.free);
  }
  destinations_.push_back(std::move(destination));
}

// Pods that have room kept for them already need none of what is free.
void Survey::collect_pods() {
  std::set<model::ObjectKey> promised;
  for (const auto& hold : holds_) {
    promised.insert(hold.pod);
  }
  const auto is_open = [&](const model::Pod& pod) {
    return !promised.contains(model::key_of(pod.meta));
  };
  for (const auto& pod : snapshot_.pending_pods) {
    if (scheduling::is_provisionable(*pod) && is_open(*pod)) {
      other_pods_.push_back(pod);
    }
  }
  other_pods_.insert(other_pods_.end(), input_.virtual_pods.begin(), input_.virtual_pods.end());
  for (const auto& record : snapshot_.nodes) {
    if (!is_going(*record)) {
      continue;
    }
    for (const auto& pod : record->pods) {
      if (pod_obstacles_.is_currently_reschedulable(*pod) && scheduling::has_successor(*pod) &&
          is_open(*pod)) {
        other_pods_.push_back(pod);
        leaving_uids_.insert(pod->meta.uid);
      }
    }
  }
}

// --- lookups

const Candidate* Survey::find(std::string_view claim) const {
  const auto found = std::lower_bound(candidates_.begin(), candidates_.end(), claim,
                                      [](const Candidate& candidate, std::string_view name) {
                                        return candidate.claim_name() < name;
                                      });
  return found != candidates_.end() && found->claim_name() == claim ? &*found : nullptr;
}

const scheduling::NodeRecord* Survey::find_node(std::string_view name) const {
  const auto found = nodes_by_name_.find(name);
  return found == nodes_by_name_.end() ? nullptr : found->second;
}

std::shared_ptr<const model::NodePool> Survey::pool_named(std::string_view name) const {
  const auto found = pools_by_name_.find(name);
  return found == pools_by_name_.end() ? nullptr : found->second;
}

bool Survey::is_going(const scheduling::NodeRecord& record) const {
  return record.marked_for_deletion ||
         (record.managed() && input_.busy_claims.contains(record.claim_name()));
}

int Survey::remaining(const model::NodePool& pool, Reason reason) const {
  const auto found = counts_.find(pool.meta.name);
  const Count count = found == counts_.end() ? Count{} : found->second;
  return std::max(0, allowed_by_budgets(pool, count.nodes, reason, input_.now) - count.disrupting);
}

std::optional<double> Survey::price_of(const scheduling::InstanceTypes& types,
                                       const scheduling::NodeRecord& record) const {
  const auto& capacity_type = label_of(record, model::kCapacityTypeLabel);
  if (capacity_type == model::kReserved) {
    // Reservations of one type and zone may differ in price; all labels count.
    return scheduling::price_of(types, record.labels());
  }
  const PriceKey key(types.get(), label_of(record, model::kInstanceTypeLabel),
                     label_of(record, model::kZoneLabel), capacity_type);
  const auto [found, is_new] = prices_.try_emplace(key);
  if (is_new) {
    found->second = scheduling::price_of(types, record.labels());
  }
  return found->second;
}

Survey::PoolTotal Survey::total_of(const model::NodePool& pool) const {
  PoolTotal total;
  const auto types = input_.catalog.find(pool.meta.name);
  for (const auto& record : snapshot_.nodes) {
    if (!record->managed() || record->node_pool() != pool.meta.name) {
      continue;
    }
    if (types != input_.catalog.end()) {
      total.price += price_of(types->second, *record).value_or(0);
    }
    total.disruption += 1;
    for (const auto& pod : record->pods) {
      if (scheduling::is_reschedulable(*pod)) {
        total.disruption += std::max(0.0, eviction_cost(*pod));
      }
    }
  }
  return total;
}

// --- what is reported

void Survey::block(const std::string& claim, Why why, Kept kept) {
  blocked_.try_emplace(claim, Blocked{.claim = claim, .kept = kept, .why = std::move(why)});
}

void Survey::block_by_budget(const Candidate& candidate, Reason reason) {
  block(candidate.claim_name(),
        {Cause::Budget, "the spec.disruption.budgets of NodePool " + candidate.pool->meta.name +
                            " allow no further " + std::string(to_string(reason)) +
                            " node to go now"},
        reason == Reason::Drifted ? Kept::FromDisruption : Kept::FromConsolidation);
  spent_budgets_.insert({candidate.pool->meta.name, reason});
  if (awaited_budgets_.insert(candidate.pool->meta.name).second) {
    wake_at(next_budget_change(*candidate.pool, input_.now));
  }
}

void Survey::wake_at(std::optional<base::TimePoint> time) {
  if (time && *time > input_.now && *time != base::TimePoint::max() && (!next_ || *time < *next_)) {
    next_ = time;
  }
}

void Survey::report(Decisions& decisions) const {
  std::set<std::string_view> chosen;
  for (const auto& command : decisions.commands) {
    chosen.insert(command.claims.begin(), command.claims.end());
  }
  for (const auto& [claim, blocked] : blocked_) {
    if (!chosen.contains(claim)) {
      decisions.blocked.push_back(blocked);
      auto& first = decisions.blocked.back().why.message.front();
      first = first >= 'a' && first <= 'z' ? static_cast<char>(first - 'a' + 'A') : first;
    }
  }
  decisions.spent_budgets.assign(spent_budgets_.begin(), spent_budgets_.end());
  decisions.scores = scores_;
  decisions.next_check = next_;
}

// --- candidates

void Survey::consider(const scheduling::NodeRecordPtr& record,
                      const std::set<std::string_view>& own) {
  if (!record->managed() || is_going(*record)) {
    return;
  }
  if (auto obstacle = node_obstacle(*record, own.contains(record->claim_name()))) {
    wake_at(obstacle->until);
    block(record->claim_name(), std::move(obstacle->why));
    return;
  }
  Candidate candidate;
  candidate.record = record;
  candidate.pool = pool_named(record->node_pool());
  candidate.types = input_.catalog.find(record->node_pool())->second;
  candidate.instance_type = label_of(*record, model::kInstanceTypeLabel);
  candidate.capacity_type = label_of(*record, model::kCapacityTypeLabel);
  candidate.buffered = input_.buffered_nodes.contains(record->name());
  const auto price = price_of(candidate.types, *record);
  candidate.priced = price.has_value();
  candidate.price = price.value_or(0);
  for (const auto& pod : record->pods) {
    if (scheduling::is_reschedulable(*pod)) {
      candidate.pods.push_back(pod);
      candidate.disruption_cost += std::max(0.0, eviction_cost(*pod));
    }
  }
  candidate.consolidatable = consolidatable(*record->claim, *candidate.pool, input_.now);
  candidate.pods_obstacle = pod_obstacles_.find(record->pods);
  candidates_.push_back(std::move(candidate));
}

std::optional<Survey::NodeObstacle> Survey::node_obstacle(const scheduling::NodeRecord& record,
                                                          bool own) const {
  const auto say = [](Cause cause, std::string message,
                      std::optional<base::TimePoint> until = std::nullopt) {
    return NodeObstacle{{cause, std::move(message)}, until};
  };
  if (!record.node || !record.initialized()) {
    return say(Cause::NotInitialized, "its node is not initialized yet");
  }
  const auto& pool = record.node_pool();
  if (!pool_named(pool)) {
    return say(Cause::NoNodePool, pool.empty()
                                      ? "it has no label " + std::string(model::kNodePoolLabel)
                                      : "its NodePool " + pool + " does not exist");
  }
  const auto types = input_.catalog.find(pool);
  if (types == input_.catalog.end() || !types->second) {
    return say(Cause::TypesUnknown,
               "the instance types of NodePool " + pool + " are not known yet");
  }
  if (record.node->meta.annotation(model::kDoNotDisruptAnnotation) == "true") {
    return say(Cause::DoNotDisrupt,
               "its node has the annotation " + std::string(model::kDoNotDisruptAnnotation));
  }
  if (record.nominated_until && *record.nominated_until > input_.now) {
    return say(
        Cause::Nominated,
        after_time("its node is nominated for a pending pod until ", *record.nominated_until),
        record.nominated_until);
  }
  for (const auto& target : {record.name(), record.claim_name()}) {
    const auto hold = holds_by_target_.find(target);
    if (hold != holds_by_target_.end()) {
      return say(
          Cause::RoomKept,
          after_time("its node keeps room for pod " + hold->second->pod.to_string() + " until ",
                     hold->second->deadline),
          hold->second->deadline);
    }
  }
  if (record.fenced && !own) {
    return say(Cause::Fenced, "its node is fenced already");
  }
  return std::nullopt;
}

}  // namespace millwright::disruption

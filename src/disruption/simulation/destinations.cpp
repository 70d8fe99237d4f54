#include "disruption/simulation/destinations.hpp"

#include "millwright/scheduling/stuck_nodes.hpp"

#include <algorithm>

namespace millwright::disruption {
namespace {

bool is_growing(const model::NodePool& pool) {
  return !pool.meta.is_deleting() && !pool.replicas &&
         model::is_true(pool.conditions, model::kReady);
}

}  // namespace

bool is_going(const Input& input, const scheduling::NodeRecord& record) {
  return record.marked_for_deletion ||
         (record.managed() && input.busy_claims.contains(record.claim_name()));
}

Destinations::Destinations(const Input& input, const PoolIndex& pools, const NodePrices& prices,
                           const PodObstacles& pod_obstacles)
    : input_(input) {
  add_reservations();
  add_pools(pools, prices);
  for (const auto& record : input.snapshot->nodes) {
    nodes_by_name_.emplace(record->name(), record.get());
    if (!is_going(input, *record) && !record->fenced) {
      add_node(record, pools.find(record->node_pool()).get());
    }
  }
  add_other_pods(pod_obstacles);
  add_rooms_of_buffers();
}

void Destinations::add_reservations() {
  std::set<std::string_view> closed;
  for (const auto& record : input_.snapshot->nodes) {
    if (is_going(input_, *record) || record->fenced) {
      closed.insert(record->name());
      closed.insert(record->claim_name());
    }
  }
  for (const auto& reservation : input_.snapshot->reservations) {
    // A buffer's own room moves with the pods that stand for it.
    if (reservation.until > input_.now && !reservation.of_buffer) {
      reservations_.push_back(reservation);
      // Nobody will use what is on a node that is going.
      if (!closed.contains(reservation.target)) {
        spare_[reservation.group] += reservation.count;
      }
    }
  }
}

std::int32_t Destinations::spare(const scheduling::GroupId& group) const {
  const auto found = spare_.find(group);
  return found == spare_.end() ? 0 : std::max(found->second, 0);
}

void Destinations::add_pools(const PoolIndex& pools, const NodePrices& prices) {
  for (const auto& pool : input_.snapshot->node_pools) {
    const auto types = input_.catalog.find(pool->meta.name);
    if (is_growing(*pool) && types != input_.catalog.end() && types->second &&
        !types->second->empty()) {
      const Preferences& preferences = pools.preferences_of(*pool);
      pools_.push_back({.pool = pool,
                        .types = types->second,
                        .node_overhead = prices.overhead_of(preferences),
                        .max_price_ratio =
                            preferences.max_price_ratio.value_or(input_.options.max_price_ratio)});
      add_types(*pool, *types->second);
    }
  }
}

void Destinations::add_types(const model::NodePool& pool,
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
      for_sale_.push_back({type.name, offering->price, std::move(room)});
    }
  }
}

void Destinations::add_node(const scheduling::NodeRecordPtr& record, const model::NodePool* pool) {
  // The planner counts on a node that is not Ready for a moment, since to buy another costs more
  // than to wait. Pods that run need not be moved to where they would wait. A node that does not
  // come up in time is no place at all: whatever is to go would wait for it. The planner counts on
  // it for longer when there are more like it in the pool, so as to buy more seldom; no removal
  // needs to wait for that.
  const auto starting_since = scheduling::StuckNodes::waiting_since(*record);
  const bool never_comes_up =
      starting_since && input_.now - *starting_since >= input_.options.registration_timeout;
  Destination destination{.record = record,
                          .within_consolidate_after =
                              pool != nullptr && record->claim &&
                              consolidatable(*record->claim, *pool, input_.now).next.has_value(),
                          .down = record->lost_readiness() != nullptr || never_comes_up,
                          .free = record->allocatable()};
  destination.sized = !destination.free.empty();
  model::subtract_from(destination.free, record->pod_requests);
  if (!destination.within_consolidate_after && !destination.down) {
    model::max_into(most_free_, destination.free);
  }
  nodes_.push_back(std::move(destination));
}

// Of each group, the pods beyond those that room is reserved for.
void Destinations::add_other_pods(const PodObstacles& pod_obstacles) {
  for (const auto& demand : input_.snapshot->demand) {
    std::int32_t& spare = spare_[demand.group];
    for (const auto& pod : demand.waiting) {
      if (--spare < 0 && scheduling::is_provisionable(*pod)) {
        other_pods_.push_back(pod);
      }
    }
    spare -= demand.expected;
    spare = std::max(spare, 0);
  }
  for (const auto& pod : leaving_pods()) {
    if (--spare_[scheduling::group_of(*pod)] >= 0) {
      departing_.push_back(pod);
    } else if (pod_obstacles.is_currently_reschedulable(*pod)) {
      other_pods_.push_back(pod);
      leaving_uids_.insert(pod->meta.uid);
    }
  }
}

void Destinations::add_rooms_of_buffers() {
  std::unordered_map<std::string_view, const Destination*> homes;
  for (const auto& destination : nodes_) {
    homes.emplace(destination.record->name(), &destination);
  }
  for (const auto& room : input_.virtual_pods) {
    virtual_uids_.insert(room.pod->meta.uid);
    const auto home = homes.find(room.target);
    rooms_of_buffers_.push_back({&room, home == homes.end() ? nullptr : home->second});
  }
}

// Those that will have a successor, the ones that are ending already last.
std::vector<scheduling::PodPtr> Destinations::leaving_pods() const {
  std::vector<scheduling::PodPtr> pods;
  for (const auto& record : input_.snapshot->nodes) {
    if (is_going(input_, *record)) {
      std::copy_if(record->pods.begin(), record->pods.end(), std::back_inserter(pods),
                   [](const auto& pod) {
                     return scheduling::has_successor(*pod) &&
                            !model::is_owned_by_daemonset(*pod) && !model::is_mirror(*pod);
                   });
    }
  }
  std::stable_partition(pods.begin(), pods.end(),
                        [](const auto& pod) { return !pod->meta.is_deleting(); });
  return pods;
}

const scheduling::NodeRecord* Destinations::find_node(std::string_view name) const {
  const auto found = nodes_by_name_.find(name);
  return found == nodes_by_name_.end() ? nullptr : found->second;
}

}  // namespace millwright::disruption

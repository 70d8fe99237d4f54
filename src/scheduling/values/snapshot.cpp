// How a node that may still be starting is seen; Karpenter's state.StateNode.
#include "millwright/scheduling/snapshot.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace millwright::scheduling {
namespace {

const std::string kNothing;

// The node's own numbers; where it reports none or zero, what the claim was promised.
model::ResourceList filled(const model::ResourceList& node, const model::ResourceList& claim) {
  model::ResourceList result = node;
  for (const auto& [name, quantity] : claim) {
    auto& mine = result[name];
    if (mine.is_zero()) {
      mine = quantity;
    }
  }
  return result;
}

}  // namespace

SnapshotReservations::SnapshotReservations(std::vector<Reservation> reservations) {
  std::sort(reservations.begin(), reservations.end(),
            [](const Reservation& a, const Reservation& b) {
              return std::tie(a.target, a.group) < std::tie(b.target, b.group);
            });
  append(std::make_shared<const std::vector<Reservation>>(std::move(reservations)));
}

void SnapshotReservations::append(List list) {
  if (!list->empty()) {
    size_ += list->size();
    lists_.push_back(std::move(list));
  }
}

std::map<GroupId, std::int32_t> reserved_by_group(const SnapshotReservations& reservations) {
  std::map<GroupId, std::int32_t> counts;
  for (const Reservation& reservation : reservations) {
    if (!reservation.of_buffer) {
      counts[reservation.group] += reservation.count;
    }
  }
  return counts;
}

const std::string& NodeRecord::name() const {
  return node ? node->meta.name : claim_name();
}

const std::string& NodeRecord::claim_name() const {
  return claim ? claim->meta.name : kNothing;
}

const std::string& NodeRecord::node_pool() const {
  const auto of = [](const model::ObjectMeta& meta) -> const std::string& {
    const auto found = meta.labels.find(model::kNodePoolLabel);
    return found == meta.labels.end() ? kNothing : found->second;
  };
  if (claim) {
    const std::string& pool = of(claim->meta);
    if (!pool.empty()) {
      return pool;
    }
  }
  return node ? of(node->meta) : kNothing;
}

bool NodeRecord::registered() const {
  return !managed() || (node && node->meta.label(model::kRegisteredLabel) == "true");
}

bool NodeRecord::initialized() const {
  return !managed() || (node && node->meta.label(model::kInitializedLabel) == "true");
}

const model::Condition* NodeRecord::lost_readiness() const {
  const auto* ready =
      managed() && initialized() ? model::find_condition(node->conditions, model::kReady) : nullptr;
  return ready != nullptr && ready->status != model::ConditionStatus::True ? ready : nullptr;
}

const model::StringMap& NodeRecord::labels() const {
  static const model::StringMap kNone;
  if (claim && !registered()) {
    return claim->meta.labels;
  }
  return node ? node->meta.labels : kNone;
}

std::vector<model::Taint> NodeRecord::taints() const {
  if (!managed()) {
    return node ? node->taints : std::vector<model::Taint>{};
  }
  std::vector<model::Taint> result = registered() ? node->taints : claim->taints;
  if (!initialized()) {
    // Only until then: a startup taint that comes back later means what it says.
    std::erase_if(result, [&](const model::Taint& taint) {
      return model::is_ephemeral_taint(taint) ||
             std::any_of(claim->startup_taints.begin(), claim->startup_taints.end(),
                         [&](const model::Taint& startup) {
                           return startup.key == taint.key && startup.value == taint.value &&
                                  startup.effect == taint.effect;
                         });
    });
  }
  return result;
}

model::ResourceList NodeRecord::capacity() const {
  if (!claim) {
    return node ? node->capacity : model::ResourceList{};
  }
  if (!node) {
    return claim->capacity;
  }
  return initialized() ? node->capacity : filled(node->capacity, claim->capacity);
}

model::ResourceList NodeRecord::allocatable() const {
  if (!claim) {
    return node ? node->allocatable : model::ResourceList{};
  }
  if (!node) {
    return claim->allocatable;
  }
  return initialized() ? node->allocatable : filled(node->allocatable, claim->allocatable);
}

}  // namespace millwright::scheduling

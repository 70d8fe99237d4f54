#include "cluster/pod_table.hpp"

#include "cluster/freshness.hpp"
#include "millwright/model/workload.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace millwright::cluster {
namespace {

bool is_bound(const model::Pod& pod) {
  return !pod.spec.node_name.empty() && !model::is_terminal(pod);
}

bool is_waiting(const model::Pod& pod) {
  return pod.spec.node_name.empty() && !model::is_terminal(pod);
}

constexpr std::string_view kJobTracking = "batch.kubernetes.io/job-tracking";

// The uid of the controller that counts the pod as one of its own; nullptr when none does.
const std::string* counting_owner_of(const model::Pod& pod) {
  const bool is_over = model::is_terminal(pod) && !pod.meta.has_finalizer(kJobTracking);
  if (is_over || pod.meta.is_deleting() || model::is_owned_by_daemonset(pod) ||
      model::is_mirror(pod)) {
    return nullptr;
  }
  const model::OwnerReference* const controller = pod.meta.controller();
  return controller == nullptr || controller->uid.empty() ? nullptr : &controller->uid;
}

// Of such a pod the name tells what its successor will be like.
bool is_one_of_a_kind(const model::Pod& pod) {
  const model::OwnerReference* const controller = pod.meta.controller();
  return controller != nullptr && model::is_workload(*controller) && scheduling::has_own_claim(pod);
}

scheduling::PodPtr identity_of(const model::Pod& pod) {
  auto slim = std::make_shared<model::Pod>();
  slim->meta.name = pod.meta.name;
  slim->meta.namespace_ = pod.meta.namespace_;
  slim->meta.uid = pod.meta.uid;
  slim->meta.resource_version = pod.meta.resource_version;
  slim->meta.creation_timestamp = pod.meta.creation_timestamp;
  slim->status.phase = pod.status.phase;
  if (counting_owner_of(pod) != nullptr || is_one_of_a_kind(pod)) {
    slim->meta.owner_references = pod.meta.owner_references;
    slim->meta.finalizers = pod.meta.finalizers;
    slim->meta.deletion_timestamp = pod.meta.deletion_timestamp;
  }
  return slim;
}

void drop_zeros(model::ResourceList& list) {
  std::erase_if(list, [](const auto& entry) { return entry.second.is_zero(); });
}

// Sums saturate, and what saturated cannot be subtracted from.
bool is_saturated(const model::ResourceList& list) {
  return std::any_of(list.begin(), list.end(), [](const auto& entry) {
    return entry.second.milli() == std::numeric_limits<std::int64_t>::max();
  });
}

void count(NodePods& node, const model::Pod& pod) {
  const model::ResourceList requests = scheduling::effective_requests(pod);
  model::add_to(node.requests, requests);
  drop_zeros(node.requests);
  if (model::is_owned_by_daemonset(pod)) {
    model::add_to(node.daemon_requests, requests);
    drop_zeros(node.daemon_requests);
  }
}

void discount(NodePods& node, const model::Pod& pod) {
  if (is_saturated(node.requests)) {
    node.requests.clear();
    node.daemon_requests.clear();
    for (const scheduling::PodPtr& other : node.pods) {
      count(node, *other);
    }
    return;
  }
  const model::ResourceList requests = scheduling::effective_requests(pod);
  model::subtract_from(node.requests, requests);
  drop_zeros(node.requests);
  if (model::is_owned_by_daemonset(pod)) {
    model::subtract_from(node.daemon_requests, requests);
    drop_zeros(node.daemon_requests);
  }
}

auto place_of(std::vector<scheduling::PodPtr>& pods, const std::string& uid) {
  return std::lower_bound(
      pods.begin(), pods.end(), uid,
      [](const scheduling::PodPtr& pod, const std::string& key) { return pod->meta.uid < key; });
}

// Whether a pod that was bound and is over comes again.
bool comes_again(const model::Pod& pod) {
  return pod.status.phase != "Succeeded" || pod.meta.is_deleting();
}

// kube-scheduler writes no report twice.
bool is_reported_anew(const model::Pod* before, const model::Pod& now) {
  const auto report_of = [](const model::Pod& pod) {
    return model::find_condition(pod.status.conditions, "PodScheduled");
  };
  const model::Condition* const report = report_of(now);
  const model::Condition* const known = before == nullptr ? nullptr : report_of(*before);
  return report != nullptr && report->status == model::ConditionStatus::False &&
         (known == nullptr || *known != *report);
}

// The pod itself changed, or is younger.
bool is_better_sample(const model::Pod& pod, const scheduling::PodPtr& sample) {
  return sample == nullptr || sample->meta.uid == pod.meta.uid ||
         std::tie(sample->meta.creation_timestamp, sample->meta.uid) <
             std::tie(pod.meta.creation_timestamp, pod.meta.uid);
}

}  // namespace

void PodTable::bind(const scheduling::PodPtr& pod) {
  NodePods& node = nodes_[pod->spec.node_name];
  node.pods.insert(place_of(node.pods, pod->meta.uid), pod);
  count(node, *pod);
}

void PodTable::unbind(const scheduling::PodPtr& pod) {
  const auto node = nodes_.find(pod->spec.node_name);
  auto& pods = node->second.pods;
  pods.erase(std::find(place_of(pods, pod->meta.uid), pods.end(), pod));
  if (pods.empty()) {
    nodes_.erase(node);
  } else {
    discount(node->second, *pod);
  }
}

void PodTable::count_for_owners(const scheduling::PodPtr& before, const scheduling::PodPtr& now,
                                Change& change) {
  const std::string* const from = before == nullptr ? nullptr : counting_owner_of(*before);
  const std::string* const to = now == nullptr ? nullptr : counting_owner_of(*now);
  const bool stays = from != nullptr && to != nullptr && *from == *to;
  if (from != nullptr && !stays) {
    OwnedPods& owned = owners_.find(*from)->second;
    --owned.alive;
    ++owned.went;
    owned.went_at = (now == nullptr ? before : now)->meta.resource_version;
    change.owners.push_back(*from);
  }
  if (to == nullptr) {
    return;
  }
  OwnedPods& owned = owners_[*to];
  const bool is_sample = is_better_sample(*now, owned.sample);
  owned.alive += stays ? 0 : 1;
  if (is_sample) {
    owned.sample = now;
  }
  if (is_sample || !stays) {
    change.owners.push_back(*to);
  }
}

void PodTable::note_away(const scheduling::PodPtr& before, const scheduling::PodPtr& now,
                         Change& change) {
  const scheduling::PodPtr& last = now == nullptr ? before : now;
  const model::OwnerReference* const owner = last == nullptr ? nullptr : last->meta.controller();
  if (owner == nullptr || owner->uid.empty()) {
    return;
  }
  const auto known = owners_.find(owner->uid);
  if (now != nullptr && counting_owner_of(*now) != nullptr) {
    if (known->second.away.erase(now->meta.name) > 0) {
      change.owners.push_back(owner->uid);
    }
    return;
  }
  if (is_one_of_a_kind(*last)) {
    OwnedPods& owned = owners_[owner->uid];
    if (owned.sample == nullptr) {
      owned.sample = last;
    }
    owned.away.insert_or_assign(last->meta.name, last);
  } else if (known == owners_.end() || !known->second.away.contains(last->meta.name)) {
    return;
  }
  change.owners.push_back(owner->uid);
}

PodTable::Change PodTable::put(scheduling::PodPtr pod) {
  Change change;
  scheduling::PodPtr& slot = pods_[model::key_of(pod->meta)];
  bool was_waiting = true;
  if (slot != nullptr) {
    if (is_stale(slot->meta, pod->meta) || (is_repeat(slot->meta, pod->meta) && *slot == *pod)) {
      return change;
    }
    if (is_bound(*slot)) {
      change.nodes.push_back(slot->spec.node_name);
      unbind(slot);
      const bool is_gone = !is_same_object(slot->meta, pod->meta);
      if (is_gone || (!is_bound(*pod) && comes_again(*pod))) {
        change.left.push_back(slot);
      }
    }
    was_waiting = is_waiting(*slot);
    if (was_waiting && !is_waiting(*pod)) {
      pending_.erase(name_and_namespace(*slot));
    }
    if (!is_same_object(slot->meta, pod->meta)) {
      if (was_waiting) {
        change.done_waiting.push_back(slot);
      }
      was_waiting = true;
    }
  }
  if ((slot == nullptr || !is_same_object(slot->meta, pod->meta)) && !model::is_terminal(*pod)) {
    change.arrived = pod;
  }
  change.accepted = true;
  if (is_waiting(*pod)) {
    pending_.put(pod);
    if (is_reported_anew(slot.get(), *pod)) {
      change.unplaced = pod->meta.uid;
    }
  } else if (was_waiting) {
    change.done_waiting.push_back(pod);
  }
  if (is_bound(*pod)) {
    bind(pod);
    change.nodes.push_back(pod->spec.node_name);
  }
  count_for_owners(slot, pod, change);
  note_away(slot, pod, change);
  use_.add(*pod);
  if (slot != nullptr) {
    use_.subtract(*slot);
  }
  slot = model::is_terminal(*pod) ? identity_of(*pod) : std::move(pod);
  return change;
}

PodTable::Change PodTable::remove(const model::ObjectKey& key, std::string_view uid) {
  Change change;
  const auto found = pods_.find(key);
  if (found == pods_.end() || (!uid.empty() && found->second->meta.uid != uid)) {
    return change;
  }
  const scheduling::PodPtr pod = found->second;
  pods_.erase(found);
  change.accepted = true;
  count_for_owners(pod, nullptr, change);
  note_away(pod, nullptr, change);
  use_.subtract(*pod);
  if (is_bound(*pod)) {
    unbind(pod);
    change.nodes.push_back(pod->spec.node_name);
    change.left.push_back(pod);
  } else if (is_waiting(*pod)) {
    pending_.erase(name_and_namespace(*pod));
    change.done_waiting.push_back(pod);
  }
  return change;
}

const model::Pod* PodTable::find(const model::ObjectKey& key, std::string_view uid) const {
  const auto found = pods_.find(key);
  return found == pods_.end() || found->second->meta.uid != uid ? nullptr : found->second.get();
}

const NodePods* PodTable::on_node(std::string_view node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

const OwnedPods* PodTable::owned_by(std::string_view owner_uid) const {
  const auto found = owners_.find(owner_uid);
  return found == owners_.end() ? nullptr : &found->second;
}

void PodTable::settle_owner(std::string_view owner_uid, std::int32_t missing, bool was_heard) {
  const auto found = owners_.find(owner_uid);
  if (found == owners_.end()) {
    return;
  }
  OwnedPods& owned = found->second;
  if (was_heard || missing <= 0) {
    owned.went = 0;
  }
  while (static_cast<std::int64_t>(owned.away.size()) > std::max(missing, 0)) {
    owned.away.erase(std::prev(owned.away.end()));
  }
}

void PodTable::forget_owner(std::string_view owner_uid) {
  const auto found = owners_.find(owner_uid);
  if (found == owners_.end()) {
    return;
  }
  OwnedPods& owned = found->second;
  std::erase_if(owned.away, [this](const auto& entry) {
    const model::ObjectMeta& meta = entry.second->meta;
    const auto pod = pods_.find(model::key_of(meta));
    return pod == pods_.end() || pod->second->meta.uid != meta.uid;
  });
  if (owned.alive == 0 && owned.away.empty()) {
    owners_.erase(found);
  }
}

}  // namespace millwright::cluster

#include "millwright/controllers/buffers/buffer_room.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <limits>

namespace millwright::controllers {
namespace {

// nullptr when there is none; so it is without a name.
const scheduling::NodeRecord* find_target(const scheduling::Snapshot& snapshot,
                                          std::string_view name) {
  if (name.empty()) {
    return nullptr;
  }
  const auto found = std::find_if(
      snapshot.nodes.begin(), snapshot.nodes.end(),
      [&](const auto& record) { return record->name() == name || record->claim_name() == name; });
  return found == snapshot.nodes.end() ? nullptr : found->get();
}

// Its size is not known yet, so that nothing can be planned onto it.
bool is_on_its_way(const scheduling::NodeRecord& record) {
  return !record.marked_for_deletion && record.node == nullptr && record.claim != nullptr &&
         !model::is_true(record.claim->conditions, model::kLaunched);
}

bool is_up(const scheduling::NodeRecord* record) {
  return record != nullptr && record->initialized() && !record->marked_for_deletion;
}

}  // namespace

bool BufferRoom::set(const model::ObjectKey& buffer, Buffer content) {
  Buffer& kept = buffers_[buffer];
  const bool owner_changed = kept.owner != content.owner;
  std::set<std::string_view> wanted;
  for (const auto& pod : content.pods) {
    wanted.insert(pod->meta.uid);
    Place& place = places_[pod->meta.uid];
    if (!place.pod || place.pod->spec != pod->spec || place.pod->meta.labels != pod->meta.labels) {
      due_ = true;
    }
    place.pod = pod;
    place.owner = content.owner;
  }
  for (const auto& pod : kept.pods) {
    if (!wanted.contains(pod->meta.uid)) {
      places_.erase(pod->meta.uid);
    }
  }
  kept = std::move(content);
  return owner_changed;
}

void BufferRoom::forget(const model::ObjectKey& buffer) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) {
    return;
  }
  for (const auto& pod : found->second.pods) {
    places_.erase(pod->meta.uid);
  }
  buffers_.erase(found);
}

bool BufferRoom::all_planned(const scheduling::Snapshot& snapshot) const {
  return std::all_of(snapshot.capacity_buffers.begin(), snapshot.capacity_buffers.end(),
                     [&](const auto& buffer) {
                       return buffer->meta.is_deleting() ||
                              buffers_.contains(model::key_of(buffer->meta));
                     }) &&
         std::all_of(places_.begin(), places_.end(),
                     [](const auto& item) { return item.second.planned; });
}

std::vector<scheduling::PodPtr> BufferRoom::to_plan(const scheduling::Snapshot& snapshot) const {
  std::vector<scheduling::PodPtr> pods;
  for (const auto& [uid, place] : places_) {
    const auto* target = find_target(snapshot, place.target);
    if (!place.moving && (target == nullptr || !is_on_its_way(*target))) {
      pods.push_back(place.pod);
    }
  }
  return pods;
}

void BufferRoom::place(std::string_view pod_uid, std::string target) {
  const auto found = places_.find(pod_uid);
  if (found != places_.end() && !found->second.moving) {
    found->second.planned = true;
    found->second.target = std::move(target);
  }
}

std::vector<BufferRoom::Move> BufferRoom::begin_move(
    const std::vector<scheduling::NodeRecordPtr>& nodes) {
  std::vector<Move> moves;
  for (auto& [uid, place] : places_) {
    const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const auto& record) {
      return place.target == record->name() || place.target == record->claim_name();
    });
    if (node != nodes.end() && !place.target.empty()) {
      place.moving = true;
      moves.push_back({.pod_uid = uid, .from = (*node)->name()});
    }
  }
  return moves;
}

bool BufferRoom::move(std::string_view pod_uid, std::string target) {
  const auto found = places_.find(pod_uid);
  if (found == places_.end()) {
    return false;
  }
  found->second.target = std::move(target);
  return true;
}

void BufferRoom::end_move(const std::vector<Move>& moves, const scheduling::Snapshot& snapshot) {
  for (const auto& move : moves) {
    const auto found = places_.find(move.pod_uid);
    if (found == places_.end()) {
      continue;
    }
    Place& place = found->second;
    place.moving = false;
    if (!is_up(find_target(snapshot, place.target)) && is_up(find_target(snapshot, move.from))) {
      place.target = move.from;
    }
  }
}

std::vector<scheduling::Reservation> BufferRoom::reservations(const scheduling::Snapshot& snapshot,
                                                              base::TimePoint until) const {
  std::map<std::pair<std::string, std::string>, scheduling::Reservation> merged;
  for (const auto& [uid, place] : places_) {
    if (!place.owner) {
      continue;
    }
    const auto* target = find_target(snapshot, place.target);
    if (target == nullptr || target->marked_for_deletion) {
      continue;
    }
    auto& reservation = merged[{target->name(), place.owner->uid}];
    if (reservation.count++ == 0) {
      reservation.group = scheduling::GroupId::of_owner(place.owner->uid);
      reservation.target = target->name();
      reservation.sample = model::key_of(place.pod->meta);
      reservation.requests = scheduling::effective_requests(*place.pod);
      reservation.priority = place.owner->priority;
      reservation.until = until;
      reservation.of_buffer = true;
      reservation.open = place.owner->open;
    }
  }
  std::vector<scheduling::Reservation> reservations;
  for (auto& [key, reservation] : merged) {
    reservations.push_back(std::move(reservation));
  }
  return reservations;
}

std::vector<std::string> BufferRoom::placed_on(const scheduling::Reservation& reservation,
                                               const scheduling::Snapshot& snapshot) const {
  const auto* const record = find_target(snapshot, reservation.target);
  std::vector<std::string> uids;
  for (const auto& [uid, place] : places_) {
    const bool there = place.target == reservation.target ||
                       (record != nullptr &&
                        (place.target == record->name() || place.target == record->claim_name()));
    if (there && place.owner && place.owner->uid == reservation.group.owner_uid()) {
      uids.push_back(uid);
    }
  }
  return uids;
}

std::vector<std::string> BufferRoom::pod_uids(const model::ObjectKey& buffer) const {
  std::vector<std::string> uids;
  if (const auto found = buffers_.find(buffer); found != buffers_.end()) {
    for (const auto& pod : found->second.pods) {
      uids.push_back(pod->meta.uid);
    }
  }
  return uids;
}

std::vector<disruption::VirtualPod> BufferRoom::placed_pods(
    const scheduling::Snapshot& snapshot) const {
  std::vector<disruption::VirtualPod> pods;
  for (const auto& [uid, place] : places_) {
    if (!place.target.empty()) {
      const auto* const target = find_target(snapshot, place.target);
      pods.push_back({place.pod, target == nullptr ? place.target : target->name()});
    }
  }
  return pods;
}

std::set<std::string, std::less<>> BufferRoom::nodes(const scheduling::Snapshot& snapshot) const {
  std::set<std::string, std::less<>> names;
  for (const auto& [uid, place] : places_) {
    if (const auto* target = find_target(snapshot, place.target)) {
      names.insert(target->name());
    }
  }
  return names;
}

bool BufferRoom::all_up(const scheduling::Snapshot& snapshot) const {
  return std::all_of(places_.begin(), places_.end(), [&](const auto& item) {
    return item.second.target.empty() || is_up(find_target(snapshot, item.second.target));
  });
}

BufferRoom::Fit BufferRoom::fit(const model::ObjectKey& buffer,
                                const scheduling::Snapshot& snapshot) const {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) {
    return Fit::Unknown;
  }
  Fit fit = Fit::Existing;
  for (const auto& pod : found->second.pods) {
    const Place& place = places_.at(pod->meta.uid);
    if (!place.planned) {
      return Fit::Unknown;
    }
    const auto* target = find_target(snapshot, place.target);
    if (target == nullptr || !target->initialized()) {
      fit = Fit::New;
    }
  }
  return fit;
}

std::vector<scheduling::PodPtr> virtual_pods(const model::CapacityBuffer& buffer,
                                             const model::PodTemplate& pod_template,
                                             std::int64_t count) {
  model::Pod pod;
  pod.meta.namespace_ = buffer.meta.namespace_;
  pod.meta.labels = pod_template.labels;
  pod.meta.annotations = {{std::string(model::kBufferPodAnnotation), "true"},
                          {std::string(model::kBufferNameAnnotation), buffer.meta.name},
                          {std::string(model::kBufferNamespaceAnnotation), buffer.meta.namespace_}};
  pod.spec = pod_template.spec;
  pod.spec.node_name.clear();
  pod.spec.priority = std::numeric_limits<std::int32_t>::min();
  // Claims of the template belong to other pods, and ephemeral ones would be made for real pods.
  pod.spec.volumes.clear();
  pod.status.phase = "Pending";
  pod.status.conditions = {
      {.type = "PodScheduled", .status = model::ConditionStatus::False, .reason = "Unschedulable"}};
  std::vector<scheduling::PodPtr> pods;
  for (std::int64_t i = 0; i < count; ++i) {
    pod.meta.name = "capacity-buffer-" + buffer.meta.name + "-" + std::to_string(i);
    pod.meta.uid = buffer.meta.uid + "-" + std::to_string(i);
    pods.push_back(std::make_shared<const model::Pod>(pod));
  }
  return pods;
}

std::int64_t buffer_replicas(const model::CapacityBuffer& buffer,
                             std::optional<std::int64_t> workload_replicas,
                             const model::ResourceList& requests) {
  std::optional<std::int64_t> wanted;
  if (buffer.replicas) {
    wanted = *buffer.replicas;
  }
  if (buffer.percentage && workload_replicas) {
    const std::int64_t product = *workload_replicas * *buffer.percentage;
    wanted = std::max(wanted.value_or(0), product / 100 + (product % 100 != 0 ? 1 : 0));
  }
  std::optional<std::int64_t> most;
  if (buffer.limits) {
    for (const auto& [resource, limit] : *buffer.limits) {
      const auto request = model::get(requests, resource);
      if (!request.is_zero()) {
        const std::int64_t held = std::max<std::int64_t>(0, limit.milli() / request.milli());
        most = std::min(most.value_or(held), held);
      }
    }
  }
  if (wanted && most) {
    return std::min(*wanted, *most);
  }
  return std::max<std::int64_t>(0, wanted ? *wanted : most.value_or(0));
}

}  // namespace millwright::controllers

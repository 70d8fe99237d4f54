#include "millwright/controllers/buffers/buffer_room.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <limits>

namespace millwright::controllers {
namespace {

const scheduling::NodeRecord* find_target(const scheduling::Snapshot& snapshot,
                                          std::string_view name) {
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

}  // namespace

void BufferRoom::set(const model::ObjectKey& buffer, Buffer content) {
  Buffer& kept = buffers_[buffer];
  std::set<std::string_view> wanted;
  for (const auto& pod : content.pods) {
    wanted.insert(pod->meta.uid);
    Place& place = places_[pod->meta.uid];
    if (!place.pod || place.pod->spec != pod->spec || place.pod->meta.labels != pod->meta.labels) {
      due_ = true;
    }
    place.pod = pod;
    place.owner_uid = content.owner_uid;
  }
  for (const auto& pod : kept.pods) {
    if (!wanted.contains(pod->meta.uid)) {
      places_.erase(pod->meta.uid);
    }
  }
  kept = std::move(content);
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
    const auto* target = place.target.empty() ? nullptr : find_target(snapshot, place.target);
    if (target == nullptr || !is_on_its_way(*target)) {
      pods.push_back(place.pod);
    }
  }
  return pods;
}

void BufferRoom::place(std::string_view pod_uid, std::string target) {
  const auto found = places_.find(pod_uid);
  if (found != places_.end()) {
    found->second.planned = true;
    found->second.target = std::move(target);
  }
}

std::vector<scheduling::Reservation> BufferRoom::reservations(const scheduling::Snapshot& snapshot,
                                                              base::TimePoint until) const {
  std::map<std::pair<std::string, std::string>, scheduling::Reservation> merged;
  for (const auto& [uid, place] : places_) {
    if (place.owner_uid.empty() || place.target.empty()) {
      continue;
    }
    const auto* target = find_target(snapshot, place.target);
    if (target == nullptr || !target->initialized() || target->marked_for_deletion) {
      continue;
    }
    auto& reservation = merged[{target->name(), place.owner_uid}];
    if (reservation.count++ == 0) {
      reservation.group = scheduling::GroupId::of_owner(place.owner_uid);
      reservation.target = target->name();
      reservation.sample = model::key_of(place.pod->meta);
      reservation.requests = scheduling::effective_requests(*place.pod);
      reservation.until = until;
      reservation.of_buffer = true;
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
    if (there && place.owner_uid == reservation.group.owner_uid()) {
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

std::vector<scheduling::PodPtr> BufferRoom::placed_pods() const {
  std::vector<scheduling::PodPtr> pods;
  for (const auto& [uid, place] : places_) {
    if (!place.target.empty()) {
      pods.push_back(place.pod);
    }
  }
  return pods;
}

std::set<std::string, std::less<>> BufferRoom::nodes(const scheduling::Snapshot& snapshot) const {
  std::set<std::string, std::less<>> names;
  for (const auto& [uid, place] : places_) {
    if (const auto* target = place.target.empty() ? nullptr : find_target(snapshot, place.target)) {
      names.insert(target->name());
    }
  }
  return names;
}

bool BufferRoom::is_on(std::string_view claim) const {
  return std::any_of(places_.begin(), places_.end(),
                     [claim](const auto& item) { return item.second.target == claim; });
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
    const auto* target = place.target.empty() ? nullptr : find_target(snapshot, place.target);
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

#include "sandbox/scheduler/cache.hpp"

#include "millwright/scheduling/solve.hpp"

namespace millwright::sandbox {

void SchedulerCache::set_node(std::shared_ptr<const model::Node> node) {
  nodes_[node->meta.name].node = std::move(node);
}

void SchedulerCache::remove_node(std::string_view name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) {
    return;
  }
  found->second.node = nullptr;
  if (found->second.pods.empty()) {
    nodes_.erase(found);
  }
}

void SchedulerCache::place(PodPtr pod, const std::string& node) {
  node_by_uid_[pod->meta.uid] = node;
  put_on(nodes_[node], std::move(pod));
}

void SchedulerCache::displace(std::string_view uid) {
  const auto at = node_by_uid_.find(uid);
  if (at == node_by_uid_.end()) {
    return;
  }
  const auto node = nodes_.find(at->second);
  const auto pod = node->second.pods.at(at->first);
  take_off(node->second, *pod);
  if (node->second.pods.empty() && node->second.node == nullptr) {
    nodes_.erase(node);
  }
  node_by_uid_.erase(at);
}

void take_off(NodeInfo& node, const model::Pod& pod) {
  model::subtract_from(node.requested, scheduling::effective_requests(pod));
  node.pods.erase(pod.meta.uid);
}

void put_on(NodeInfo& node, PodPtr pod) {
  model::add_to(node.requested, scheduling::effective_requests(*pod));
  auto& place = node.pods[pod->meta.uid];
  place = std::move(pod);
}

void SchedulerCache::note_nomination(const PodPtr& pod) {
  const auto& uid = pod->meta.uid;
  if (const auto old = nomination_by_uid_.find(uid); old != nomination_by_uid_.end()) {
    nominated_[old->second].erase(uid);
    nomination_by_uid_.erase(old);
  }
  const auto& node = pod->status.nominated_node_name;
  if (!node.empty() && pod->spec.node_name.empty() && !model::is_terminal(*pod)) {
    nominated_[node][uid] = pod;
    nomination_by_uid_[uid] = node;
  }
}

const PodMap& SchedulerCache::nominated_on(std::string_view node) const {
  static const PodMap kNone;
  const auto found = nominated_.find(node);
  return found == nominated_.end() ? kNone : found->second;
}

void SchedulerCache::set_pod(PodPtr pod) {
  note_nomination(pod);
  const auto& uid = pod->meta.uid;
  auto node = pod->spec.node_name;
  if (node.empty()) {
    if (const auto assumed = assumed_.find(uid); assumed != assumed_.end()) {
      node = assumed->second;  // still on its way
    }
  } else {
    assumed_.erase(uid);
  }
  displace(uid);
  if (!node.empty() && !model::is_terminal(*pod)) {
    place(std::move(pod), node);
  }
}

void SchedulerCache::remove_pod(std::string_view uid) {
  if (const auto old = nomination_by_uid_.find(uid); old != nomination_by_uid_.end()) {
    nominated_[old->second].erase(old->first);
    nomination_by_uid_.erase(old);
  }
  forget(uid);
  displace(uid);
}

void SchedulerCache::assume(PodPtr pod, const std::string& node) {
  assumed_[pod->meta.uid] = node;
  displace(pod->meta.uid);
  place(std::move(pod), node);
}

void SchedulerCache::forget(std::string_view uid) {
  const auto found = assumed_.find(uid);
  if (found != assumed_.end()) {
    assumed_.erase(found);
    displace(uid);
  }
}

std::vector<const NodeInfo*> SchedulerCache::nodes() const {
  std::vector<const NodeInfo*> all;
  for (const auto& [name, info] : nodes_) {
    if (info.node != nullptr) {
      all.push_back(&info);
    }
  }
  return all;
}

const NodeInfo* SchedulerCache::find(std::string_view node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() || found->second.node == nullptr ? nullptr : &found->second;
}

}  // namespace millwright::sandbox

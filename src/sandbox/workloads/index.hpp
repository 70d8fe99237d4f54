// Decoded pods and nodes with the look-ups that controllers need.
// Kept up to date inside each store write, so that controllers never act on old state. Loop
// thread only.
#pragma once

#include "millwright/model/core.hpp"
#include "sandbox/apiserver/store/store.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millwright::sandbox {

struct PodEntry {
  Object object;
  std::shared_ptr<const model::Pod> pod;
};

class ClusterIndex {
 public:
  // Index of the resource in all_infos(), and the object.
  using Reference = std::pair<std::size_t, model::ObjectKey>;
  using Listener = std::function<void(const ResourceInfo&, const Event&)>;

  explicit ClusterIndex(Store& store);

  const std::map<model::ObjectKey, PodEntry>& pods() const { return pods_; }
  const PodEntry* pod(const model::ObjectKey& key) const;
  // Controlled by the object with this uid; sorted by name.
  std::vector<const PodEntry*> pods_of(std::string_view owner_uid) const;
  std::vector<const PodEntry*> pods_on(std::string_view node) const;
  const std::map<std::string, std::shared_ptr<const model::Node>, std::less<>>& nodes() const {
    return nodes_;
  }
  // Everything that names this uid as an owner.
  std::vector<Reference> dependents_of(std::string_view owner_uid) const;
  bool exists(std::string_view uid) const { return objects_.contains(uid); }
  std::optional<Reference> find(std::string_view uid) const;

  // Called inside the write, after the index took it in: note it, but do not write.
  void on_event(Listener listener) { listeners_.push_back(std::move(listener)); }

 private:
  void take_in(const ResourceInfo& info, const Event& event);
  void link(const ResourceInfo& info, const Json& object, bool add);
  void take_in_pod(const Event& event);

  std::map<model::ObjectKey, PodEntry> pods_;
  std::map<std::string, std::set<model::ObjectKey>, std::less<>> pods_by_controller_;
  std::map<std::string, std::set<model::ObjectKey>, std::less<>> pods_by_node_;
  std::map<std::string, std::shared_ptr<const model::Node>, std::less<>> nodes_;
  std::map<std::string, std::set<Reference>, std::less<>> dependents_;
  std::map<std::string, Reference, std::less<>> objects_;  // by uid
  std::vector<Listener> listeners_;
  std::shared_ptr<void> observer_;
};

bool is_pod_ready(const model::Pod& pod);
// Not ended and not being deleted.
bool is_pod_active(const model::Pod& pod);

}  // namespace millwright::sandbox

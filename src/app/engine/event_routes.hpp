// Which event wakes which controller. Loop thread only.
#pragma once

#include "app/engine/controller_set.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millwright::app {

class EventRoutes {
 public:
  // `services` and `controllers` outlive the routes. `on_offers_changed` is called when what the
  // pools can buy may have changed.
  EventRoutes(controllers::Services& services, ControllerSet& controllers,
              std::function<void()> on_offers_changed)
      : services_(services),
        controllers_(controllers),
        on_offers_changed_(std::move(on_offers_changed)) {}

  // An object of the cluster state changed. Thousands may come in a turn, when they are listed: but
  // for a NodeClass, no snapshot is made and no walk over all pools or nodes.
  void object_changed(cluster::Kind kind, const model::ObjectKey& key);
  // Once for all objects that changed in a turn of the loop: what takes a walk over all of them.
  void after_changes();
  // A cloud's instance types or prices changed.
  void catalog_changed();
  // This replica begins to lead: every object is looked at once.
  void wake_all();

 private:
  void joined_changed(const cluster::State::Joined& joined);
  void wake_others_of(const cluster::State::Joined& joined);
  void node_changed(const std::string& name);
  void node_claim_changed(const std::string& name);
  void node_pool_changed(const std::string& name);
  void node_class_changed(const std::string& name);
  void slice_changed(const std::string& name);
  void wake_static_pools();
  void wake_planners();

  controllers::Services& services_;
  ControllerSet& controllers_;
  std::function<void()> on_offers_changed_;
  // What is asked of an object. Its status is not part of it, which is mostly written here. The
  // hash annotations of a NodePool or NodeClass are written after the edit that they describe, and
  // change no generation.
  struct Wanted {
    std::string uid;
    std::int64_t generation = -1;
    model::StringMap annotations;
    std::vector<std::string> finalizers;  // ours is put back when somebody strips it
    bool deleting = false;
    friend bool operator==(const Wanted&, const Wanted&) = default;
  };
  static Wanted wanted_of(const model::ObjectMeta& meta);
  // What claims are compared with: they are looked at again when it changes.
  struct SeenClass {
    Wanted wanted;
    boost::json::value status;
    friend bool operator==(const SeenClass&, const SeenClass&) = default;
  };
  void wake_claims_of(const std::set<std::string, std::less<>>& pools);

  std::set<std::string, std::less<>> edited_pools_;  // in this turn
  // As seen last.
  std::map<std::string, Wanted> pools_;
  std::map<std::string, Wanted> claims_;
  std::map<model::NodeClassReference, SeenClass> node_classes_;
  std::set<std::string, std::less<>> static_pools_;  // those with spec.replicas
  std::map<std::string, std::string> nodes_of_slices_;
  std::map<std::string, std::string> claims_of_nodes_;  // as joined last
};

}  // namespace millwright::app

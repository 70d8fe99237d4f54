// What every workload controller is made of: a queue of keys, each worked on a little after
// something about it changed, once however often that was. Loop thread only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/loop.hpp"
#include "sandbox/apiserver/registry.hpp"
#include "sandbox/workloads/index.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace millwright::sandbox {

class EventWriter;

// What controllers, scheduler and kubelet share; lives as long as the World.
struct Surroundings {
  base::Loop& loop;
  Registry& registry;
  ClusterIndex& index;
  EventWriter& events;
  base::Duration lag;
  base::Logger log;

  Store& store() const { return registry.store(); }
  base::TimePoint now() const { return loop.now(); }
};

// Reads, lets `change` edit a copy, stores it. False when it is gone or was refused (logged).
bool edit(const Surroundings& world, const model::Resource& resource, const model::ObjectKey& key,
          Part part, const std::function<void(Json&)>& change);
// Creates; nullptr when refused (logged, but for objects that exist).
Object add(const Surroundings& world, const model::Resource& resource, Json object);
void remove(const Surroundings& world, const model::Resource& resource, const model::ObjectKey& key,
            DeleteRequest request = {});

class Controller {
 public:
  explicit Controller(Surroundings& world) : world_(world) {}
  virtual ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Sees every change inside the write: only enqueue() here.
  virtual void observe(const ResourceInfo& info, const Event& event) = 0;

 protected:
  virtual void reconcile(const model::ObjectKey& key) = 0;
  void enqueue(const model::ObjectKey& key) { enqueue_after(key, world_.lag); }
  // The sooner of this and what is queued already.
  void enqueue_after(const model::ObjectKey& key, base::Duration delay);
  // Enqueues the owner of this kind that controls the object.
  void enqueue_owner(const Json& object, std::string_view kind);

  Surroundings& world_;

 private:
  struct Queued {
    base::TimePoint due;
    base::TimerId timer = 0;
  };
  std::map<model::ObjectKey, Queued> queued_;
};

std::unique_ptr<Controller> make_deployment_controller(Surroundings& world);
std::unique_ptr<Controller> make_replica_set_controller(Surroundings& world);
std::unique_ptr<Controller> make_stateful_set_controller(Surroundings& world);
std::unique_ptr<Controller> make_daemon_set_controller(Surroundings& world);
std::unique_ptr<Controller> make_job_controller(Surroundings& world);
std::unique_ptr<Controller> make_budget_controller(Surroundings& world);
std::unique_ptr<Controller> make_namespace_controller(Surroundings& world);
std::unique_ptr<Controller> make_garbage_collector(Surroundings& world);
// Readiness taints, and eviction by NoExecute taints.
std::unique_ptr<Controller> make_node_controller(Surroundings& world);
// Pods of nodes that are gone.
std::unique_ptr<Controller> make_pod_collector(Surroundings& world);

}  // namespace millwright::sandbox

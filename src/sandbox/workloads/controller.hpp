// The base of workload controllers: a queue of keys. A key is reconciled a little after its object
// changed, once for any number of changes. Loop thread only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/loop.hpp"
#include "sandbox/apiserver/store/registry.hpp"
#include "sandbox/workloads/index.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace millwright::sandbox {

class EventWriter;

// What controllers, scheduler and kubelet share. Lives as long as the World.
struct ClusterContext {
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
bool edit(const ClusterContext& context, const model::Resource& resource,
          const model::ObjectKey& key, Part part, const std::function<void(Json&)>& change);
// Creates; nullptr when refused (logged, but for objects that exist).
Object add(const ClusterContext& context, const model::Resource& resource, Json object);
void remove(const ClusterContext& context, const model::Resource& resource,
            const model::ObjectKey& key, DeleteRequest request = {});

class Controller {
 public:
  explicit Controller(ClusterContext& context) : context_(context) {}
  virtual ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Sees every change inside the write: only enqueue() here.
  virtual void observe(const ResourceInfo& info, const Event& event) = 0;

 protected:
  virtual void reconcile(const model::ObjectKey& key) = 0;
  void enqueue(const model::ObjectKey& key) { enqueue_after(key, context_.lag); }
  // The sooner of this and what is queued already.
  void enqueue_after(const model::ObjectKey& key, base::Duration delay);
  // Enqueues the owner of this kind that controls the object.
  void enqueue_owner(const Json& object, std::string_view kind);

  ClusterContext& context_;

 private:
  struct Queued {
    base::TimePoint due;
    base::TimerId timer = 0;
  };
  std::map<model::ObjectKey, Queued> queued_;
};

std::unique_ptr<Controller> make_deployment_controller(ClusterContext& context);
struct PodRate {
  double per_second = 0;  // of all ReplicaSets together; 0: as many as are wanted, at once
  int burst = 1;
};
std::unique_ptr<Controller> make_replica_set_controller(ClusterContext& context, PodRate rate);
std::unique_ptr<Controller> make_stateful_set_controller(ClusterContext& context);
std::unique_ptr<Controller> make_daemon_set_controller(ClusterContext& context);
std::unique_ptr<Controller> make_job_controller(ClusterContext& context);
std::unique_ptr<Controller> make_budget_controller(ClusterContext& context);
std::unique_ptr<Controller> make_namespace_controller(ClusterContext& context);
std::unique_ptr<Controller> make_garbage_collector(ClusterContext& context);
// Readiness taints, and eviction by NoExecute taints.
std::unique_ptr<Controller> make_node_controller(ClusterContext& context);
// Pods of nodes that are gone.
std::unique_ptr<Controller> make_pod_collector(ClusterContext& context);

}  // namespace millwright::sandbox

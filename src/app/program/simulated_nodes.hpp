// Creates Node objects for the instances of a simulated cloud, on a real cluster. Each Node is
// registered as its kubelet would do it, with kwok's label and annotation; kwok then plays the
// kubelet. A Node whose instance ended is deleted, as a cloud's node controller does. Loop thread
// only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/task.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/kube/client.hpp"

#include <boost/json/value.hpp>

#include <map>
#include <memory>
#include <string>

namespace millwright::app {

// kwok manages the nodes that carry it, by either of the two.
inline constexpr std::string_view kKwokNodeLabel = "kwok.x-k8s.io/node";

class SimulatedNodes final : public cloud::InstanceListener {
 public:
  SimulatedNodes(kube::Client& client, base::Logger log);
  ~SimulatedNodes() override;
  SimulatedNodes(const SimulatedNodes&) = delete;
  SimulatedNodes& operator=(const SimulatedNodes&) = delete;

  void launched(const cloud::Instance& instance, std::shared_ptr<const model::NodeClaim> claim,
                base::Duration boot_latency) override;
  void terminating(const std::string& provider_id) override;
  void terminated(const std::string& provider_id) override;

  // No node is registered from now on; returns when the writes under way have ended.
  base::Task<void> stop();

 private:
  struct Machine {
    cloud::Instance instance;
    std::shared_ptr<const model::NodeClaim> claim;
    std::string node_name;
  };
  static boost::json::value node_object(const Machine& machine);
  base::Task<void> register_node(std::string provider_id);
  base::Task<void> remove_node(std::string provider_id, std::string node);

  kube::Client& client_;
  base::Logger log_;
  std::map<std::string, Machine> machines_;     // by provider id, until terminated
  std::map<std::string, base::TimerId> boots_;  // those not registered yet
  base::TaskGroup group_;
};

}  // namespace millwright::app

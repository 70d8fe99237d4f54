// A world in virtual time with machines made by hand and no Millwright: `register_nodes_at_once`
// plays the part of a controller that takes the unregistered taint off.
#pragma once

#include "millwright/cloud/simulated.hpp"
#include "millwright/sandbox/world.hpp"
#include "unit/sandbox/api_fixture.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::sandbox {

class WorldFixture : public testing::Test {
 protected:
  void start() {
    world_ = std::make_unique<World>(loop, options);
    if (extender != nullptr) {
      world_->set_extender(extender);
    }
    world_->start();
    registrar_ = api().watch(model::kNodeResource, [this](const Event& event) {
      if (event.change == Change::Added && register_nodes) {
        register_node(text_at(*event.object, "metadata.name"));
      }
    });
  }

  World& world() {
    if (world_ == nullptr) {
      start();
    }
    return *world_;
  }
  ApiServer& api() { return world().api(); }

  // A machine whose Node is named like it and appears after `boot`.
  void launch(const std::string& name, const std::string& cpu = "4",
              const model::StringMap& labels = {}, base::Duration boot = {});
  void terminate(const std::string& name) { world().kubelet().terminated("test://" + name); }
  void register_node(const std::string& name);

  void apply(const std::string& json);
  void make_deployment(const std::string& name, int replicas, const std::string& cpu = "1",
                       const std::string& pod_spec = {});
  void scale(const std::string& name, int replicas);
  void set_node(const std::string& name, const std::function<void(boost::json::value&)>& change);

  // Pods that are there, as name to "phase@node".
  std::map<std::string, std::string> pods();
  std::size_t count(const std::string& state);  // "Running", "Pending", "Ending"
  std::string node_of(const std::string& pod);
  // The PodScheduled message of the only pod, or of `pod`.
  std::string why_pending(const std::string& pod);

  base::VirtualLoop loop{test_start()};
  WorldOptions options;
  std::shared_ptr<ExtenderCaller> extender;
  bool register_nodes = true;

 private:
  std::unique_ptr<World> world_;
  ApiServer::Subscription registrar_;
};

// One pod with its own spec fields, ready for apply().
std::string one_pod(const std::string& name, const std::string& cpu = "1",
                    const std::string& pod_spec = {}, const std::string& metadata = {});

}  // namespace millwright::sandbox

// One of the two autoscalers under comparison, running against a plane of its own.
#pragma once

#include "plane/runner/controller.hpp"

#include <memory>
#include <string>
#include <vector>

namespace millwright::field {

class Side {
 public:
  virtual ~Side() = default;
  // The accounts under which it calls the API server.
  virtual std::vector<std::string> users() const = 0;
  virtual base::Result<> start(plane::Plane& plane) = 0;
  // For KubeSchedulerConfiguration; empty: none.
  virtual std::string extenders() { return {}; }
  virtual std::vector<plane::Process*> processes() = 0;  // at least one
};

// `millwright controller` with its defaults, its webhooks registered, and the extender wired. One
// replica has the simulated cloud in itself, as the peer has its own; several launch in a process
// beside them, which counts as nobody's work.
std::unique_ptr<Side> make_ours(std::size_t replicas);
// Karpenter's controller with its kwok provider, unchanged, from the folder that `scripts/peer
// controller` prints: its program `karpenter` and its CRDs.
std::unique_ptr<Side> make_peer(std::string folder);

}  // namespace millwright::field

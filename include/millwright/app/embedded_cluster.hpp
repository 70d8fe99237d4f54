// A whole cluster in this process: the sandbox's API server, scheduler, kubelet and clouds, and the
// real engine. With a real or scaled loop it may talk over sockets (HTTPS on loopback for the API,
// the webhooks and the extender); else, and with a virtual loop, everything is called in process.
#pragma once

#include "millwright/app/engine.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/sandbox/world.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millwright::app {

struct EmbeddedOptions {
  std::uint64_t seed = 1;
  std::vector<cloud::Profile> profiles{cloud::Profile::Kwok};
  // Absent: the profile's own delays, no failures.
  std::map<cloud::Profile, cloud::SimulatedSettings> settings;
  controllers::Options controllers;
  extender::Policy policy;
  sandbox::WorldOptions world;  // seed and price are filled in
  bool sockets = false;
  bool extender = true;
  bool admission = true;
  base::Logger log;                                   // of the engine
  telemetry::DecisionLog::Write write_decision = {};  // see EngineParts
};

// Loop thread only. start() may run before the loop does; stop() must have ended before the object
// goes.
class EmbeddedCluster {
 public:
  // Fails when a socket cannot be opened or a catalog file is wrong.
  static base::Result<std::unique_ptr<EmbeddedCluster>> make(base::Loop& loop,
                                                             base::Compute& compute,
                                                             EmbeddedOptions options);
  virtual ~EmbeddedCluster() = default;

  virtual sandbox::World& world() = 0;
  virtual Engine& engine() = 0;
  // A client like a person's, not the controllers' own.
  virtual kube::Client& client() = 0;
  virtual cloud::SimulatedCloud* cloud(cloud::Profile profile) = 0;
  virtual base::Metrics& metrics() = 0;
  // nullptr when there are no sockets.
  virtual sandbox::ApiEndpoint* endpoint() = 0;

  virtual void start() = 0;
  virtual base::Task<void> stop() = 0;
};

}  // namespace millwright::app

// What a flood is aimed at: a control plane with nodes, the controller as it is shipped, a NodePool
// that could be bought from, and the stock kube-scheduler, which binds pods at a steady rate. What
// kube-scheduler needs is measured beside it. Blocks the calling thread.
#pragma once

#include "plane/flood/attacker.hpp"
#include "plane/flood/steady_caller.hpp"
#include "plane/runner/controller.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace millwright::plane {

struct SceneOptions {
  int nodes = 100;
  // kube-scheduler's for a call of the extender; it goes on without the answer.
  std::string http_timeout = "2s";
};

// The callers who do harm in a round, and for how long.
struct Flood {
  std::vector<Assault> assaults;    // empty: nobody
  bool with_certificate = true;     // some of those who call the extender have stolen one
  std::size_t strikes_of_each = 0;  // the round lasts until each assault has struck so often
};

struct Round {
  std::string name;  // of its pods; no other round's begins so
  int pods = 300;
  int pods_per_second = 20;
  Flood flood;
};

struct Outcome {
  bool settled = false;  // all pods were bound and all strikes made, in time
  int bound = 0;
  std::size_t skipped = 0;  // kube-scheduler's calls that it went on without
  SteadyCaller::Calls calls;
  // In the server, of filter; upper bounds, in milliseconds.
  double served_p50 = 0;
  double served_p99 = 0;
  // kube-scheduler's whole choice of a node; the same.
  double chosen_p99 = 0;
  std::size_t strikes = 0;
  std::size_t fewest_strikes = 0;
  Attacker::Answers answers;  // to the attacker
  int unready_in_a_row = 0;   // probes of /readyz that failed one after another, at most
  std::size_t claims = 0;     // NodeClaims that are there afterwards
  long peak_kib = 0;          // the most memory that was ever resident in the round
};

class Scene {
 public:
  static base::Result<std::unique_ptr<Scene>> start(SceneOptions options);

  Plane& plane() { return *plane_; }
  Controller& controller() { return *controller_; }
  Outcome play(const Round& round);
  // Of the shipped Deployment, in KiB; 0: it has none.
  long memory_limit_kib();

 private:
  Scene() = default;
  base::Result<> start_parts(const SceneOptions& options);
  std::vector<Victim> victims(const Flood& flood);
  std::unique_ptr<Attacker> attack(const Flood& flood);
  SteadyCallerOptions caller();
  std::size_t skipped_calls();

  int nodes_ = 0;
  std::unique_ptr<Plane> plane_;
  std::unique_ptr<Controller> controller_;
};

}  // namespace millwright::plane

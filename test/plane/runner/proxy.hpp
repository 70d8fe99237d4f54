// Stands between a program and the API server, and gets in its way: writes are answered with
// conflicts and failures that never reached the server, watches are told late. On a thread of its
// own from start() to destruction.
#pragma once

#include "plane/runner/plane.hpp"

namespace millwright::plane {

struct ProxyFaults {
  double conflicts = 0;  // share of writes answered 409, nothing done
  double failures = 0;   // share of writes answered 500, nothing done
  milliseconds watch_delay{0};
  std::uint64_t seed = 1;
};

class Proxy {
 public:
  static base::Result<std::unique_ptr<Proxy>> start(Plane& plane, ProxyFaults faults);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  // An administrator's, through the proxy.
  const std::string& kubeconfig() const { return kubeconfig_; }
  // From now on watches are cut and refused, until release_watches(); all else passes.
  void hold_watches();
  void release_watches();
  // How many requests were answered in the server's place so far.
  std::size_t spoiled() const;

 private:
  struct State;
  Proxy() = default;
  std::unique_ptr<State> state_;
  std::string kubeconfig_;
};

}  // namespace millwright::plane

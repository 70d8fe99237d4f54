// Host ports taken on a node, with kube-scheduler's conflict rule: same port and protocol, and
// the same address or either of them a wildcard (0.0.0.0, ::).
#pragma once

#include "millwright/model/pod.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace millwright::scheduling {

struct HostPort {
  std::int32_t port = 0;
  std::string protocol;
  std::string ip;  // empty: every address
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
  std::string to_string() const;
};

class HostPorts {
 public:
  HostPorts() = default;
  // Those of containers and sidecars, as in kube-scheduler's NodePorts.
  explicit HostPorts(const model::PodSpec& spec);

  bool empty() const { return ports_.empty(); }
  // The first of ours that `other` cannot stand beside; nullptr when there is none.
  const HostPort* conflict(const HostPorts& other) const;
  void add(const HostPorts& other);
  friend bool operator==(const HostPorts&, const HostPorts&) = default;
  auto begin() const { return ports_.begin(); }
  auto end() const { return ports_.end(); }

 private:
  std::vector<HostPort> ports_;  // sorted
};

}  // namespace millwright::scheduling

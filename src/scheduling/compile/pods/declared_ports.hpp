// The host ports that a pod's containers and sidecars declare.
#pragma once

#include "millwright/model/pod.hpp"

#include <vector>

namespace millwright::scheduling {

// As in kube-scheduler's NodePorts. Other init containers are over when the next pod comes.
inline std::vector<const model::ContainerPort*> declared_host_ports(const model::PodSpec& spec) {
  std::vector<const model::ContainerPort*> result;
  const auto add_those_of = [&result](const model::Container& container) {
    for (const auto& port : container.ports) {
      if (port.host_port != 0) {
        result.push_back(&port);
      }
    }
  };
  for (const auto& container : spec.containers) {
    add_those_of(container);
  }
  for (const auto& container : spec.init_containers) {
    if (container.restart_always) {
      add_those_of(container);
    }
  }
  return result;
}

}  // namespace millwright::scheduling

// The objects that scenarios are made of, as YAML.
#pragma once

#include <string>

namespace millwright::field {

// `cpus_below`: only machines with fewer CPUs. `edition` is a label of the template: another one
// drifts every node. Budgets are 100 %.
std::string node_pool(int cpus_below, int edition = 1);
// `registration_delay`: until a Node is registered, such as "30s"; both providers know the field.
std::string node_class(const std::string& registration_delay = "");

struct Work {
  std::string name = "work";
  int replicas = 0;
  std::string cpu = "1";
  std::string memory = "1Gi";
  std::string rules = "";  // YAML of the pod's spec, such as affinity; six spaces deep
  std::string strategy = "{}";
  int edition = 1;
};
std::string deployment(const Work& work);

// A Job of 20 pods of 1 CPU, each of which runs for ten seconds.
std::string job(int number);

// Values for Work::rules. Pods of `app` keep apart on nodes, or spread evenly over `topology_key`.
std::string kept_apart(const std::string& app);
std::string spread_over(const std::string& topology_key, const std::string& app);

}  // namespace millwright::field

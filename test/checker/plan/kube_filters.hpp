// kube-scheduler's filters over plain structs.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace millwright::checker {

struct Machine {
  std::string name;
  model::StringMap labels;
  std::vector<model::Taint> taints;
  model::ResourceList allocatable;  // less what is kept for DaemonSets and others
  std::vector<const model::Pod*> pods;
  std::map<std::string, int> volume_limits;  // by CSI driver
  bool accepts_pods = true;                  // not fenced, not being removed
};

class KubeFilters {
 public:
  explicit KubeFilters(const scheduling::Snapshot* cluster);

  // Filters that look at one machine alone; the first reason, empty when it passes.
  std::string alone(const model::Pod& pod, const Machine& machine) const;
  // PodTopologySpread and InterPodAffinity.
  std::string among_others(const model::Pod& pod, const Machine& machine,
                           const std::vector<Machine>& all) const;

  // Sum and maximum of containers by the rules of pod requests, with one "pods".
  static model::ResourceList requests(const model::Pod& pod);
  static bool tolerates(const model::PodSpec& spec, const std::vector<model::Taint>& taints);
  static bool selects_node(const model::PodSpec& spec, const model::StringMap& labels,
                           const std::string& name);

 private:
  std::string resources(const model::Pod& pod, const Machine& machine) const;
  std::string ports(const model::Pod& pod, const Machine& machine) const;
  std::string volumes(const model::Pod& pod, const Machine& machine) const;
  std::string spread(const model::Pod& pod, const Machine& machine,
                     const std::vector<Machine>& all) const;
  std::string affinity(const model::Pod& pod, const Machine& machine,
                       const std::vector<Machine>& all) const;
  std::string anti_affinity(const model::Pod& pod, const Machine& machine,
                            const std::vector<Machine>& all) const;
  bool term_selects(const model::PodAffinityTerm& term, const model::Pod& owner,
                    const model::Pod& other) const;
  std::set<std::pair<std::string, std::string>> attachments(const model::Pod& pod) const;

  std::map<std::string, model::StringMap> namespaces_;
  std::map<std::string, const model::PersistentVolumeClaim*> claims_;  // "namespace/name"
  std::map<std::string, const model::PersistentVolume*> volumes_;
  std::map<std::string, const model::StorageClass*> classes_;
};

}  // namespace millwright::checker

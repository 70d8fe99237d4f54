// Inverse anti-affinity: a pod that runs already may forbid others its domain, though they declare
// nothing themselves (kube-scheduler's InterPodAffinity, Karpenter's inverse topologies).
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millwright::scheduling {

class AntiAffinity {
 public:
  // Looks at the pods on every node of the surroundings (of the problem, when there are none),
  // except those that are to be placed anew.
  explicit AntiAffinity(const Problem& problem);

  bool empty() const { return terms_.empty(); }
  // "key NotIn [domains]" for each topology key whose domains are closed to the pod.
  Requirements forbidden(const model::Pod& pod) const;

 private:
  struct Term {
    model::LabelSelector selector;
    std::set<std::string, std::less<>> namespaces;
    bool every_namespace = false;
    std::string topology_key;
    std::set<std::string> domains;
  };
  void add_pods_of(const NodeRecord& node, const std::set<std::string_view>& moving);
  void add(const model::PodAffinityTerm& term, const model::Pod& owner, const std::string& domain);

  const Snapshot* surroundings_ = nullptr;
  std::vector<Term> terms_;
};

}  // namespace millwright::scheduling

// The scheduler's cache: nodes with the pods on them, pods being bound included. Loop thread
// only.
#pragma once

#include "millwright/model/core.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::sandbox {

using PodPtr = std::shared_ptr<const model::Pod>;

// Pods by uid.
using PodMap = std::map<std::string, PodPtr>;

struct NodeInfo {
  std::shared_ptr<const model::Node> node;  // nullptr: pods point at a node that does not exist
  PodMap pods;                              // not ended
  model::ResourceList requested;            // of `pods`, "pods" included
};

class SchedulerCache {
 public:
  void set_node(std::shared_ptr<const model::Node> node);
  void remove_node(std::string_view name);
  // The pod as the API server has it now; bound pods count on their node, nominated ones are known
  // to be meant for theirs.
  void set_pod(PodPtr pod);
  void remove_pod(std::string_view uid);
  // Counts on the node from now on, until set_pod() shows it bound or forget() is called.
  void assume(PodPtr pod, const std::string& node);
  void forget(std::string_view uid);

  // Nodes that exist, by name.
  std::vector<const NodeInfo*> nodes() const;
  const NodeInfo* find(std::string_view node) const;
  // Unbound pods whose nominatedNodeName is this node.
  const PodMap& nominated_on(std::string_view node) const;

 private:
  void place(PodPtr pod, const std::string& node);
  void displace(std::string_view uid);
  void note_nomination(const PodPtr& pod);

  std::map<std::string, NodeInfo, std::less<>> nodes_;
  std::map<std::string, std::string, std::less<>> node_by_uid_;
  std::map<std::string, std::string, std::less<>> assumed_;
  std::map<std::string, PodMap, std::less<>> nominated_;
  std::map<std::string, std::string, std::less<>> nomination_by_uid_;
};

// The node without its pod, and with one more.
void take_off(NodeInfo& node, const model::Pod& pod);
void put_on(NodeInfo& node, PodPtr pod);

}  // namespace millwright::sandbox

// kube-scheduler's DynamicResources filter: whether the pods of a node each get devices of their
// own, by trying them out one device at a time.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <string>
#include <vector>

namespace millwright::checker {

using Pods = std::vector<const model::Pod*>;

class DeviceFilters {
 public:
  // `problem` must outlive it.
  explicit DeviceFilters(const scheduling::Problem& problem) : problem_(problem) {}

  // Why not; empty when all of them do. Of a node that has not published anything, nothing is
  // known: empty.
  std::string on_node(const scheduling::NodeRecord& node, const Pods& pods) const;
  std::string on_type(const scheduling::PoolOption& option, const scheduling::InstanceType& type,
                      const Pods& pods) const;

 private:
  const scheduling::Problem& problem_;
};

}  // namespace millwright::checker

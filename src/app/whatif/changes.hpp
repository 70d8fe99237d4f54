// Makes the changes of a what-if in a running embedded cluster, as a person with kubectl would, or
// as the world does it (prices, a zone that fails). Loop thread only.
#pragma once

#include "app/whatif/request.hpp"
#include "millwright/app/embedded_cluster.hpp"

#include <boost/json/value.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace millwright::app {

// By file name, what `apply` creates or replaces.
using AppliedObjects = std::map<std::string, std::vector<boost::json::value>>;

class Changes {
 public:
  // `cluster` and what the other two name outlive the object.
  Changes(EmbeddedCluster& cluster, std::span<const cloud::Profile> clouds,
          const AppliedObjects& applied)
      : cluster_(cluster), clouds_(clouds), applied_(applied), drains_(cluster.world().loop()) {}

  // Returns when all are made; drains go on until stop(). Invalid and NotFound name the change and
  // what there is.
  base::Task<base::Result<>> make(std::vector<ChangeAsked> changes);
  base::Task<void> stop();

  // Nodes that are still being drained, and what keeps them: "a PodDisruptionBudget: ...".
  const std::map<std::string, std::string>& undrained() const { return undrained_; }
  const std::vector<std::string>& zones_out() const { return zones_out_; }

 private:
  base::Task<base::Result<>> make_one(ChangeAsked change);
  base::Task<base::Result<>> apply(std::string file);
  base::Task<base::Result<>> put(boost::json::value object);
  base::Task<base::Result<>> scale(ScaleWorkload wanted);
  base::Task<base::Result<>> begin_drain(std::string node);
  base::Task<void> drain(std::string node);
  base::Result<> set_price(const SetPrice& wanted);
  base::Result<> fail_zone(const std::string& zone);
  std::vector<model::ObjectKey> pods_to_evict(const std::string& node);
  std::vector<cloud::OfferingPattern> offerings() const;

  EmbeddedCluster& cluster_;
  std::span<const cloud::Profile> clouds_;
  const AppliedObjects& applied_;
  std::map<std::string, std::string> undrained_;
  std::vector<std::string> zones_out_;
  base::TaskGroup drains_;
};

}  // namespace millwright::app

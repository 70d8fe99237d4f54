// Warnings: the object is accepted, but will not do what its author thinks. kubectl prints them;
// nothing depends on them. They are for what the rules of a field cannot see: other objects, the
// clouds' catalogs, time.
#pragma once

#include "millwright/model/karpenter.hpp"
#include "millwright/model/kinds.hpp"
#include "millwright/webhooks/admission.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <vector>

namespace millwright::webhooks {

// Collects texts within the limits of AdmissionResponse.warnings: each below 256 bytes, all
// together below 4096.
class Warnings {
 public:
  void add(std::string text);
  // The collected texts; the last one says how many were left out, if any were.
  std::vector<std::string> take() &&;

 private:
  std::vector<std::string> texts_;
  std::size_t bytes_ = 0;
  std::size_t left_out_ = 0;
};

// `cluster` may be nullptr: then only the object itself is looked at. `is_edit`: it exists already.
std::vector<std::string> warnings_about(const model::Resource& resource,
                                        const boost::json::value& object, bool is_edit,
                                        const ClusterSnapshot* cluster);

// The parts, each about one concern.
void warn_of_node_class(const model::NodePool& pool, const ClusterSnapshot& cluster,
                        Warnings& warnings);
void warn_of_catalog(const model::NodePool& pool, const ClusterSnapshot& cluster,
                     Warnings& warnings);
void warn_of_weight_ties(const model::NodePool& pool, const ClusterSnapshot& cluster,
                         Warnings& warnings);
// Of nodes that drift by the edit, and of what their replacements cost. What a NodeClass's
// selectors find is not asked for, so more nodes may drift by it.
void warn_of_replacements(const model::NodePool& edited, const ClusterSnapshot& cluster,
                          Warnings& warnings);
void warn_of_replacements(const model::NodeClass& edited, const ClusterSnapshot& cluster,
                          Warnings& warnings);
void warn_of_disruption(const model::NodePool& pool, base::TimePoint now, Warnings& warnings);
void warn_of_pool_limits(const model::NodePool& pool, Warnings& warnings);
// Of what the class's cloud cannot make.
void warn_of_unsupported(const model::NodeClass& node_class, const ClusterSnapshot& cluster,
                         Warnings& warnings);
void warn_of_cloud_class(const model::Resource& resource, const boost::json::value& object,
                         Warnings& warnings);

}  // namespace millwright::webhooks

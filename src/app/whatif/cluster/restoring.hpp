// Puts a cluster from files or a recording into an embedded cluster, with its machines in the
// simulated clouds. Loop thread only.
#pragma once

#include "app/whatif/cluster/cluster_files.hpp"
#include "millwright/app/embedded_cluster.hpp"

#include <span>
#include <vector>

namespace millwright::app {

// The cloud among `clouds` that serves such classes; nullptr when none does.
cloud::SimulatedCloud* cloud_serving(EmbeddedCluster& cluster,
                                     std::span<const cloud::Profile> clouds,
                                     const model::NodeClassReference& ref);

// Before the cluster starts. Fails when an object is refused; the message names it.
base::Result<> restore_cluster(EmbeddedCluster& cluster, std::span<const cloud::Profile> clouds,
                               const std::vector<ClusterObject>& objects);

}  // namespace millwright::app

// An embedded cluster that stands in for another one: it begins with that one's objects, its
// machines in simulated clouds, and is asked for what the other is asked for. What the controllers
// make of it is theirs. Loop thread only; the loop may be real or virtual.
#pragma once

#include "app/replay/day/day_objects.hpp"
#include "app/replay/day/day_pace.hpp"
#include "app/whatif/cluster/cluster_files.hpp"
#include "millwright/app/embedded_cluster.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millwright::app {

struct ReplayClusterOptions {
  std::vector<cloud::Profile> clouds = {};
  std::uint64_t seed = 1;
  std::string instance_types_file = {};  // the catalog of kwok in place of its own
  DayPace pace = {};
  // Of the controllers, as for EmbeddedOptions.
  controllers::Options controllers = {};
  extender::Policy policy = {};
  bool extender = true;
  telemetry::DecisionLog::Write write_decision = {};
  base::Logger log = {};
};

class ReplayCluster {
 public:
  // With these objects, and not started. Fails when one is refused.
  static base::Result<std::unique_ptr<ReplayCluster>> make(base::Loop& loop, base::Compute& compute,
                                                           ReplayClusterOptions options,
                                                           const std::vector<ClusterObject>& first);
  ReplayCluster(const ReplayCluster&) = delete;
  ReplayCluster& operator=(const ReplayCluster&) = delete;

  EmbeddedCluster& cluster() { return *cluster_; }
  const sandbox::Recorder& recorder() const { return cluster_->world().recorder(); }
  // What is refused is left out, with a note.
  void take(const DayStep& step);
  // Of the catalogs of its clouds, by the labels of a node or NodeClaim.
  std::optional<double> price(const model::StringMap& labels) const;
  std::vector<std::string> notes() const;

 private:
  ReplayCluster(std::vector<cloud::Profile> clouds, std::unique_ptr<EmbeddedCluster> cluster)
      : clouds_(std::move(clouds)), cluster_(std::move(cluster)) {}

  base::Result<> put(const model::Resource& resource, const boost::json::value& object);
  base::Result<> put_node(const boost::json::value& node);
  base::Result<> remove(const DayStep& step);
  void make_namespace(std::string_view name);

  std::vector<cloud::Profile> clouds_;
  std::unique_ptr<EmbeddedCluster> cluster_;
  std::vector<std::string> refused_;
  std::size_t refused_count_ = 0;
};

}  // namespace millwright::app

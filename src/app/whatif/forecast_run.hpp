// One run of a forecast: the cluster from the files in an embedded cluster, until nothing moves any
// more. Loop thread only, on a loop of its own.
#pragma once

#include "app/whatif/forecast.hpp"
#include "millwright/telemetry/decision_log.hpp"

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace millwright::app {

struct ForecastSetup {
  const ClusterFiles& files;
  std::vector<cloud::Profile> clouds;
  const AppliedObjects& applied;
  base::TimePoint start;
  base::Duration horizon{};
  std::string instance_types_file;
};

class ForecastRun {
 public:
  explicit ForecastRun(const ForecastSetup& setup);
  ~ForecastRun();
  ForecastRun(const ForecastRun&) = delete;
  ForecastRun& operator=(const ForecastRun&) = delete;

  // Fails when an object or a change is refused.
  base::Result<> run(const std::vector<ChangeAsked>& changes);

  const ClusterSize& before() const { return before_; }
  ClusterSize size() const;
  base::Duration took() const { return loop_.now() - setup_.start; }
  bool settled() const { return settled_; }
  // What the run came to.
  void tell(Forecast& forecast) const;

 private:
  base::Result<> open();
  void stop();
  base::Duration quiet_time() const;
  bool is_machine_on_its_way() const;
  void note_decision(std::string_view line);

  void tell_nodes(Forecast& forecast) const;
  // Those that are still there, and what keeps them.
  void tell_drifted(Forecast& forecast) const;
  void tell_pods(Forecast& forecast) const;
  void tell_waiting(Forecast& forecast) const;
  std::string why_gone(const std::string& name, const model::Node& node) const;
  // Every node there is, one by one.
  struct PresentNode {
    std::string uid;
    NodeLine line;
  };
  std::vector<PresentNode> present_nodes() const;
  scheduling::Problem problem() const;

  const ForecastSetup& setup_;
  base::VirtualLoop loop_;
  base::InlineCompute compute_;
  std::unique_ptr<EmbeddedCluster> cluster_;
  std::unique_ptr<Changes> changes_;
  base::TaskGroup group_;
  base::TimePoint last_change_;
  ClusterSize before_;
  std::set<std::string> nodes_before_;                          // uids
  std::map<std::string, std::optional<double>> prices_before_;  // by node
  std::set<std::string> claims_before_;
  std::set<std::string> pods_before_;
  std::map<std::string, std::string> removals_;  // causes by node or claim
  bool settled_ = false;
};

}  // namespace millwright::app

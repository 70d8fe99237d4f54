// A virtual cluster with one NodePool of kwok types, and the few things that the tests of this
// folder do to it and ask of it.
#pragma once

#include "support/virtual_cluster.hpp"

#include <boost/json/value.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace millwright::test {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

struct PoolText {
  std::string name = "default";
  std::string disruption = "{consolidateAfter: Never}";
  std::string capacity_types = "[on-demand]";
  std::string template_metadata = "{}";
  std::string template_extra;  // more members of spec.template.spec, two-space YAML lines
  std::string extra;           // more members of spec
};

struct WorkloadText {
  std::string name = "web";
  int replicas = 1;
  std::string cpu = "1";
  std::string pod_metadata;  // more members of the template's metadata
  std::string pod_spec;      // more members of the template's spec
};

// One attempt of a person to see every consequence: the cluster runs until `predicate` holds.
class LifecycleFixture : public testing::Test {
 protected:
  using Predicate = std::function<bool()>;

  void start(app::EmbeddedOptions options = {});
  sandbox::ApiServer& api() { return cluster_->cluster->world().api(); }
  sandbox::Recorder& recorder() { return cluster_->cluster->world().recorder(); }
  cloud::SimulatedCloud& cloud() { return *cluster_->cluster->cloud(cloud::Profile::Kwok); }
  const extender::Extender& extender() { return cluster_->cluster->engine().extender(); }
  cluster::State& state() { return cluster_->cluster->engine().state(); }
  cluster::Ledger& ledger() { return cluster_->cluster->engine().ledger(); }
  // What /metrics would answer.
  std::string metrics() { return cluster_->cluster->engine().metrics_page(); }
  const telemetry::DecisionLog& decisions() { return cluster_->cluster->engine().decisions(); }
  base::TimePoint now() { return cluster_->loop.now(); }
  PausableCompute& compute() { return cluster_->compute; }

  // Each document of the text is created.
  void apply(const std::string& yaml);
  void apply_class(const std::string& name = "default");
  void apply_pool(const PoolText& pool = {});
  void deploy(const WorkloadText& workload);
  void scale(const std::string& deployment, int replicas);
  void change(const model::Resource& resource, const std::string& name,
              const std::function<void(boost::json::value&)>& edit,
              const std::string& name_space = {}, std::string_view subresource = {});
  void remove(const model::Resource& resource, const std::string& name,
              const std::string& name_space = {});

  // The cloud does not show the instance any more, whose machine runs on.
  void hide(const std::string& provider_id);

  bool wait(const Predicate& predicate, base::Duration limit = minutes(10)) {
    return cluster_->loop.run_until(predicate, limit);
  }
  void run_for(base::Duration duration) { cluster_->loop.run_for(duration); }
  bool wait_running(const std::string& app, std::size_t count, base::Duration limit = minutes(10));
  // Looks every five seconds: asking the cloud runs the cluster, which a predicate must not do.
  bool wait_instances(std::size_t count, base::Duration limit = minutes(10));
  // No claim, no node and no instance.
  bool wait_empty(base::Duration limit = minutes(30));

  // What is there now.
  std::vector<std::shared_ptr<const model::NodeClaim>> claims();
  std::vector<std::shared_ptr<const model::Node>> nodes();
  std::vector<std::shared_ptr<const model::Pod>> pods(const std::string& app);
  std::size_t running(const std::string& app);
  std::vector<cloud::Instance> instances();
  // What there is of claims, nodes and instances, as text for a failed expectation.
  std::string inventory();
  // Messages of the events with this reason.
  std::vector<std::string> events(std::string_view reason);
  // The same with whom they are about and how often they were said.
  struct EventText {
    std::string about;  // "<kind> <name>"
    std::string message;
    int count = 0;
  };
  std::vector<EventText> event_texts(std::string_view reason);
  // "True", "False", "Unknown" or "": a condition of an object's status.
  std::string condition(const model::Resource& resource, const std::string& name,
                        std::string_view type);
  std::string text_of(const model::Resource& resource, const std::string& name,
                      std::string_view pointer, const std::string& name_space = {});

 private:
  std::unique_ptr<VirtualCluster> cluster_;
};

}  // namespace millwright::test

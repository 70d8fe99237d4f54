// The whole program with the real Alibaba Cloud provider on an ECS that remembers.
#pragma once

#include "cloud/alibaba/alibaba_cloud.hpp"
#include "cloud/alibaba/catalog/type_labels.hpp"
#include "millwright/cloud/simulated.hpp"
#include "support/crash_runs.hpp"
#include "unit/cloud/alibaba/fakes/fake_ecs.hpp"

namespace millwright {

class AlibabaCluster final : public CrashCluster {
 public:
  using FakeEcs = cloud::alibaba::FakeEcs;

  explicit AlibabaCluster(std::uint64_t seed) : CrashCluster(seed), ecs(loop, http) {
    cloud::alibaba::register_labels();
    machine.variables = {{"ALIBABA_CLOUD_ACCESS_KEY_ID", "A"},
                         {"ALIBABA_CLOUD_ACCESS_KEY_SECRET", "S"}};
    ecs.on_launch = [this](const FakeEcs::Machine& made) { boot(made); };
    ecs.on_termination = [this](const FakeEcs::Machine& made) { shut_down(made.id); };
    begin();
  }
  ~AlibabaCluster() override { end(); }

  std::multiset<std::string> living_machines() override {
    std::multiset<std::string> result;
    for (const auto& made : ecs.living()) {
      result.insert(cloud::alibaba::instance_of(made).provider_id);
    }
    return result;
  }
  std::size_t made_machines() override { return ecs.machines.size(); }
  void prepare(const CrashPlan& plan) override {
    ecs.lag = plan.lag * 6;  // longer than a new leader takes
    ecs.lost_answers = plan.lose_answer ? 1 : 0;
    ecs.refuses_groups = plan.seed % 4 == 0;  // launches one by one
  }
  std::vector<std::string> manifests() override {
    return {std::string(cloud::alibaba::kNodeClass),
            node_pool_of("karpenter.k8s.alibabacloud", "ECSNodeClass")};
  }

  FakeEcs ecs;

 protected:
  std::unique_ptr<cloud::Provider> make_provider() override {
    cloud::AlibabaSettings settings;
    settings.cluster_id = "c1";
    return std::make_unique<cloud::alibaba::AlibabaCloud>(
        cloud::alibaba::AlibabaCloud::Parts{
            .loop = loop,
            .client = http,
            .settings = settings,
            .environment = machine.environment(),
            .endpoints = *cloud::alibaba::Endpoints::make("cn-hangzhou", machine.environment()),
            .metrics = metrics,
            .log = {}},
        cloud::PriceFile{});
  }

 private:
  void boot(const FakeEcs::Machine& made) {
    world.kubelet().launched(cloud::alibaba::instance_of(made), nullptr, std::chrono::seconds(20));
  }
  void shut_down(const std::string& id) {
    loop.after(std::chrono::seconds(10), [this, id] {
      ecs.find(id).state.clear();
      world.kubelet().terminated(cloud::alibaba::instance_of(ecs.find(id)).provider_id);
    });
  }
};

}  // namespace millwright

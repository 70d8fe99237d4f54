// The whole program with the real Huawei Cloud provider on a CCE that remembers.
#pragma once

#include "cloud/huawei/huawei_cloud.hpp"
#include "millwright/cloud/simulated.hpp"
#include "support/crash_runs.hpp"
#include "unit/cloud/huawei/fakes/fake_cce.hpp"

namespace millwright {

class HuaweiCluster final : public CrashCluster {
 public:
  using FakeCce = cloud::huawei::FakeCce;

  explicit HuaweiCluster(std::uint64_t seed) : CrashCluster(seed), cce(loop, http) {
    cloud::huawei::register_labels();
    machine.variables = {{"HUAWEICLOUD_SDK_AK", "A"}, {"HUAWEICLOUD_SDK_SK", "S"}};
    cce.on_order = [this](const std::string& uid, const FakeCce::Node& made) { boot(uid, made); };
    cce.on_deletion = [this](const std::string& uid) { shut_down(uid); };
    begin();
  }
  ~HuaweiCluster() override { end(); }

  std::multiset<std::string> living_machines() override {
    std::multiset<std::string> result;
    for (const auto& [uid, node] : cce.nodes) {
      if (node.phase != "Deleting") {
        result.insert(uid);
      }
    }
    return result;
  }
  std::size_t made_machines() override { return made_; }
  void prepare(const CrashPlan& plan) override {
    cce.lag = plan.lag * 6;  // longer than a new leader takes
    cce.lost_answers = plan.lose_answer ? 1 : 0;
  }
  std::vector<std::string> manifests() override {
    return {std::string(cloud::huawei::kNodeClass),
            node_pool_of("karpenter.k8s.huawei", "CCENodeClass")};
  }

  FakeCce cce;

 protected:
  std::unique_ptr<cloud::Provider> make_provider() override {
    return std::make_unique<cloud::huawei::HuaweiCloud>(
        cloud::huawei::HuaweiCloud::Parts{.loop = loop,
                                          .client = http,
                                          .settings = {},
                                          .environment = machine.environment(),
                                          .endpoints = cloud::huawei::test_endpoints(),
                                          .cluster = "c1",
                                          .metrics = metrics,
                                          .log = {}});
  }

 private:
  void boot(const std::string& uid, const FakeCce::Node& made) {
    ++made_;
    world.kubelet().launched(cloud::huawei::instance_of(uid, made), nullptr,
                             std::chrono::seconds(20));
  }
  void shut_down(const std::string& uid) {
    loop.after(std::chrono::seconds(10), [this, uid] {
      cce.nodes.erase(uid);
      world.kubelet().terminated(uid);
    });
  }

  std::size_t made_ = 0;
};

}  // namespace millwright

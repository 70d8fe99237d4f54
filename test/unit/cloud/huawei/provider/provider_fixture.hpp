// The provider of Huawei Cloud against a cloud that remembers. Its process can end and be started
// anew.
#pragma once

#include "cloud/huawei/huawei_cloud.hpp"
#include "cloud/huawei/launch/node_body.hpp"
#include "unit/cloud/huawei/fakes/fake_cce.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::cloud::huawei {

using base::ErrorKind;
using namespace std::chrono_literals;

inline constexpr auto kPassword = "JDYkc2FsdCRoYXNo";

inline std::shared_ptr<model::NodeClass> cce_class() {
  auto result = std::make_shared<model::NodeClass>();
  result->meta.name = "default";
  result->kind = "CCENodeClass";
  result->spec =
      model::parse_json(
          std::string(R"({"subnetSelectorTerms":[{"name":"nodes"}],"imsSelector":)"
                      R"({"imsFamily":"Huawei Cloud EulerOS 2.0"},"blockDeviceMappings":)"
                      R"({"root":{"volumeSize":40,"volumeType":"SSD"}},"login":)"
                      R"({"userPassword":{"username":"root","password":")") +
          kPassword + R"("}}})")
          .value();
  result->status = model::parse_json(R"({"subnets":[{"id":"subnet-1"}]})").value();
  return result;
}

class HuaweiProvider : public testing::Test {
 protected:
  HuaweiProvider() {
    machine.variables = {{"HUAWEICLOUD_SDK_AK", "A"}, {"HUAWEICLOUD_SDK_SK", "S"}};
    register_labels();
    start();
    loop.run_for(1min);
  }
  ~HuaweiProvider() override { crash(); }

  void start() {
    cloud = std::make_unique<HuaweiCloud>(HuaweiCloud::Parts{.loop = loop,
                                                             .client = http,
                                                             .settings = settings,
                                                             .environment = machine.environment(),
                                                             .endpoints = test_endpoints(),
                                                             .cluster = "c1",
                                                             .metrics = metrics,
                                                             .log = {}},
                                          prices);
    cloud->on_interruption([this](InstanceNotice notice) { return take(std::move(notice)); });
    background = std::make_unique<base::TaskGroup>(loop);
    background->spawn(cloud->run(background->stop_token()));
    background->spawn(cloud->lead(background->stop_token()));
  }
  void crash() {
    background.reset();
    cloud.reset();
  }

  std::shared_ptr<model::NodeClaim> claim(const std::string& name) const {
    auto result = std::make_shared<model::NodeClaim>();
    result->meta.name = name;
    result->meta.uid = "uid-" + name;
    result->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
    result->meta.creation_timestamp = std::chrono::floor<std::chrono::seconds>(loop.now());
    return result;
  }
  base::Result<Instance> create(std::shared_ptr<const model::NodeClaim> of) {
    return wait(loop, cloud->create(std::move(of), the_class));
  }
  // As a controller does: again after errors that may pass.
  base::Result<Instance> insist(const std::shared_ptr<const model::NodeClaim>& of) {
    for (int i = 0; i < 100; ++i) {
      auto made = create(of);
      if (made || (made.error().kind != ErrorKind::Timeout &&
                   made.error().kind != ErrorKind::Unavailable)) {
        return made;
      }
      loop.run_for(5s);
    }
    return base::fail(ErrorKind::Internal, "no end of it");
  }

  base::Task<base::Result<>> take(InstanceNotice notice) {
    notices.push_back(std::move(notice));
    co_return notice_answer;
  }

  base::VirtualLoop loop{kStart};
  FakeHttp http{loop};
  FakeCce cce{loop, http};
  FakeMachine machine;
  base::Metrics metrics;
  std::shared_ptr<model::NodeClass> the_class = cce_class();
  HuaweiSettings settings;
  PriceFile prices;
  std::vector<InstanceNotice> notices;
  base::Result<> notice_answer;
  std::unique_ptr<HuaweiCloud> cloud;
  std::unique_ptr<base::TaskGroup> background;
};

}  // namespace millwright::cloud::huawei

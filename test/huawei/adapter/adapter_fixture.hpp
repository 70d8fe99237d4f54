// The real adapter over real HTTP against test/huawei/facade.py, which verifies every signature.
// Run by `scripts/test huawei`, which starts the facade and names it in MILLWRIGHT_HUAWEI_FACADE.
#pragma once

#include "millwright/cloud/huawei.hpp"
#include "support/cloud_adapter.hpp"

namespace millwright::cloud {

namespace json = boost::json;
using base::ErrorKind;

inline constexpr std::string_view kSecret = "fakeHuaweiSecretKeyNotReal0123456789abcd";
inline constexpr std::string_view kAgencySecret = "fakeAgencySecretNotReal0123456789abcdefg";
inline constexpr std::string_view kPassword = "JDYkc2FsdCRoYXNo";

class HuaweiAdapter : public test::CloudAdapter {
 protected:
  HuaweiAdapter()
      : CloudAdapter("MILLWRIGHT_HUAWEI_FACADE",
                     {std::string(kSecret), std::string(kAgencySecret), std::string(kPassword)}) {}
  void SetUp() override {
    CloudAdapter::SetUp();
    if (url.empty()) {
      return;
    }
    environment = {{"HUAWEICLOUD_SDK_REGION_ID", "cn-north-4"},
                   {"HUAWEICLOUD_SDK_CCE_CLUSTER_ID", "b1c2d3e4-0000-1111-2222-333344445555"},
                   {"HUAWEICLOUD_SDK_AK", "HWFAKEACCESSKEY00001"},
                   {"HUAWEICLOUD_SDK_SK", std::string(kSecret)}};
    for (const std::string service : {"IAM", "CCE", "ECS", "VPC", "BSS"}) {
      environment["HUAWEICLOUD_SDK_" + service + "_ENDPOINT"] = url;
    }
    for (const std::string what : {"sold-out", "hostile"}) {
      control("/_facade/" + what, "{}");
    }
    control("/_facade/stale", R"({"seconds":0})");
    start();
  }
  void TearDown() override {
    CloudAdapter::TearDown();
    if (!url.empty()) {
      EXPECT_EQ(json::serialize(control("/_facade/ledger").at("bad_signatures")), "[]");
    }
  }

  base::Result<std::unique_ptr<Provider>> make() override {
    return make_huawei_cloud(thread.loop, *client, settings, lookup(), metrics,
                             base::Logger(records, "huawei"));
  }
  void start() {
    begin();
    resolve(cce_class());
    ASSERT_TRUE(wait_until([this] { return price_of("c9.large.4") == 0.64; })) << records->text();
  }
  // Once CCE has given the node up: another process leads, and looks at once.
  void start_anew_after_failure_of(const std::string& uid) {
    ASSERT_TRUE(wait_until([&] {
      EXPECT_TRUE(get(uid));
      return control("/_facade/nodes").at(uid).at("phase") == "Error";
    }));
    stop();
    start();
    ASSERT_TRUE(wait_until(
        [&] { return testing::Value(told(), testing::Contains("node_not_made " + uid)); }));
  }
  bool is_listed(std::string_view node_claim) {
    const auto listed = list();
    EXPECT_TRUE(listed) << listed.error().message;
    return listed && std::any_of(listed->begin(), listed->end(),
                                 [&](const auto& each) { return each.node_claim == node_claim; });
  }
  static std::shared_ptr<model::NodeClass> cce_class() {
    auto of = std::make_shared<model::NodeClass>();
    of->kind = "CCENodeClass";
    of->meta.name = "default";
    const json::object disk{{"volumeSize", 40}, {"volumeType", "SSD"}};
    const json::object password{{"username", "root"}, {"password", kPassword}};
    of->spec =
        json::object{{"subnetSelectorTerms", json::array{json::object{{"name", "nodes"}}}},
                     {"imsSelector", json::object{{"imsFamily", "Huawei Cloud EulerOS 2.0"}}},
                     {"blockDeviceMappings", json::object{{"root", disk}}},
                     {"login", json::object{{"userPassword", password}}}};
    return of;
  }
  static std::shared_ptr<model::NodeClaim> claim_named(const std::string& name,
                                                       std::vector<std::string> types) {
    auto claim = CloudAdapter::claim_named(name, std::move(types));
    require(*claim, model::kZoneLabel, {"cn-north-4a"});
    return claim;
  }

  HuaweiSettings settings;
};

}  // namespace millwright::cloud

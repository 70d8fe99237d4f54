// The RAM policy of docs/alibaba.md beside the calls that the peer server saw.
#include "adapter_fixture.hpp"
#include "support/documented_policy.hpp"

namespace millwright::cloud {
namespace {

TEST_F(AlibabaAdapter, ThePolicyOfTheDocumentationAllowsEveryCall) {
  start();
  const auto claim = claim_named("policy");
  const auto made = insist(claim);
  ASSERT_TRUE(made) << made.error().message;
  record(*claim, *made);
  EXPECT_TRUE(get(made->provider_id));
  EXPECT_TRUE(drift(claim));
  EXPECT_TRUE(remove(claim));
  // A class with an encrypted disk is not launched by a group. Images of the account are described.
  auto encrypted = ecs_class();
  encrypted->spec.as_object()["imageSelectorTerms"] = json::array{json::object{{"id", "m-own"}}};
  encrypted->spec.as_object()["systemDisk"] =
      json::object{{"category", "cloud_essd"}, {"encrypted", true}};
  resolve(encrypted);
  const auto second = insist(claim_named("policy-encrypted"));
  ASSERT_TRUE(second) << second.error().message;

  const auto allowed = test::documented_names("alibaba.md");
  const auto ledger = control("/_facade/ledger");
  const auto& calls = ledger.at("calls").as_object();
  for (const auto& [action, count] : calls) {
    const std::string name(action);
    if (name != "AssumeRoleWithOIDC") {  // the role's trust policy allows it
      EXPECT_TRUE(allowed.contains(name)) << name << " is called but not in docs/alibaba.md";
    }
  }
  for (const auto& name : allowed) {
    EXPECT_TRUE(calls.contains(name)) << name << " is in docs/alibaba.md and never called";
  }
}

}  // namespace
}  // namespace millwright::cloud

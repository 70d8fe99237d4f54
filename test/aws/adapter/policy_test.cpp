// The IAM policy of docs/aws.md beside the calls that AWS saw.
#include "adapter_fixture.hpp"
#include "support/documented_policy.hpp"

namespace millwright::cloud {
namespace {

TEST_F(Adapter, ThePolicyOfTheDocumentationAllowsEveryCall) {
  control("/_facade/placement-group", R"({"id":"pg-0e4f","name":"near","strategy":"cluster"})");
  zonal_shift = true;
  start();
  resolve({{"placementGroupSelector", {{"name", "near"}}}});
  wait_for_catalog();
  const auto claim = claim_named("policy", {"m5.large"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  claim->provider_id = made->provider_id;
  EXPECT_TRUE(remove(claim));
  control("/_facade/placement-group", R"({"id":"pg-0e4f","deleted":true})");
  lead();
  EXPECT_TRUE(wait_until([this] { return calls("DescribeInstanceStatus") > 0; }));
  const auto allowed = test::documented_names("aws.md");
  const auto ledger = control("/_facade/ledger");
  EXPECT_GT(ledger.at("calls").as_object().size(), 10U);
  for (const auto& [action, count] : ledger.at("calls").as_object()) {
    const std::string name = action.starts_with("GET /clusters/")           ? "DescribeCluster"
                             : action.starts_with("GET /managedresources/") ? "GetManagedResource"
                                                                            : std::string(action);
    if (name != "AssumeRoleWithWebIdentity") {  // the role's trust policy allows it
      EXPECT_TRUE(allowed.contains(name)) << name << " is called but not in docs/aws.md";
    }
  }
}

}  // namespace
}  // namespace millwright::cloud

// The IAM policy of docs/huawei.md beside the calls that the peer server saw.
#include "adapter_fixture.hpp"
#include "support/documented_policy.hpp"

namespace millwright::cloud {
namespace {

// By the peer server's names of calls.
const std::multimap<std::string, std::string, std::less<>> kActions{
    {"projects", "iam:projects:listProjects"},
    {"domains", ""},  // asked of a user's own account: every key may
    {"flavors", "ecs:cloudServerFlavors:get"},
    {"zones", "ecs:availabilityZones:list"},
    {"subnets", "vpc:subnets:get"},   // in policies of roles
    {"subnets", "vpc:subnets:list"},  // in identity policies
    {"prices", "bss:discount:view"},
    {"create", "cce:node:create"},
    {"list", "cce:node:list"},
    {"get", "cce:node:get"},
    {"delete", "cce:node:delete"},
    {"job", "cce:job:get"},
};

TEST_F(HuaweiAdapter, ThePolicyOfTheDocumentationAllowsEveryCall) {
  control("/_facade/fail", R"({"phase":"Error","reason":"no image"})");
  const auto claim = claim_named("policy", {"c9.large.4"});
  const auto made = insist(claim);
  ASSERT_TRUE(made) << made.error().message;
  record(*claim, *made);
  start_anew_after_failure_of(made->provider_id);
  EXPECT_TRUE(drift(claim));
  EXPECT_TRUE(remove(claim));

  const auto allowed = test::documented_actions("huawei.md");
  std::set<std::string> needed;
  const auto ledger = control("/_facade/ledger");
  for (const auto& [call, count] : ledger.at("calls").as_object()) {
    const auto [begin, end] = kActions.equal_range(call);
    EXPECT_TRUE(begin != end) << call << " has no action in this test's table";
    for (auto action = begin; action != end; ++action) {
      if (!action->second.empty()) {
        EXPECT_TRUE(allowed.contains(action->second)) << call << " needs " << action->second;
        needed.insert(action->second);
      }
    }
  }
  for (const auto& action : allowed) {
    EXPECT_TRUE(needed.contains(action)) << action << " is in docs/huawei.md and never needed";
  }
}

}  // namespace
}  // namespace millwright::cloud

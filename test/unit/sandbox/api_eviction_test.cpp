// Evictions and disruption budgets, as the API server alone judges them.
#include "unit/sandbox/api_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {
namespace {

using testing::HasSubstr;

constexpr const char* kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
constexpr const char* kEviction =
    R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web"}})";

class ApiEviction : public ApiFixture {
 protected:
  void make_running(const std::string& name) {
    post(kPods, pod_text(name, R"("labels":{"app":"web"})"));
    ASSERT_TRUE(server().bind({"default", name}, "n1").has_value());
    patch(std::string(kPods) + "/" + name + "/status",
          R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  }
  void make_budget(const std::string& name, int allowed) {
    post(kBudgets, R"({"metadata":{"name":")" + name +
                       R"("},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}})");
    patch(std::string(kBudgets) + "/" + name + "/status",
          R"({"status":{"observedGeneration":1,"currentHealthy":2,"desiredHealthy":1,
              "disruptionsAllowed":)" +
              std::to_string(allowed) + "}}");
  }
  Reply evict(const std::string& name) {
    return post(std::string(kPods) + "/" + name + "/eviction", kEviction);
  }
};

TEST_F(ApiEviction, WithoutABudgetAPodIsDeletedGracefully) {
  make_running("web");
  EXPECT_EQ(evict("web").status, 201);
  EXPECT_NE(get(std::string(kPods) + "/web").at("metadata.deletionTimestamp"), "");
}

TEST_F(ApiEviction, AnAllowanceIsSpentOnce) {
  make_running("web");
  make_running("web-2");
  make_budget("guard", 1);
  EXPECT_EQ(evict("web").status, 201);
  const auto refused = evict("web-2");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.at("reason"), "TooManyRequests");
  EXPECT_THAT(refused.at("details.causes"), HasSubstr("The disruption budget guard needs 1"));
  EXPECT_EQ(get(std::string(kPods) + "/web-2").at("metadata.deletionTimestamp"), "");
}

TEST_F(ApiEviction, TwoBudgetsOverOnePodAreAnError) {
  make_running("web");
  make_budget("one", 1);
  make_budget("two", 1);
  EXPECT_EQ(evict("web").status, 500);
}

TEST_F(ApiEviction, ABudgetThatIsNotUpToDateRefuses) {
  make_running("web");
  make_budget("guard", 1);
  patch(std::string(kBudgets) + "/guard", R"({"spec":{"minAvailable":2}})");
  const auto refused = evict("web");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.get("Retry-After"), "10");
}

TEST_F(ApiEviction, APodThatDoesNotRunYetIsNobodysBudget) {
  post(kPods, pod_text("web", R"("labels":{"app":"web"})"));
  make_budget("guard", 0);
  EXPECT_EQ(evict("web").status, 201);
  EXPECT_EQ(get(std::string(kPods) + "/web").status, 404);
}

TEST_F(ApiEviction, AnotherUidIsAConflict) {
  make_running("web");
  const auto refused = post(std::string(kPods) + "/web/eviction",
                            R"({"deleteOptions":{"preconditions":{"uid":"other"}}})");
  EXPECT_EQ(refused.status, 409);
}

}  // namespace
}  // namespace millwright::sandbox

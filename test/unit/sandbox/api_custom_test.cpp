// Karpenter's kinds: schema, warnings, printer columns; and the tables of built-in kinds.
#include "unit/sandbox/api_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

class ApiCustom : public ApiFixture {
 protected:
  // Cells of the default columns, by column name.
  std::map<std::string, std::string> row(const std::string& target) {
    const auto table = call("GET", target, {}, {}, kTable);
    std::map<std::string, std::string> cells;
    const auto& columns = table.body.at("columnDefinitions").as_array();
    const auto& values = table.body.at("rows").at(0).at("cells").as_array();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      cells[text_at(columns[i], "name")] = values[i].is_string()
                                               ? std::string(values[i].get_string())
                                               : boost::json::serialize(values[i]);
    }
    return cells;
  }
};

TEST_F(ApiCustom, DefaultsComeFromTheSchema) {
  const auto pool = post(kNodePools, node_pool_text("general"));
  EXPECT_EQ(pool.status, 201);
  EXPECT_EQ(pool.at("spec.disruption.consolidationPolicy"), "WhenEmptyOrUnderutilized");
  EXPECT_EQ(pool.at("spec.template.spec.expireAfter"), "720h");
}

TEST_F(ApiCustom, UnknownFieldsAreDroppedWithAWarning) {
  auto body = boost::json::parse(node_pool_text("general"));
  body.at("spec").as_object()["colour"] = "red";
  const auto text = boost::json::serialize(body);
  const auto strict = post(std::string(kNodePools) + "?fieldValidation=Strict", text);
  EXPECT_EQ(strict.status, 400);
  EXPECT_THAT(strict.at("message"), HasSubstr("unknown field \"spec.colour\""));
  const auto warned = post(kNodePools, text);
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(warned.headers.get("Warning"), R"(299 - "unknown field \"spec.colour\"")");
  EXPECT_EQ(warned.at("spec.colour"), "");
}

TEST_F(ApiCustom, TheSchemasRulesAreEnforced) {
  auto body = boost::json::parse(node_pool_text("general"));
  body.at("spec").as_object()["weight"] = 1000;
  const auto refused = post(kNodePools, boost::json::serialize(body));
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.at("message"), HasSubstr("spec.weight"));
  EXPECT_EQ(refused.at("details.kind"), "NodePool");
}

TEST_F(ApiCustom, NodePoolsPrintTheirColumns) {
  post(kNodePools, node_pool_text("general"));
  patch(std::string(kNodePools) + "/general/status",
        R"({"status":{"nodes":3,"conditions":[{"type":"Ready","status":"True","reason":"Ready",
            "message":"","lastTransitionTime":"2026-03-02T10:00:00Z"}]}})");
  loop.run_for(std::chrono::minutes(5));
  const auto cells = row(std::string(kNodePools) + "/general");
  EXPECT_EQ(cells.at("Name"), "general");
  EXPECT_EQ(cells.at("NodeClass"), "default");
  EXPECT_EQ(cells.at("Nodes"), "3");
  EXPECT_EQ(cells.at("Ready"), "True");
  EXPECT_EQ(cells.at("Age"), "5m");
}

TEST_F(ApiCustom, PodsPrintAsKubectlShowsThem) {
  post(kPods, pod_text("web"));
  auto cells = row(std::string(kPods) + "/web");
  EXPECT_EQ(cells.at("Ready"), "0/1");
  EXPECT_EQ(cells.at("Status"), "Pending");
  EXPECT_EQ(cells.at("Node"), "<none>");
  ASSERT_TRUE(server().bind({"default", "web"}, "n1").has_value());
  call("DELETE", std::string(kPods) + "/web");
  EXPECT_EQ(row(std::string(kPods) + "/web").at("Status"), "Terminating");
}

TEST_F(ApiCustom, NodesPrintTheirReadinessAndCordon) {
  post("/api/v1/nodes", R"({"metadata":{"name":"n1"},"spec":{"unschedulable":true},
      "status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  const auto cells = row("/api/v1/nodes/n1");
  EXPECT_EQ(cells.at("Status"), "Ready,SchedulingDisabled");
  EXPECT_EQ(cells.at("Roles"), "<none>");
}

TEST_F(ApiCustom, AWatchOfTablesSendsItsColumnsOnce) {
  net::Request request;
  request.target = std::string(kPods) + "?watch=1";
  request.headers.set("Accept", kTable);
  auto exchange = std::make_shared<TestExchange>();
  server().handle(request, exchange);
  post(kPods, pod_text("a"));
  post(kPods, pod_text("b"));
  const auto events = TestWatch(exchange).raw();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(text_at(events[0], "object.kind"), "Table");
  EXPECT_FALSE(events[0].at("object").at("columnDefinitions").as_array().empty());
  EXPECT_TRUE(events[1].at("object").at("columnDefinitions").as_array().empty());
}

TEST_F(ApiCustom, DiscoveryNamesEveryKindWithItsShortNames) {
  const auto core = get("/api/v1");
  EXPECT_EQ(core.at("kind"), "APIResourceList");
  bool found = false;
  for (const auto& resource : core.body.at("resources").as_array()) {
    if (text_at(resource, "name") == "pods") {
      found = true;
      EXPECT_EQ(text_at(resource, "shortNames"), R"(["po"])");
    }
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(get("/apis/karpenter.sh").at("preferredVersion.groupVersion"), "karpenter.sh/v1");
  EXPECT_EQ(get("/apis").at("kind"), "APIGroupList");
  EXPECT_EQ(get("/version").at("minor"), "32");
  EXPECT_EQ(get("/apis/nothing.example.com/v1").status, 404);
  EXPECT_EQ(get("/openapi/v3/apis/apps/v1").status, 200);
}

}  // namespace
}  // namespace millwright::sandbox

#include "cluster_builder.hpp"

namespace millwright::disruption {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(Consolidatable, BeginsWhenNothingChangedForConsolidateAfter) {
  struct Case {
    const char* name;
    std::string after;
    std::optional<base::TimePoint> last_pod_event;
    bool initialized;
    bool value;
    std::optional<base::TimePoint> next;
  };
  const std::vector<Case> cases{
      {"at once", "0s", kNow, true, true, std::nullopt},
      {"still waiting", "30s", kNow - seconds(10), true, false, kNow + seconds(20)},
      {"just over", "30s", kNow - seconds(30), true, true, std::nullopt},
      {"from initialisation without pods", "48h", std::nullopt, true, false,
       kLongAgo + std::chrono::hours(48)},
      {"longer than there is time", "2562047h", kNow, true, false, std::nullopt},
      {"never", "Never", kLongAgo, true, false, std::nullopt},
      {"absent", "", kLongAgo, true, false, std::nullopt},
      {"unreadable", "soon", kLongAgo, true, false, std::nullopt},
      {"not initialised", "0s", kLongAgo, false, false, std::nullopt},
  };
  for (const auto& test : cases) {
    Cluster cluster;
    auto& claim = *cluster.add_node("a").claim;
    claim.last_pod_event_time = test.last_pod_event;
    if (!test.initialized) {
      claim.conditions.pop_back();
    }
    cluster.pool().consolidate_after.text = test.after;
    const auto result = consolidatable(claim, cluster.pool(), kNow);
    EXPECT_EQ(result.value, test.value) << test.name;
    EXPECT_EQ(result.next, test.next) << test.name;
  }
}

TEST(Consolidatable, IsNeverTrueForAPoolOfFixedSize) {
  Cluster cluster;
  auto& claim = *cluster.add_node("a").claim;
  cluster.pool().replicas = 3;
  EXPECT_FALSE(consolidatable(claim, cluster.pool(), kNow).value);
}

TEST(DriftReason, ComparesHashesThenRequirements) {
  struct Case {
    const char* name;
    std::map<std::string, std::string> claim;
    std::map<std::string, std::string> pool;
    std::vector<model::SelectorRequirement> requirements;
    const char* expected;
  };
  const std::string hash(model::kNodePoolHashAnnotation);
  const std::string version(model::kNodePoolHashVersionAnnotation);
  const std::string zone(model::kZoneLabel);
  using enum model::Operator;
  const std::vector<Case> cases{
      {"equal", {{hash, "1"}, {version, "v3"}}, {{hash, "1"}, {version, "v3"}}, {}, ""},
      {"changed",
       {{hash, "1"}, {version, "v3"}},
       {{hash, "2"}, {version, "v3"}},
       {},
       "NodePoolDrifted"},
      {"another version", {{hash, "1"}, {version, "v2"}}, {{hash, "2"}, {version, "v3"}}, {}, ""},
      {"no hash on the claim", {{version, "v3"}}, {{hash, "2"}, {version, "v3"}}, {}, ""},
      {"no version", {{hash, "1"}}, {{hash, "2"}}, {}, ""},
      {"label allowed", {}, {}, {{zone, In, {"a", "b"}}}, ""},
      {"label no longer allowed", {}, {}, {{zone, In, {"b"}}}, "RequirementsDrifted"},
      {"label missing", {}, {}, {{"example.com/team", In, {"x"}}}, "RequirementsDrifted"},
      {"label missing and forbidden", {}, {}, {{"example.com/team", DoesNotExist, {}}}, ""},
      {"hash before requirements",
       {{hash, "1"}, {version, "v3"}},
       {{hash, "2"}, {version, "v3"}},
       {{zone, In, {"b"}}},
       "NodePoolDrifted"},
  };
  for (const auto& test : cases) {
    Cluster cluster;
    auto& claim = *cluster.add_node("a").claim;
    claim.meta.annotations = {test.claim.begin(), test.claim.end()};
    cluster.pool().meta.annotations = {test.pool.begin(), test.pool.end()};
    cluster.pool().template_.requirements = test.requirements;
    EXPECT_EQ(drift_reason(claim, cluster.pool()), test.expected) << test.name;
    claim.conditions.clear();
    EXPECT_EQ(drift_reason(claim, cluster.pool()), "") << test.name << ", before it is launched";
  }
}

TEST(SaleDrift, IsThatWhatRunsIsNoLongerSold) {
  const auto type = [](std::string name, std::vector<std::pair<std::string, std::string>> sold) {
    scheduling::InstanceType result;
    result.name = std::move(name);
    for (auto& [zone, capacity_type] : sold) {
      scheduling::Offering offering;
      offering.requirements.add(scheduling::Requirement::in(model::kZoneLabel, {zone}));
      offering.requirements.add(
          scheduling::Requirement::in(model::kCapacityTypeLabel, {capacity_type}));
      offering.available = false;  // that it is sold out is no reason to leave
      result.offerings.push_back(std::move(offering));
    }
    return result;
  };
  struct Case {
    std::string name;
    std::string capacity_type;
    std::chrono::minutes age;
    std::vector<scheduling::InstanceType> types;
    std::string expected;
  };
  constexpr auto kOld = std::chrono::minutes(60);
  const std::string gone = "InstanceTypeNotFound";
  const std::vector<Case> cases{
      {"sold", "spot", kOld, {type("t", {{"a", "spot"}})}, ""},
      {"no such type", "spot", kOld, {type("u", {{"a", "spot"}})}, gone},
      {"in its first hour", "spot", kOld - std::chrono::minutes(1), {type("u", {})}, ""},
      {"in another zone", "spot", kOld, {type("t", {{"b", "spot"}})}, gone},
      {"of another kind", "spot", kOld, {type("t", {{"a", "on-demand"}})}, gone},
      {"reserved, on demand now", "reserved", kOld, {type("t", {{"a", "on-demand"}})}, ""},
      {"reserved, spot only", "reserved", kOld, {type("t", {{"a", "spot"}})}, gone},
      {"nothing is known", "spot", kOld, {}, ""},
  };
  constexpr base::TimePoint kNow{std::chrono::hours(24) * 20000};
  for (const auto& test : cases) {
    model::NodeClaim claim;
    claim.meta.creation_timestamp = kNow - test.age;
    claim.meta.labels = {{std::string(model::kInstanceTypeLabel), "t"},
                         {std::string(model::kZoneLabel), "a"},
                         {std::string(model::kCapacityTypeLabel), test.capacity_type}};
    const auto types = std::make_shared<const std::vector<scheduling::InstanceType>>(test.types);
    EXPECT_EQ(sale_drift_reason(claim, types, kNow), test.expected) << test.name;
  }
}

}  // namespace
}  // namespace millwright::disruption

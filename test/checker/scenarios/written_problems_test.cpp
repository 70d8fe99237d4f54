#include "checker/files/scenario.hpp"
#include "checker/plan/random_world.hpp"

#include <gtest/gtest.h>

namespace millwright::checker {
namespace {

double price(const scheduling::Plan& plan) {
  double sum = 0;
  for (const auto& claim : plan.claims) {
    sum += claim.price;
  }
  return sum;
}

// Compared by what the planner makes of both: every field that matters to it must have survived.
TEST(WrittenProblems, AreReadBackAsTheyWere) {
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    scheduling::Problem made = random_world(seed);
    made.kept.clear();
    const auto read = read_scenario(write_scenario(made, "a random problem"));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->title, "a random problem");
    const auto before = scheduling::solve(made);
    const auto after = scheduling::solve(read->problem);
    EXPECT_EQ(before.refusals.size(), after.refusals.size());
    EXPECT_EQ(before.claims.size(), after.claims.size());
    EXPECT_DOUBLE_EQ(price(before), price(after));
    ASSERT_EQ(before.placements.size(), after.placements.size());
    for (std::size_t i = 0; i < before.placements.size(); ++i) {
      EXPECT_EQ(before.placements[i].pod_uid, after.placements[i].pod_uid);
      EXPECT_EQ(before.placements[i].target, after.placements[i].target);
    }
  }
}

TEST(WrittenProblems, KeepHowManyVolumesATypeAttaches) {
  scheduling::Problem made = random_world(1);
  auto types = *made.pools.front().types;
  types.front().volume_limits["disk.example.com"] = 24;
  const auto shared = std::make_shared<const std::vector<scheduling::InstanceType>>(types);
  for (auto& option : made.pools) {
    option.types = shared;
  }
  const auto read = read_scenario(write_scenario(made, "volumes"));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  for (const auto& type : *read->problem.pools.front().types) {
    const scheduling::VolumeCounts expected =
        type.name == types.front().name ? types.front().volume_limits : scheduling::VolumeCounts{};
    EXPECT_EQ(type.volume_limits, expected) << type.name;
  }
}

// One of each kind, and each of its fields once.
TEST(WrittenProblems, KeepDevicesAndClaims) {
  scheduling::Problem made = random_world(1);
  auto snapshot = std::make_shared<scheduling::Snapshot>(*made.cluster);
  const auto add = [](auto& list, auto item) {
    list.push_back(std::make_shared<const decltype(item)>(std::move(item)));
  };
  const auto named = [](std::string name) {
    model::ObjectMeta meta;
    meta.name = std::move(name);
    meta.namespace_ = "default";
    return meta;
  };
  add(snapshot->device_classes,
      model::DeviceClass{.meta = named("gpu"), .selectors = {"device.driver == 'd.example.com'"}});
  const model::ResourceClaimSpec spec{
      .requests =
          {{.name = "a", .class_name = "gpu", .selectors = {"true"}, .count = 2},
           {.name = "b", .class_name = "gpu", .allocation_mode = "All", .admin_access = true},
           {.name = "c", .class_name = "gpu", .asks_capacity = true},
           {.name = "d",
            .first_available = {{.name = "x", .class_name = "gpu", .count = 8},
                                {.name = "y", .class_name = "gpu"}}}},
      .constrained = true};
  auto of_pod = named("claim");
  of_pod.owner_references = {
      {.api_version = "v1", .kind = "Pod", .name = "p", .uid = "p", .controller = true}};
  add(snapshot->resource_claims,
      model::ResourceClaim{
          .meta = of_pod,
          .spec = spec,
          .allocated = true,
          .devices =
              {{.driver = "d.example.com", .pool = "n", .device = "0"},
               {.driver = "d.example.com", .pool = "n", .device = "1", .admin_access = true}},
          .node_terms = {{.match_fields = {{"metadata.name", model::Operator::In, {"n"}}}}},
          .reserved_for = {"p"}});
  add(snapshot->resource_claims, model::ResourceClaim{.meta = named("free"), .spec = spec});
  add(snapshot->resource_claim_templates,
      model::ResourceClaimTemplate{.meta = named("template"), .spec = spec});
  const std::vector<model::Device> devices{
      {.name = "0",
       .attributes = {{"d.example.com/flag", true},
                      {"d.example.com/number", std::int64_t{7}},
                      {"d.example.com/text", std::string("t")},
                      {"d.example.com/version", model::DeviceVersion{"1.2.3"}}},
       .capacity = {{"d.example.com/memory", model::Quantity::from_units(80)}}},
      {.name = "1", .consumes_counters = true, .multiple_allocations = true, .tainted = true}};
  add(snapshot->resource_slices, model::ResourceSlice{.meta = named("s"),
                                                      .driver = "d.example.com",
                                                      .pool = "n",
                                                      .generation = 3,
                                                      .slices_in_pool = 2,
                                                      .node_name = "n",
                                                      .devices = devices});
  add(snapshot->resource_slices,
      model::ResourceSlice{.meta = named("t"),
                           .driver = "d.example.com",
                           .pool = "shared",
                           .devices = {{.name = "2", .chooses_nodes = true}}});
  made.cluster = snapshot;
  made.options.resource_claims = true;
  made.options.device_templates =
      std::make_shared<const std::vector<model::DeviceTemplate>>(std::vector<model::DeviceTemplate>{
          {.driver = "d.example.com",
           .node_terms = {{.match_expressions = {{"zone", model::Operator::In, {"a"}}}}},
           .devices = devices}});

  const auto read = read_scenario(write_scenario(made, "devices"));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const auto& back = *read->problem.cluster;
  const auto expect_same = [](const auto& before, const auto& after) {
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(*before[i], *after[i]) << before[i]->meta.name;
    }
  };
  expect_same(snapshot->device_classes, back.device_classes);
  expect_same(snapshot->resource_claims, back.resource_claims);
  expect_same(snapshot->resource_claim_templates, back.resource_claim_templates);
  expect_same(snapshot->resource_slices, back.resource_slices);
  EXPECT_TRUE(read->problem.options.resource_claims);
  ASSERT_NE(read->problem.options.device_templates, nullptr);
  EXPECT_EQ(*read->problem.options.device_templates, *made.options.device_templates);
}

TEST(WrittenProblems, ABadLineIsAnError) {
  EXPECT_FALSE(read_scenario("{\"kind\": \"Pod\", \"spec\": 7}\n").has_value());
  EXPECT_FALSE(read_scenario("{\"kind\": \"Lease\"}\n").has_value());
  EXPECT_FALSE(read_scenario("{\"kind\": ").has_value());
}

}  // namespace
}  // namespace millwright::checker

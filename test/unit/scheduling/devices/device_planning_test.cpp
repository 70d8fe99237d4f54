// Pods with resource claims in plans: KEP-4381, as Karpenter plans them with
// --ignore-dra-requests=false.
#include "checker/plan/checker.hpp"
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kGpuDriver = "gpu.example.com";

model::Device gpu(std::string name, std::string_view memory = "40Gi") {
  model::Device device;
  device.name = std::move(name);
  device.attributes["gpu.example.com/model"] = std::string("x1");
  device.capacity["gpu.example.com/memory"] = quantity(memory);
  return device;
}

std::vector<model::Device> gpus(int count, std::string_view memory = "40Gi") {
  std::vector<model::Device> devices;
  for (int i = 0; i < count; ++i) {
    devices.push_back(gpu("gpu-" + std::to_string(i), memory));
  }
  return devices;
}

model::DeviceRequest request(std::int64_t count = 1, std::vector<std::string> selectors = {}) {
  return {.name = "r",
          .class_name = "gpu",
          .selectors = std::move(selectors),
          .count = count,
          .first_available = {}};
}

const std::string kBig =
    R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0)";

class DevicePlanningTest : public ::testing::Test {
 protected:
  DevicePlanningTest() {
    auto device_class = std::make_shared<model::DeviceClass>();
    device_class->meta.name = "gpu";
    device_class->selectors = {R"(device.driver == "gpu.example.com")"};
    world_->device_classes.push_back(device_class);
    problem_.with([](Problem& problem) { problem.options.resource_claims = true; });
  }

  void claim_template(const std::string& name, model::ResourceClaimSpec spec) {
    auto item = std::make_shared<model::ResourceClaimTemplate>();
    item->meta.name = name;
    item->meta.namespace_ = "default";
    item->spec = std::move(spec);
    world_->resource_claim_templates.push_back(item);
  }
  void claim_template(const std::string& name, const model::DeviceRequest& asked) {
    claim_template(name, model::ResourceClaimSpec{{asked}});
  }
  template <class Edit>
  void claim(const std::string& name, Edit edit) {
    auto item = std::make_shared<model::ResourceClaim>();
    item->meta.name = name;
    item->meta.namespace_ = "default";
    item->spec.requests = {request()};
    edit(*item);
    world_->resource_claims.push_back(item);
  }
  void publish(const std::string& node, std::vector<model::Device> devices,
               std::int64_t slices_in_pool = 1) {
    auto slice = std::make_shared<model::ResourceSlice>();
    slice->meta.name = node + "-slice-" + std::to_string(world_->resource_slices.size());
    slice->driver = kGpuDriver;
    slice->pool = node;
    slice->node_name = node;
    slice->generation = 1;
    slice->slices_in_pool = slices_in_pool;
    slice->devices = std::move(devices);
    world_->resource_slices.push_back(slice);
  }
  // What nodes of the type are known to have.
  void types_have(std::map<std::string, std::vector<model::Device>> devices) {
    PublishedDevices published;
    for (auto& [type, list] : devices) {
      for (model::Device& device : list) {
        published[type].push_back({std::string(kGpuDriver), std::move(device)});
      }
    }
    world_->published_devices = std::make_shared<const PublishedDevices>(std::move(published));
  }

  static PodBuilder with_template(const std::string& name, const std::string& of) {
    return pod(name).cpu("100m").with([&](model::Pod& p) {
      p.spec.resource_claims.push_back({.name = "gpu", .claim_name = {}, .template_name = of});
    });
  }
  static PodBuilder with_claim(const std::string& name, const std::string& of) {
    return pod(name).cpu("100m").with([&](model::Pod& p) {
      p.spec.resource_claims.push_back({.name = "gpu", .claim_name = of, .template_name = {}});
    });
  }

  // One that keeps to the rules of Kubernetes.
  Plan plan() {
    problem_.with([this](Problem& problem) {
      problem.cluster = world_;
      problem.pools.clear();
    });
    const Plan result = problem_.add(pool("default"), three_sizes()).solve();
    EXPECT_THAT(checker::violations(problem_.problem(), result), IsEmpty());
    return result;
  }

  std::shared_ptr<Snapshot> world_ = std::make_shared<Snapshot>();
  ProblemBuilder problem_;
};

TEST_F(DevicePlanningTest, BuysATypeThatHasTheDevice) {
  types_have({{"large", gpus(1)}});
  claim_template("one", request());
  problem_.add(with_template("p", "one"));
  const Plan result = plan();
  ASSERT_THAT(result.claims, SizeIs(1));
  EXPECT_THAT(values_of(result.claims[0], model::kInstanceTypeLabel), ElementsAre("large"));
  // Kubelets know of no such resource; drivers have to be there before the node is initialised.
  EXPECT_THAT(result.claims[0].requests,
              ::testing::Not(::testing::Contains(::testing::Key(HasSubstr("devices of")))));
  EXPECT_EQ(result.claims[0].annotations.at("karpenter.sh/requested-dra-drivers"), kGpuDriver);
}

TEST_F(DevicePlanningTest, PodsShareANodeWhileItHasDevices) {
  types_have({{"large", gpus(2)}});
  claim_template("one", request());
  for (const char* name : {"a", "b", "c"}) {
    problem_.add(with_template(name, "one"));
  }
  const Plan result = plan();
  EXPECT_THAT(result.claims, SizeIs(2));
  EXPECT_THAT(result.refusals, IsEmpty());
}

TEST_F(DevicePlanningTest, OthersMayTakeTheRoomBesideThem) {
  types_have({{"large", gpus(1)}});
  claim_template("one", request());
  problem_.add(with_template("a", "one")).add(pods(5, "plain", pod("plain").cpu("1")));
  EXPECT_THAT(plan().claims, SizeIs(1));
}

TEST_F(DevicePlanningTest, DevicesOfTemplatesCountWhereNoneArePublished) {
  auto templates = std::make_shared<std::vector<model::DeviceTemplate>>();
  templates->push_back(
      {std::string(kGpuDriver),
       {{{need(model::kInstanceTypeLabel, Operator::In, {"medium", "large"})}, {}}},
       gpus(1)});
  problem_.with([&](Problem& problem) { problem.options.device_templates = templates; });
  claim_template("one", request());
  problem_.add(with_template("p", "one"));
  const auto bought = [this] {
    const Plan result = plan();
    return result.claims.empty() ? std::vector<std::string>()
                                 : values_of(result.claims[0], model::kInstanceTypeLabel);
  };
  EXPECT_THAT(bought(), ElementsAre("large", "medium"));

  model::Device broken = gpu("gpu-0");
  broken.tainted = true;
  types_have({{"medium", {broken}}});
  EXPECT_THAT(bought(), ElementsAre("large"));
}

TEST_F(DevicePlanningTest, SelectorsOfRequestsChoose) {
  types_have({{"small", gpus(1, "40Gi")}, {"large", gpus(1, "80Gi")}});
  claim_template("any", request());
  claim_template("big", request(1, {kBig}));
  problem_.add(with_template("a", "any")).add(with_template("b", "big"));
  const Plan result = plan();
  ASSERT_THAT(result.claims, SizeIs(2));
  EXPECT_THAT(values_of(*claim_of(result, "b"), model::kInstanceTypeLabel), ElementsAre("large"));
  // Cheapest first: it takes what it can get.
  EXPECT_EQ(claim_of(result, "a")->instance_types.front(), "small");
}

// One big device answers both: the two pods do not fit on it together.
TEST_F(DevicePlanningTest, ADeviceThatAnswersTwoKindsServesOne) {
  types_have({{"large", {gpu("a", "80Gi"), gpu("b", "40Gi")}}});
  claim_template("any", request());
  claim_template("big", request(1, {kBig}));
  problem_.add(with_template("a", "any")).add(with_template("b", "big"));
  EXPECT_THAT(plan().claims, SizeIs(1));

  problem_.add(with_template("c", "big"));
  EXPECT_THAT(plan().claims, SizeIs(2));
}

TEST_F(DevicePlanningTest, TheFirstAlternativeThatCanBeHad) {
  types_have({{"small", gpus(1, "40Gi")}, {"large", gpus(2, "40Gi")}});
  model::DeviceRequest either;
  either.name = "r";
  either.first_available = {request(1, {kBig}), request(2)};
  claim_template("either", either);
  problem_.add(with_template("p", "either"));
  const Plan result = plan();
  ASSERT_THAT(result.claims, SizeIs(1));
  EXPECT_THAT(values_of(result.claims[0], model::kInstanceTypeLabel), ElementsAre("large"));
}

// The better device is on a type that the pod cannot use.
TEST_F(DevicePlanningTest, TheNextAlternativeWhereTheFirstFindsNoPlace) {
  types_have({{"small", gpus(1, "40Gi")}, {"large", gpus(1, "80Gi")}});
  model::DeviceRequest either;
  either.name = "r";
  either.first_available = {request(1, {kBig}), request(1)};
  claim_template("either", either);
  problem_.add(with_template("free", "either"))
      .add(with_template("bound", "either").selects(model::kInstanceTypeLabel, "small"));
  const Plan result = plan();
  ASSERT_THAT(result.claims, SizeIs(2));
  EXPECT_THAT(values_of(*claim_of(result, "free"), model::kInstanceTypeLabel),
              ElementsAre("large"));
  EXPECT_THAT(values_of(*claim_of(result, "bound"), model::kInstanceTypeLabel),
              ElementsAre("small"));
}

TEST_F(DevicePlanningTest, DevicesOfNodesComeFirst) {
  types_have({{"large", gpus(1)}});
  claim_template("one", request());
  problem_.add(node("n"));
  publish("n", gpus(1));
  problem_.add(with_template("a", "one")).add(with_template("b", "one"));
  const Plan result = plan();
  EXPECT_EQ(place_of(result, "a"), "n");
  EXPECT_EQ(place_of(result, "b"), "claim 0");
}

TEST_F(DevicePlanningTest, WhatIsTakenIsNotGivenAgain) {
  struct Case {
    std::string name;
    std::vector<std::string> reserved_for;
    bool admin_access = false;
    std::string place;
  };
  const std::vector<Case> cases = {
      {"in use", {"other"}, false, ""},
      {"nobody's any more", {}, false, "n"},
      {"only looked at", {"other"}, true, "n"},
  };
  for (const Case& c : cases) {
    world_->resource_claims.clear();
    world_->resource_claim_templates.clear();
    world_->resource_slices.clear();
    problem_.with([](Problem& problem) {
      problem.pods.clear();
      problem.nodes.clear();
    });
    claim("theirs", [&](model::ResourceClaim& claim) {
      claim.allocated = true;
      claim.devices = {{std::string(kGpuDriver), "n", "gpu-0", c.admin_access}};
      claim.reserved_for = c.reserved_for;
    });
    claim_template("one", request());
    problem_.add(node("n"));
    publish("n", gpus(1));
    problem_.add(with_template("p", "one"));
    EXPECT_EQ(place_of(plan(), "p"), c.place) << c.name;
  }
}

TEST_F(DevicePlanningTest, OnlyCompletePoolsOfTheNewestGenerationCount) {
  claim_template("one", request());
  problem_.add(node("n")).add(with_template("p", "one"));
  publish("n", gpus(1), 2);
  EXPECT_THAT(place_of(plan(), "p"), IsEmpty()) << "one slice of two";

  publish("n", {gpu("gpu-1")}, 2);
  EXPECT_EQ(place_of(plan(), "p"), "n") << "both";

  auto newer = std::make_shared<model::ResourceSlice>(*world_->resource_slices.front());
  newer->meta.name = "n-slice-newer";
  newer->generation = 2;
  world_->resource_slices.push_back(newer);
  EXPECT_THAT(place_of(plan(), "p"), IsEmpty()) << "one slice of the next two";
}

TEST_F(DevicePlanningTest, ANodeThatStartsWillHaveWhatItsTypeHas) {
  types_have({{"large", gpus(1)}, {"small", {}}});
  claim_template("one", request());
  const auto starting = [](const std::string& name) {
    return node(name).uninitialized().label(model::kInstanceTypeLabel, "large");
  };
  problem_.add(starting("n")).add(with_template("p", "one"));
  EXPECT_EQ(place_of(plan(), "p"), "n");

  // What a driver says of it counts, once it says anything.
  publish("n", {});
  EXPECT_EQ(place_of(plan(), "p"), "claim 0");
}

TEST_F(DevicePlanningTest, AClaimInFlightHasWhatAllItsTypesHave) {
  claim_template("one", request());
  const auto in_flight = node("n").without_node().with_claim([](model::NodeClaim& claim) {
    claim.requirements = {need(model::kInstanceTypeLabel, Operator::In, {"medium", "large"})};
  });
  problem_.add(in_flight).add(with_template("p", "one"));
  types_have({{"large", gpus(1)}, {"medium", gpus(2)}});
  EXPECT_EQ(place_of(plan(), "p"), "claim-n");

  types_have({{"large", gpus(1)}});
  EXPECT_EQ(place_of(plan(), "p"), "claim 0");
}

TEST_F(DevicePlanningTest, RoomThatIsKeptKeepsItsDevices) {
  types_have({{"large", gpus(1)}});
  claim_template("one", request());
  problem_.add(node("n"));
  publish("n", gpus(1));
  const PodPtr earlier = with_template("earlier", "one");
  problem_.with([&](Problem& problem) {
    problem.kept.push_back({.target = "n",
                            .pod_uid = {},
                            .requests = resources({{"cpu", "100m"}, {"pods", "1"}}),
                            .sample = earlier,
                            .pods = 1});
  });
  problem_.add(with_template("p", "one"));
  EXPECT_EQ(place_of(plan(), "p"), "claim 0");
}

TEST_F(DevicePlanningTest, ANamedClaimThatIsAllocated) {
  struct Case {
    std::string name;
    model::NodeSelectorTerm term;
    std::string place;
    std::string refusal;
  };
  const std::vector<Case> cases = {
      {"devices of one node",
       {{}, {need("metadata.name", Operator::In, {"elsewhere"})}},
       "",
       "can run on no other"},
      {"devices of a zone",
       {{need(model::kZoneLabel, Operator::In, {"test-zone-1"})}, {}},
       "n",
       ""},
      {"devices of another zone",
       {{need(model::kZoneLabel, Operator::In, {"test-zone-3"})}, {}},
       "claim 0",
       ""},
  };
  for (const Case& c : cases) {
    world_->resource_claims.clear();
    problem_.with([](Problem& problem) {
      problem.pods.clear();
      problem.nodes.clear();
    });
    claim("mine", [&](model::ResourceClaim& claim) {
      claim.allocated = true;
      claim.node_terms = {c.term};
      claim.reserved_for = {"other"};
    });
    problem_.add(node("n")).add(with_claim("p", "mine"));
    const Plan result = plan();
    EXPECT_EQ(place_of(result, "p"), c.place) << c.name;
    EXPECT_THAT(c.refusal.empty() ? "" : refusal(result, "p")->reason, HasSubstr(c.refusal))
        << c.name;
  }
}

// The second would otherwise buy a machine for devices that the first one will bring along.
TEST_F(DevicePlanningTest, AClaimOfSeveralPodsIsBoughtForOne) {
  types_have({{"large", gpus(2)}});
  claim("shared", [](model::ResourceClaim&) {});
  problem_.add(with_claim("a", "shared")).add(with_claim("b", "shared"));
  const Plan result = plan();
  EXPECT_THAT(result.claims, SizeIs(1));
  ASSERT_NE(refusal(result, "b"), nullptr);
  EXPECT_THAT(refusal(result, "b")->reason, HasSubstr("follows the first of them"));
}

// It takes its devices along when its node goes; what others use too stays, and so does it.
TEST_F(DevicePlanningTest, ABoundPodMovesUnlessOthersUseItsClaim) {
  types_have({{"large", gpus(1)}});
  for (const bool shared : {false, true}) {
    world_->resource_claims.clear();
    problem_.with([](Problem& problem) { problem.pods.clear(); });
    claim("mine", [&](model::ResourceClaim& claim) {
      claim.allocated = true;
      claim.devices = {{std::string(kGpuDriver), "old", "gpu-0", false}};
      claim.node_terms = {{{}, {need("metadata.name", Operator::In, {"old"})}}};
      claim.reserved_for = {"p"};
      if (shared) {
        claim.reserved_for.push_back("other");
      }
    });
    problem_.add(with_claim("p", "mine").with([](model::Pod& p) { p.spec.node_name = "old"; }));
    EXPECT_EQ(place_of(plan(), "p"), shared ? "" : "claim 0");
  }
}

TEST_F(DevicePlanningTest, RefusesWithTheReason) {
  struct Case {
    std::string name;
    model::ResourceClaimSpec spec;
    std::string reason;
    std::string remedy;
  };
  const auto asks = [](auto edit) {
    model::ResourceClaimSpec spec{{request()}};
    edit(spec);
    return spec;
  };
  const std::vector<Case> cases = {
      {"all devices", asks([](auto& spec) { spec.requests[0].allocation_mode = "All"; }),
       "request r of its claim gpu has allocationMode All, which is not planned",
       "ask for a count of devices"},
      {"admin access", asks([](auto& spec) { spec.requests[0].admin_access = true; }),
       "asks for adminAccess", "ask for whole devices"},
      {"part of a device", asks([](auto& spec) { spec.requests[0].asks_capacity = true; }),
       "asks for part of a device", "ask for whole devices"},
      {"constraints", asks([](auto& spec) { spec.constrained = true; }),
       "must match each other, which is not planned", "remove spec.devices.constraints"},
      {"an unknown class", asks([](auto& spec) { spec.requests[0].class_name = "tpu"; }),
       "names DeviceClass tpu, which does not exist", "create DeviceClass tpu"},
      {"no such device", asks([](auto& spec) { spec.requests[0].selectors = {"false"}; }),
       "no instance type and no node is known to have a device of gpu with false",
       "--dra-config-file"},
      {"a selector that is no CEL", asks([](auto& spec) { spec.requests[0].selectors = {"a b"}; }),
       "request r of its claim gpu: a selector", "correct the selector"},
      {"a selector that fails", asks([](auto& spec) {
         spec.requests[0].selectors = {R"(device.attributes["gpu.example.com"].size > 1)"};
       }),
       "its selector fails: ", "correct the selector"},
      {"more than any type has", asks([](auto& spec) { spec.requests[0].count = 3; }),
       "devices of gpu", ""},
  };
  types_have({{"large", gpus(2)}});
  for (const Case& c : cases) {
    world_->resource_claim_templates.clear();
    claim_template("t", c.spec);
    problem_.with([](Problem& problem) { problem.pods.clear(); });
    problem_.add(with_template("p", "t"));
    const Plan result = plan();
    ASSERT_NE(refusal(result, "p"), nullptr) << c.name;
    EXPECT_THAT(refusal(result, "p")->reason, HasSubstr(c.reason)) << c.name;
    EXPECT_THAT(refusal(result, "p")->remedy, HasSubstr(c.remedy)) << c.name;
    EXPECT_THAT(refusal(result, "p")->changes, IsEmpty()) << c.name;
  }
}

TEST_F(DevicePlanningTest, ObjectsThatAreNotThere) {
  problem_.add(with_claim("a", "none")).add(with_template("b", "none"));
  const Plan result = plan();
  EXPECT_THAT(refusal(result, "a")->reason, HasSubstr("ResourceClaim default/none does not exist"));
  EXPECT_THAT(refusal(result, "b")->reason,
              HasSubstr("ResourceClaimTemplate default/none does not exist"));
}

TEST_F(DevicePlanningTest, DevicesThatCannotBeCountedAreLeftOut) {
  claim_template("one", request());
  problem_.add(with_template("p", "one"));
  for (bool model::Device::*trait :
       {&model::Device::consumes_counters, &model::Device::multiple_allocations,
        &model::Device::tainted, &model::Device::chooses_nodes}) {
    auto devices = gpus(1);
    devices[0].*trait = true;
    types_have({{"large", devices}});
    EXPECT_THAT(plan().claims, IsEmpty());
  }
}

// Whatever types, nodes and pods have and ask for.
TEST_F(DevicePlanningTest, NobodyIsPromisedADeviceOfAnother) {
  std::mt19937 random(11);
  const auto below = [&random](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  const auto some_gpus = [&] {
    auto devices = gpus(below(4));
    for (auto& device : devices) {
      device.capacity["gpu.example.com/memory"] = quantity(below(2) == 0 ? "40Gi" : "80Gi");
      device.attributes["gpu.example.com/model"] = below(2) == 0 ? "x1" : "x2";
    }
    return devices;
  };
  const std::string x2 = R"(device.attributes["gpu.example.com"].model == "x2")";
  claim_template("any", request());
  claim_template("big", request(1, {kBig}));
  claim_template("both", request(1, {kBig, x2}));
  claim_template("two-x2", request(2, {x2}));
  std::size_t placed = 0;
  std::size_t refused = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    types_have({{"small", some_gpus()}, {"medium", some_gpus()}, {"large", some_gpus()}});
    world_->resource_slices.clear();
    problem_.with([](Problem& problem) {
      problem.pods.clear();
      problem.nodes.clear();
    });
    for (const char* name : {"n1", "n2"}) {
      problem_.add(node(name).allocatable("pods", "50"));
      publish(name, some_gpus());
    }
    for (int i = 1 + below(12); i > 0; --i) {
      const std::vector<std::string> templates = {"any", "big", "both", "two-x2"};
      problem_.add(
          with_template("p" + std::to_string(i), templates[static_cast<std::size_t>(below(4))]));
    }
    const Plan result = plan();
    placed += result.placements.size();
    refused += result.refusals.size();
  }
  EXPECT_GT(placed, 500U);
  EXPECT_GT(refused, 10U);
}

// A node whose driver's agent looks at all devices has less room than one without it.
TEST_F(DevicePlanningTest, DaemonSetsWithClaimsTakeRoom) {
  problem_.add(daemon_set("agent", with_template("agent", "all").cpu("1500m")));
  problem_.add(pod("p").cpu("1"));
  const Plan result = plan();
  ASSERT_THAT(result.claims, SizeIs(1));
  EXPECT_THAT(values_of(result.claims[0], model::kInstanceTypeLabel),
              ElementsAre("large", "medium"));
}

// Without the setting nothing is known of devices, as by Karpenter's default.
TEST_F(DevicePlanningTest, OffByDefault) {
  types_have({{"large", gpus(1)}});
  claim_template("one", request());
  problem_.add(with_template("p", "one"));
  problem_.with([](Problem& problem) { problem.options.resource_claims = false; });
  const Plan result = plan();
  EXPECT_THAT(refusal(result, "p")->reason, HasSubstr("resource claims (DRA)"));
}

}  // namespace
}  // namespace millwright::scheduling::testing

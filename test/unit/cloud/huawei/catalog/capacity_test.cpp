// What nodes hold, and what flavors say of themselves.
#include "cloud/huawei/catalog/capacity.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::cloud::huawei {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Flavor flavor_of(std::int64_t cpus, std::int64_t gib) {
  Flavor flavor;
  flavor.name = "c9.large.4";
  flavor.arch = "amd64";
  flavor.cpus = cpus;
  flavor.memory_mib = gib * 1024;
  return flavor;
}

NodeClassSpec spec_of(std::int64_t k8s_gib = 100) {
  NodeClassSpec spec;
  spec.k8s.gib = k8s_gib;
  return spec;
}

std::optional<Flavor> parsed(const std::string& text) {
  return read_flavor(model::parse_json(text).value());
}

std::string amount(const model::ResourceList& list, std::string_view name) {
  return model::get(list, name).to_string();
}

// Sizes that Karpenter's provider for Huawei Cloud computes.
TEST(HuaweiCapacity, OfTheKubernetesVolumeIsWhatExt4Leaves) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> sizes{
      {20, 2069733376},   {40, 4139483136},   {100, 10459828224},
      {200, 20953251840}, {500, 52517371904}, {1000, 105085067264}};
  for (const auto& [gib, bytes] : sizes) {
    EXPECT_EQ(kubernetes_volume_bytes(gib), bytes) << gib;
  }
  for (std::int64_t gib = 20; gib < 32768; gib += 97) {
    EXPECT_GT(kubernetes_volume_bytes(gib + 97), kubernetes_volume_bytes(gib)) << gib;
  }
}

TEST(HuaweiCapacity, PodsGoByMemoryAndInterfaces) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> tiers{
      {4, 20}, {7, 20}, {8, 40}, {16, 60}, {32, 80}, {63, 80}, {64, 110}, {512, 110}};
  for (const auto& [gib, pods] : tiers) {
    EXPECT_EQ(max_pods(flavor_of(2, gib), spec_of()), pods) << gib;
  }
  auto spec = spec_of();
  spec.max_pods = 200;
  EXPECT_EQ(max_pods(flavor_of(2, 8), spec), 200);
  auto few = flavor_of(2, 8);
  few.sub_interfaces = 16;
  EXPECT_EQ(max_pods(few, spec), 16);
}

TEST(HuaweiCapacity, ReservesAsCceDoes) {
  const auto flavor = flavor_of(8, 32);
  const auto spec = spec_of();
  const auto capacity = capacity_of(flavor, spec);
  EXPECT_EQ(amount(capacity, "cpu"), "8");
  EXPECT_EQ(amount(capacity, "memory"), "32Gi");
  EXPECT_EQ(amount(capacity, "pods"), "80");
  const auto overhead = overhead_of(flavor, spec, capacity);
  EXPECT_EQ(amount(overhead, "cpu"), "90m") << "60 + 10 + 10 + 4 * 2.5";
  // (500 + 5 * 80) + (400 + 32 * 25) + 100
  EXPECT_EQ(amount(overhead, "memory"), "2200Mi");
  auto docker = spec;
  docker.runtime = "docker";
  EXPECT_EQ(amount(overhead_of(flavor, docker, capacity), "memory"), "3400Mi");
}

TEST(HuaweiCapacity, TheKubeletsSettingsReplaceResourceByResource) {
  const auto flavor = flavor_of(8, 32);
  auto spec = spec_of();
  spec.max_pods = 16;
  spec.kube_reserved = {{"memory", model::Quantity::parse("1Gi").value()}};
  spec.system_reserved = {{"cpu", model::Quantity::parse("100m").value()}};
  const auto overhead = overhead_of(flavor, spec, capacity_of(flavor, spec));
  EXPECT_EQ(amount(overhead, "cpu"), "190m");
  EXPECT_EQ(amount(overhead, "memory"), "2324Mi") << "1024 + 1200 + 100";
}

TEST(HuaweiCapacity, GpusAreThoseOfNvidia) {
  auto flavor = flavor_of(8, 32);
  const auto gpus = [&flavor] { return amount(capacity_of(flavor, spec_of()), "nvidia.com/gpu"); };
  EXPECT_EQ(gpus(), "0");
  flavor.gpus = 2;
  flavor.gpu_name = "NVIDIA T4";
  EXPECT_EQ(gpus(), "2");
  flavor.gpu_name = "Ascend 310";  // CCE offers them under a name of their own
  EXPECT_EQ(gpus(), "0");
}

TEST(HuaweiFlavors, AreReadFromTextAndNumbers) {
  const auto flavor =
      parsed(R"({"id":"c9.large.4","name":"c9.large.4","vcpus":"2","ram":8192,"os_extra_specs":{)"
             R"("ecs:instance_architecture":"arm64","quota:max_rate":"4000",)"
             R"("quota:sub_network_interface_max_num":"16","cond:operation:status":"abandon",)"
             R"("cond:operation:az":"az-1(normal)\uff0caz-2\uff08sellout\uff09, az-3 (obt) ",)"
             R"("pci_passthrough:gpu_specs":"t4:direct:2","info:gpu:name":"NVIDIA T4"}})");
  ASSERT_TRUE(flavor);
  EXPECT_EQ(flavor->arch, "arm64");
  EXPECT_EQ(flavor->cpus, 2);
  EXPECT_EQ(flavor->memory_mib, 8192);
  EXPECT_EQ(flavor->bandwidth_mbps, 4000);
  EXPECT_EQ(flavor->sub_interfaces, 16);
  EXPECT_EQ(flavor->gpus, 2);
  EXPECT_EQ(flavor->gpu_name, "NVIDIA T4");
  const std::vector<std::string> region{"az-1", "az-2", "az-4"};
  EXPECT_THAT(
      sale_of(*flavor, region),
      ElementsAre(Pair("az-1", Sale::Open), Pair("az-2", Sale::SoldOut), Pair("az-3", Sale::Open)));
}

TEST(HuaweiFlavors, WithoutWordsAboutSaleAreSoldEverywhere) {
  const auto flavor = parsed(R"({"name":"s7.large.2","vcpus":2,"ram":4096})");
  ASSERT_TRUE(flavor);
  EXPECT_EQ(flavor->arch, "amd64");
  const std::vector<std::string> region{"b", "a"};
  EXPECT_THAT(sale_of(*flavor, region), ElementsAre(Pair("a", Sale::Open), Pair("b", Sale::Open)));
}

TEST(HuaweiFlavors, AreSpotOnlyWhereThatIsSaid) {
  const std::vector<std::string> region{"az-1", "az-2", "az-3"};
  const auto zones = [&region](const std::string& extras) {
    return spot_sale_of(
        *parsed(R"({"name":"x","vcpus":"2","ram":4096,"os_extra_specs":{)" + extras + "}}"),
        region);
  };
  EXPECT_THAT(zones(""), IsEmpty());
  EXPECT_THAT(
      zones(R"("cond:spot:operation:status":"normal")"),
      ElementsAre(Pair("az-1", Sale::Open), Pair("az-2", Sale::Open), Pair("az-3", Sale::Open)));
  EXPECT_THAT(zones(R"x("cond:spot:operation:status":"abandon",)x"
                    R"x("cond:spot:operation:az":"az-2(normal),az-3(sellout)")x"),
              ElementsAre(Pair("az-2", Sale::Open), Pair("az-3", Sale::SoldOut)));
  EXPECT_THAT(zones(R"x("cond:spot:operation:status":"normal",)x"
                    R"x("cond:operation:az":"az-1(sellout),az-2(abandon)")x"),
              ElementsAre(Pair("az-1", Sale::SoldOut), Pair("az-3", Sale::Open)));
}

TEST(HuaweiFlavors, ThatCannotBeAreLeftOut) {
  for (
      const std::string text :
      {"3", "{}", R"({"name":"x","vcpus":"2"})", R"({"name":"x","vcpus":"two","ram":4096})",
       R"({"name":"x","vcpus":"2","ram":-1})", R"({"name":"x","vcpus":"999999","ram":1})",
       R"({"name":"x","vcpus":"2","ram":1e30})", R"({"name":7,"vcpus":"2","ram":4096})",
       R"({"name":"x","vcpus":"2 ","ram":4096})", R"({"name":"","vcpus":"2","ram":4096})",
       R"({"name":"x","vcpus":"2","ram":1,"os_extra_specs":{"ecs:instance_architecture":"mips"}})"}) {
    EXPECT_FALSE(parsed(text)) << text;
  }
  EXPECT_TRUE(parsed(R"({"name":"x","vcpus":"2","ram":4096,"os_extra_specs":[3]})"));
}

TEST(HuaweiFlavors, SaleByZoneSurvivesNonsense) {
  for (const std::string text : {"", ",", "()", "a(", "a)b(", "((", "a(normal", ")(", "\xef\xbc"}) {
    EXPECT_TRUE(read_sale_zones(text).empty()) << text;
  }
}

TEST(HuaweiFlavors, NamesHaveParts) {
  const auto parts = parts_of_name("c9.large.4");
  EXPECT_EQ(parts.family, "c9");
  EXPECT_EQ(parts.category, "c");
  EXPECT_EQ(parts.generation, "9");
  EXPECT_EQ(parts.size, "large.4");
  EXPECT_EQ(parts_of_name("kunpeng").generation, "");
  EXPECT_EQ(parts_of_name("pi2ne.2xlarge.4").generation, "2");
  EXPECT_EQ(parts_of_name("").family, "");
}

}  // namespace
}  // namespace millwright::cloud::huawei

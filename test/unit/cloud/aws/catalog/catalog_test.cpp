// Labels, prices, offerings and what is sold out.
#include "catalog_fixture.hpp"
#include "cloud/aws/calls/price_list.hpp"
#include "cloud/aws/catalog/estimated_price.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "cloud/aws/launch/ami_family.hpp"

#include <rapidcheck/gtest.h>

namespace millwright::cloud::aws {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// "m5.large" -> label without its prefix -> value; absent labels are "-".
std::string label(const scheduling::InstanceType& type, const std::string& name) {
  const auto* found = type.requirements.find("karpenter.k8s.aws/" + name);
  if (found == nullptr) {
    return "undefined";
  }
  if (found->op() == model::Operator::DoesNotExist) {
    return "-";
  }
  return found->values().size() == 1 ? found->values()[0] : "many";
}

class CatalogTest : public testing::Test {
 protected:
  CatalogTest() : catalog("us-west-2", {}) {
    const auto types = test_types();
    ZonesByType zones;
    PriceTable on_demand;
    for (const auto& type : types) {
      zones[type.name] = {"us-west-2a", "us-west-2b", "us-west-2c"};
      on_demand[type.name] = static_cast<double>(type.cpus) * 0.05;
    }
    zones["t3.micro"] = {"us-west-2b"};
    zones.erase("c5.metal");
    on_demand.erase("i3.large");
    catalog.set_types(types);
    catalog.set_zones(std::move(zones));
    catalog.prices().set_on_demand(std::move(on_demand));
    catalog.prices().set_spot({{"m5.large", {{"us-west-2a", 0.031}, {"us-west-2c", 0.032}}}});
  }

  scheduling::InstanceType type(const std::string& name) {
    const auto types = catalog.types(*the_class, now);
    const auto* found = scheduling::find_type(types, name);
    return found == nullptr ? scheduling::InstanceType{} : *found;
  }
  // "spot us-west-2a 0.031 yes"
  std::vector<std::string> offerings(const std::string& name) {
    std::vector<std::string> result;
    for (const auto& each : type(name).offerings) {
      result.push_back(std::string(each.capacity_type()) + " " + std::string(each.zone()) + " " +
                       decimal_text(each.price) + (each.available ? " yes" : " no"));
    }
    return result;
  }

  Catalog catalog;
  std::shared_ptr<model::NodeClass> the_class = node_class({{"amiFamily", "AL2023"}});
  base::TimePoint now = kStart;
};

TEST_F(CatalogTest, MemoryIsWhatNodesOfTheTypeAndImageTurnedOutToHave) {
  const auto memory_of = [this](const std::string& name) {
    return model::get(type(name).capacity, model::kMemory).units() / 1024 / 1024;
  };
  const auto estimate = memory_of("m5.large");
  const auto other = memory_of("m5.xlarge");
  const TypeFacts facts = *catalog.find("m5.large");
  const auto learn = [&](const std::string& image, std::int64_t mebibytes) {
    catalog.memory().learn({facts.name, facts.memory_mib}, image,
                           model::Quantity::from_units(mebibytes * 1024 * 1024), now);
    catalog.changed();
  };
  learn("ami-old", estimate - 300);
  learn("ami-arm", estimate - 400);
  EXPECT_EQ(memory_of("m5.large"), estimate) << "its nodes have another image";
  learn("ami-amd", estimate + 100);
  EXPECT_EQ(memory_of("m5.large"), estimate + 100);
  learn("ami-amd", estimate - 100);
  EXPECT_EQ(memory_of("m5.large"), estimate - 100);
  EXPECT_EQ(memory_of("m5.xlarge"), other);
  now += LearnedMemory::kKept;
  catalog.changed();
  EXPECT_EQ(memory_of("m5.large"), estimate);
}

TEST_F(CatalogTest, TypesCarryEveryLabel) {
  struct Case {
    std::string type;
    std::map<std::string, std::string> labels;
  };
  const std::vector<Case> cases{
      {"m5.large",
       {{"instance-category", "m"},
        {"instance-family", "m5"},
        {"instance-generation", "5"},
        {"instance-size", "large"},
        {"instance-cpu", "2"},
        {"instance-cpu-manufacturer", "intel"},
        {"instance-cpu-sustained-clock-speed-mhz", "3100"},
        {"instance-memory", "8192"},
        {"instance-ebs-bandwidth", "4750"},
        {"instance-network-bandwidth", "750"},
        {"instance-hypervisor", "nitro"},
        {"instance-encryption-in-transit-supported", "false"},
        {"instance-local-nvme", "-"},
        {"instance-gpu-count", "-"},
        {"instance-gpu-name", "-"},
        {"instance-accelerator-count", "-"},
        {"instance-capability-flex", "false"},
        {"instance-tenancy", "many"},
        {"ec2nodeclass", "default"},
        {"capacity-reservation-id", "-"},
        {"placement-group-id", "-"},
        {"nitro-sandbox", "-"}}},
      {"m7i-flex.large",
       {{"instance-capability-flex", "true"},
        {"instance-family", "m7i-flex"},
        {"instance-generation", "7"},
        {"instance-encryption-in-transit-supported", "true"}}},
      {"t4g.small", {{"instance-cpu-manufacturer", "aws"}, {"instance-category", "t"}}},
      {"c7a.medium", {{"instance-cpu-manufacturer", "amd"}}},
      {"u-6tb1.56xlarge",
       {{"instance-category", "u"}, {"instance-generation", "1"}, {"instance-family", "u-6tb1"}}},
      {"x1e.32xlarge", {{"instance-category", "x"}, {"instance-hypervisor", "xen"}}},
      {"i4i.32xlarge", {{"instance-local-nvme", "30000"}, {"instance-network-bandwidth", "75000"}}},
      {"p4d.24xlarge",
       {{"instance-gpu-name", "a100"},
        {"instance-gpu-manufacturer", "nvidia"},
        {"instance-gpu-count", "8"},
        {"instance-gpu-memory", "40960"},
        {"instance-network-bandwidth", "400000"}}},
      {"inf2.8xlarge",
       {{"instance-accelerator-name", "inferentia2"},
        {"instance-accelerator-manufacturer", "aws"},
        {"instance-accelerator-count", "1"},
        {"instance-gpu-count", "-"}}},
      {"trn1.32xlarge",
       {{"instance-accelerator-name", "trainium"},
        {"instance-accelerator-manufacturer", "aws"},
        {"instance-accelerator-count", "16"}}},
      {"c5.metal", {{"instance-hypervisor", "-"}, {"instance-size", "metal"}}},
  };
  for (const auto& each : cases) {
    const auto made = type(each.type);
    for (const auto& [name, value] : each.labels) {
      EXPECT_EQ(label(made, name), value) << each.type << " " << name;
    }
  }
}

TEST_F(CatalogTest, EveryTypeDefinesEveryWellKnownLabel) {
  const auto types = catalog.types(*the_class, now);
  ASSERT_GE(types->size(), 29U);
  for (const auto& each : *types) {
    for (const auto key : well_known_labels()) {
      EXPECT_NE(each.requirements.find(key), nullptr) << each.name << " " << key;
    }
    for (const auto key :
         {model::kArchLabel, model::kOsLabel, model::kInstanceTypeLabel, model::kRegionLabel,
          model::kZoneLabel, model::kCapacityTypeLabel, model::kWindowsBuildLabel}) {
      EXPECT_NE(each.requirements.find(key), nullptr) << each.name << " " << key;
    }
  }
}

TEST_F(CatalogTest, OfferingsAreTheZonesOfTheClassWhereTheTypeIsSold) {
  EXPECT_THAT(offerings("m5.large"),
              testing::ElementsAre("spot us-west-2a 0.031 yes", "on-demand us-west-2a 0.1 yes",
                                   "spot us-west-2b 0 no", "on-demand us-west-2b 0.1 yes"));
  EXPECT_THAT(offerings("t3.micro"),
              testing::ElementsAre("spot us-west-2b 0 no", "on-demand us-west-2b 0.1 yes"));
  EXPECT_TRUE(offerings("c5.metal").empty());
  const auto made = type("m5.large");
  EXPECT_EQ(made.requirements.find(kZoneIdLabel)->values(),
            (std::vector<std::string>{"usw2-az1", "usw2-az2"}));
  EXPECT_EQ(made.offerings[3].requirements.find(kZoneIdLabel)->values().front(), "usw2-az1");
}

TEST_F(CatalogTest, ATypeThatThePriceListLacksIsNotOffered) {
  EXPECT_THAT(offerings("i3.large"),
              testing::ElementsAre("spot us-west-2a 0 no", "on-demand us-west-2a 0 no",
                                   "spot us-west-2b 0 no", "on-demand us-west-2b 0 no"));
}

TEST_F(CatalogTest, WhatHasNoImageIsNotOffered) {
  auto status = found_status();
  status.at("amis") = boost::json::array{image_status("ami-arm", "arm64")};
  the_class = node_class({{"amiFamily", "AL2023"}}, status);
  EXPECT_THAT(offerings("m5.large"), testing::Each(HasSubstr(" no")));
  EXPECT_THAT(offerings("t4g.small"), testing::Contains("on-demand us-west-2a 0.1 yes"));
}

TEST_F(CatalogTest, FamiliesExcludeWhatTheyCannotRunOn) {
  EXPECT_EQ(type("a1.large").name, "");
  the_class = node_class({{"amiFamily", "AL2"}});
  EXPECT_EQ(type("a1.large").name, "a1.large");
  the_class = node_class({{"amiFamily", "Windows2022"}});
  EXPECT_EQ(type("t4g.small").name, "");
  const auto windows = type("m5.large");
  EXPECT_EQ(windows.requirements.find(model::kOsLabel)->values().front(), "windows");
  EXPECT_EQ(windows.requirements.find(model::kWindowsBuildLabel)->values().front(), "10.0.20348");
}

TEST_F(CatalogTest, SoldOutOfferingsComeBackAfterThreeMinutes) {
  catalog.unavailable().mark("m5.large", "us-west-2a", "spot", now);
  catalog.touch();
  EXPECT_EQ(offerings("m5.large")[0], "spot us-west-2a 0.031 no");
  EXPECT_EQ(offerings("m5.large")[1], "on-demand us-west-2a 0.1 yes");
  EXPECT_EQ(catalog.unavailable().next_end(), now + 3min);
  EXPECT_FALSE(catalog.unavailable().sweep(now + 3min - 1ns));
  now += 3min;
  EXPECT_TRUE(catalog.unavailable().sweep(now));
  catalog.touch();
  EXPECT_EQ(offerings("m5.large")[0], "spot us-west-2a 0.031 yes");
}

TEST_F(CatalogTest, ATypesListIsKeptUntilSomethingChanges) {
  const auto first = catalog.types(*the_class, now);
  EXPECT_EQ(catalog.types(*the_class, now), first);
  catalog.prices().set_spot({{"m5.large", {{"us-west-2b", 0.02}}}});
  catalog.touch();
  EXPECT_NE(catalog.types(*the_class, now), first);
}

TEST(Unavailable, MarksMayCoverAllTypesOrZones) {
  UnavailableOfferings marks;
  marks.mark("", "us-west-2a", "on-demand", kStart);
  EXPECT_TRUE(marks.is_marked("m5.large", "us-west-2a", "on-demand", kStart));
  EXPECT_FALSE(marks.is_marked("m5.large", "us-west-2b", "on-demand", kStart));
  EXPECT_FALSE(marks.is_marked("m5.large", "us-west-2a", "spot", kStart));
  marks.mark("", "", "spot", kStart + 1min);
  EXPECT_TRUE(marks.is_marked("c5.large", "us-west-2b", "spot", kStart + 2min));
  EXPECT_EQ(marks.next_end(), kStart + 3min);
}

TEST(Prices, OfTypesAreEstimatedInTheOrderOfSize) {
  const TypeFacts small{.name = "m5.large", .cpus = 2, .memory_mib = 8192};
  const TypeFacts large{.name = "m5.xlarge", .cpus = 4, .memory_mib = 16384};
  TypeFacts gpu = large;
  gpu.gpus.push_back({.name = "T4", .count = 1});
  EXPECT_NEAR(estimated_price(small), 0.096, 0.005);
  EXPECT_LT(estimated_price(small), estimated_price(large));
  EXPECT_LT(estimated_price(large), estimated_price(gpu));
}

TEST(Prices, ProductsOfThePriceListAreJsonTexts) {
  const std::string text =
      R"({"product":{"attributes":{"instanceType":"m5.large"}},"terms":{"OnDemand":{"A.B":)"
      R"({"priceDimensions":{"A.B.C":{"unit":"Hrs","pricePerUnit":{"USD":"0.0960000000"}}}}}}})";
  const auto read = read_product(text, "USD");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->instance_type, "m5.large");
  EXPECT_EQ(read->price, 0.096);
  EXPECT_FALSE(read_product(text, "CNY"));
  for (const std::string odd : {"", "{}", "[]", R"({"terms":{"OnDemand":[]}})",
                                R"({"terms":{"OnDemand":{"a":1}},"product":3})"}) {
    EXPECT_FALSE(read_product(odd, "USD")) << odd;
  }
}

TEST(TypeNames, AreTakenApart) {
  const std::vector<std::array<std::string, 5>> cases{
      {"m5.large", "m", "5", "m5", "large"},
      {"c6gn.16xlarge", "c", "6", "c6gn", "16xlarge"},
      {"u-6tb1.metal", "u", "1", "u-6tb1", "metal"},
      {"u7i-12tb.224xlarge", "u", "7", "u7i-12tb", "224xlarge"},
      {"inf2.8xlarge", "inf", "2", "inf2", "8xlarge"},
      {"odd", "", "", "odd", ""},
      {"u-x.large", "", "", "u-x", "large"}};
  for (const auto& [name, category, generation, family, size] : cases) {
    const auto parts = parts_of_name(name);
    EXPECT_EQ(parts.category, category) << name;
    EXPECT_EQ(parts.generation, generation) << name;
    EXPECT_EQ(parts.family, family) << name;
    EXPECT_EQ(parts.size, size) << name;
  }
}

RC_GTEST_PROP(TypeNames, NoNameBreaksIt, (const std::string& name)) {
  const auto parts = parts_of_name(name);
  RC_ASSERT(parts.family.size() + parts.size.size() <= name.size());
}

TEST(AliasImages, FollowTheSsmPathsOfEachFamily) {
  const auto paths = [](Family family, std::string_view version) {
    std::vector<std::string> result;
    for (const auto& each : images_of_alias(family, version, "1.31")) {
      result.push_back(each.parameter);
    }
    return result;
  };
  const std::string eks = "/aws/service/eks/optimized-ami/1.31/";
  EXPECT_EQ(paths(Family::Al2023, "latest")[0],
            eks + "amazon-linux-2023/x86_64/standard/recommended/image_id");
  EXPECT_EQ(paths(Family::Al2023, "v20250101")[1],
            eks +
                "amazon-linux-2023/arm64/standard/"
                "amazon-eks-node-al2023-arm64-standard-1.31-v20250101/image_id");
  EXPECT_EQ(paths(Family::Al2, "latest")[2], eks + "amazon-linux-2-gpu/recommended/image_id");
  EXPECT_EQ(paths(Family::Al2, "v20250101")[1],
            eks + "amazon-linux-2-arm64/amazon-eks-arm64-node-1.31-v20250101/image_id");
  EXPECT_EQ(paths(Family::Bottlerocket, "v1.30.0")[2],
            "/aws/service/bottlerocket/aws-k8s-1.31-nvidia/x86_64/1.30.0/image_id");
  EXPECT_EQ(paths(Family::Bottlerocket, "latest")[1],
            "/aws/service/bottlerocket/aws-k8s-1.31/arm64/latest/image_id");
  EXPECT_EQ(paths(Family::Windows2022, "latest")[0],
            "/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.31/"
            "image_id");
  EXPECT_THAT(unsupported_alias(Family::Al2, "1.33"), HasSubstr("al2023@latest"));
  EXPECT_EQ(unsupported_alias(Family::Al2, "1.32"), "");
  EXPECT_NE(unsupported_alias(Family::Windows2025, "1.34"), "");
}

}  // namespace
}  // namespace millwright::cloud::aws

#include "cloud/alibaba/catalog/catalog.hpp"

#include "cloud/alibaba/catalog/catalog_refresh.hpp"
#include "cloud/alibaba/catalog/type_labels.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/kinds.hpp"
#include "unit/cloud/alibaba/fakes/fake_cloud.hpp"

#include <array>

namespace millwright::cloud::alibaba {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;

TypeFacts large_type() {
  TypeFacts type;
  type.name = "ecs.g7.large";
  type.family = "ecs.g7";
  type.arch = "amd64";
  type.cpu_model = "Intel(R) Xeon(R) Platinum 8369B";
  type.cpus = 2;
  type.memory_mib = 8192;
  type.enis = 3;
  type.addresses_per_eni = 6;
  return type;
}

model::NodeClass ready_class(const std::string& spec = "{}") {
  model::NodeClass made;
  made.meta.name = "main";
  made.spec = model::parse_json(spec).value();
  made.status = model::parse_json(R"({
    "vSwitches":[{"id":"vsw-1","zoneID":"z1"},{"id":"vsw-2","zoneID":"z1"},
                 {"id":"vsw-3","zoneID":"z2"},{"id":"vsw-4","zoneID":"z3"}],
    "securityGroups":[{"id":"sg-1","name":"n"}],
    "images":[{"id":"m-1","name":"n","requirements":[
      {"key":"kubernetes.io/arch","operator":"In","values":["amd64"]}]}]})")
                    .value();
  return made;
}

TEST(AlibabaLabels, NamesHaveFamilyCategoryGenerationAndSize) {
  const auto shown = [](std::string_view name) {
    const auto parts = parts_of_name(name);
    return parts.family + " " + parts.category + " " + parts.generation + " " + parts.size;
  };
  EXPECT_EQ(shown("ecs.g7.large"), "ecs.g7 g 7 large");
  EXPECT_EQ(shown("ecs.g7ne.2xlarge"), "ecs.g7ne g 7 2xlarge");
  EXPECT_EQ(shown("ecs.u1-c1m2.xlarge"), "ecs.u1-c1m2 u 1 xlarge");
  EXPECT_EQ(shown("ecs.gn6i-c4g1.xlarge"), "ecs.gn6i-c4g1 gn 6 xlarge");
  EXPECT_EQ(shown("ecs.ebmc7.32xlarge"), "ecs.ebmc7 ebmc 7 32xlarge");
  EXPECT_EQ(shown("nonsense"), "   ");
  EXPECT_EQ(shown("ecs."), "   ");
}

TEST(AlibabaLabels, ValuesFitIntoLabels) {
  auto type = large_type();
  type.gpus = 1;
  type.gpu = "NVIDIA T4";
  type.gpu_memory_mib = 16384;
  const auto labels = labels_of(type, read_spec(ready_class()), "cn-hangzhou");
  const auto value = [&labels](std::string_view name) {
    const auto* found = labels.find(std::string("karpenter.k8s.alibabacloud/").append(name));
    return found == nullptr || found->values().empty() ? "" : found->values().front();
  };
  EXPECT_EQ(value("instance-cpu-model"), "Intel-R-Xeon-R-Platinum-8369B");
  EXPECT_EQ(value("instance-gpu-name"), "t4");
  EXPECT_EQ(value("instance-gpu-manufacturer"), "nvidia");
  EXPECT_EQ(value("instance-gpu-memory"), "16384");
  EXPECT_EQ(value("instance-family"), "ecs.g7");
  EXPECT_EQ(value("ecsnodeclass"), "main");
}

TEST(AlibabaCapacity, FollowsTheReservationPolicyOfAck) {
  const auto spec = read_spec(ready_class());
  const auto capacity = capacity_of(large_type(), spec, {});
  // 8192 MiB less 6.5 %, rounded up: 533.
  EXPECT_EQ(model::get(capacity, model::kMemory).units(), (8192 - 533) * (1LL << 20));
  EXPECT_EQ(model::get(capacity, model::kPods).units(), 2 * 6 + 3);
  EXPECT_EQ(model::get(capacity, model::kEphemeralStorage).units(), 20LL << 30);
  const auto overhead = overhead_of(large_type(), spec, capacity);
  EXPECT_EQ(model::get(overhead, model::kCpu).milli(), 70);
  EXPECT_EQ(model::get(overhead, model::kMemory).units(), (11 * 15 + 255 + 200) * (1LL << 20));
}

TEST(AlibabaCapacity, GpusGoByTheirMaker) {
  auto type = large_type();
  const auto gpus = [&type](std::string_view resource) {
    return model::get(capacity_of(type, read_spec(ready_class()), {}), resource).units();
  };
  EXPECT_EQ(gpus("nvidia.com/gpu"), 0);
  type.gpus = 2;
  type.gpu = "NVIDIA T4";
  EXPECT_EQ(gpus("nvidia.com/gpu"), 2);
  EXPECT_EQ(gpus("amd.com/gpu"), 0);
  type.gpu = "AMD S7150";
  EXPECT_EQ(gpus("nvidia.com/gpu"), 0);
  EXPECT_EQ(gpus("amd.com/gpu"), 2);
}

TEST(AlibabaCapacity, TheKubeletsSettingsAndTheCniDecideOnPods) {
  const auto pods = [](const std::string& spec, Network network) {
    return max_pods(large_type(), read_spec(ready_class(spec)), network);
  };
  EXPECT_EQ(pods("{}", Network::Flannel), 256);
  EXPECT_EQ(pods("{}", Network::Other), 110);
  EXPECT_EQ(pods(R"({"kubeletConfiguration":{"maxPods":40}})", Network::Terway), 40);
  EXPECT_EQ(pods(R"({"kubeletConfiguration":{"podsPerCore":4}})", Network::Terway), 8);
  auto small = large_type();
  small.enis = 2;
  small.addresses_per_eni = 4;
  const auto spec = read_spec(ready_class());
  EXPECT_FALSE(has_room_for_pods(small, spec, {.network = Network::Terway}));
  EXPECT_TRUE(has_room_for_pods(small, spec, {.network = Network::Flannel}));
}

// Name, interfaces, addresses of each, interfaces with those of a trunk, whether it has one.
struct TypeWithInterfaces {
  const char* name;
  std::int64_t enis;
  std::int64_t addresses;
  std::int64_t total;
  bool has_trunk;
};
constexpr std::array kTypesWithInterfaces{
    TypeWithInterfaces{"ecs.g7.large", 3, 6, 6, true},
    TypeWithInterfaces{"ecs.g7.2xlarge", 4, 15, 10, true},
    TypeWithInterfaces{"ecs.g7.4xlarge", 8, 30, 20, true},
    TypeWithInterfaces{"ecs.g5.4xlarge", 8, 20, 20, false},
    TypeWithInterfaces{"seven interfaces", 7, 20, 7, true},
    TypeWithInterfaces{"fewer with the trunk", 3, 6, 2, true}};

// "pods 213, aliyun/eni 7", or "none" where ACK takes no node of the type.
std::string interfaces_of(const TypeWithInterfaces& row, const CapacitySettings& settings,
                          const std::string& spec_text = "{}") {
  auto type = large_type();
  type.enis = row.enis;
  type.addresses_per_eni = row.addresses;
  type.total_enis = row.total;
  type.has_trunk = row.has_trunk;
  const auto spec = read_spec(ready_class(spec_text));
  if (!has_room_for_pods(type, spec, settings)) {
    return "none";
  }
  const auto capacity = capacity_of(type, spec, settings);
  auto text = "pods " + std::to_string(model::get(capacity, model::kPods).units());
  for (const auto* name : {"aliyun/eni", "aliyun/member-eni"}) {
    if (capacity.contains(name)) {
      text += std::string(", ") + name + " " + std::to_string(model::get(capacity, name).units());
    }
  }
  return text;
}

TEST(AlibabaCapacity, TerwaysInterfacesAreWhatTheTypeHas) {
  struct Case {
    Interfaces interfaces;
    std::array<const char*, kTypesWithInterfaces.size()> expected;
  };
  const std::array cases{
      Case{Interfaces::Shared,
           {"pods 15", "pods 48", "pods 213", "pods 143", "pods 123", "pods 15"}},
      Case{Interfaces::Trunk,
           {"pods 15, aliyun/member-eni 3", "pods 48, aliyun/member-eni 6",
            "pods 213, aliyun/member-eni 12", "pods 143", "pods 123", "pods 15"}},
      // The node of 8 interfaces is the one that ACK's documentation shows.
      Case{Interfaces::Exclusive,
           {"none", "none", "pods 213, aliyun/eni 7", "pods 143, aliyun/eni 7", "none", "none"}}};
  for (const auto& [interfaces, expected] : cases) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(interfaces_of(kTypesWithInterfaces.at(i), {.interfaces = interfaces}), expected[i])
          << kTypesWithInterfaces.at(i).name << ", mode " << static_cast<int>(interfaces);
    }
  }
}

TEST(AlibabaCapacity, MaxPodsChangesNoInterface) {
  const std::string spec = R"({"kubeletConfiguration":{"maxPods":5}})";
  const auto& small = kTypesWithInterfaces.at(0);
  const auto& large = kTypesWithInterfaces.at(2);
  EXPECT_EQ(interfaces_of(small, {.interfaces = Interfaces::Exclusive}, spec), "none");
  EXPECT_EQ(interfaces_of(large, {.interfaces = Interfaces::Exclusive}, spec),
            "pods 5, aliyun/eni 7");
  EXPECT_EQ(interfaces_of(large, {.interfaces = Interfaces::Trunk}, spec),
            "pods 5, aliyun/member-eni 12");
}

TEST(AlibabaCapacity, OnlyTerwayGivesInterfaces) {
  for (const auto interfaces : {Interfaces::Trunk, Interfaces::Exclusive}) {
    EXPECT_EQ(interfaces_of(kTypesWithInterfaces.at(2),
                            {.network = Network::Flannel, .interfaces = interfaces}),
              "pods 256");
    EXPECT_EQ(interfaces_of(kTypesWithInterfaces.at(2),
                            {.network = Network::Other, .interfaces = interfaces}),
              "pods 110");
  }
}

TEST(AlibabaCapacity, ReservationsOfTheClassCountInPlaceOfAcks) {
  const auto spec = read_spec(ready_class(R"({"kubeletConfiguration":{
    "kubeReserved":{"cpu":"200m"},"systemReserved":{"cpu":"100m","memory":"1Gi"}}})"));
  const auto overhead = overhead_of(large_type(), spec, capacity_of(large_type(), spec, {}));
  EXPECT_EQ(model::get(overhead, model::kCpu).milli(), 300);
  EXPECT_EQ(model::get(overhead, model::kMemory).units(),
            (11 * 15 + 255 + 200 + 1024) * (1LL << 20));
}

class AlibabaCatalogTest : public testing::Test {
 protected:
  AlibabaCatalogTest() : catalog("cn-hangzhou", {}) {
    catalog.set_types({large_type()});
    catalog.set_stock({{"ecs.g7.large", {{"z1", true}, {"z2", true}}}},
                      {{"ecs.g7.large", {{"z1", true}}}});
    catalog.prices().set_on_demand({{"ecs.g7.large", 1.0}});
    catalog.prices().set_spot({{"ecs.g7.large", {{"z1", 0.2}, {"z2", 0.3}}}});
    catalog.changed();
  }
  // "spot z1 0.2 yes"
  std::vector<std::string> offerings(base::TimePoint now = kStart) {
    std::vector<std::string> result;
    const auto types = catalog.types(node_class, {}, now);
    for (const auto& offering : types->at(0).offerings) {
      result.push_back(std::string(offering.capacity_type()) + " " + std::string(offering.zone()) +
                       " " + std::to_string(offering.price).substr(0, 3) +
                       (offering.available ? " yes" : " no"));
    }
    return result;
  }

  Catalog catalog;
  model::NodeClass node_class = ready_class();
};

TEST_F(AlibabaCatalogTest, OfferingsAreWhatIsInStockInTheVSwitchesZones) {
  EXPECT_THAT(offerings(), ElementsAre("spot z1 0.2 yes", "on-demand z1 1.0 yes", "spot z2 0.3 no",
                                       "on-demand z2 1.0 yes"));
}

TEST_F(AlibabaCatalogTest, AZoneThatSoldOutStaysAZoneOfTheType) {
  catalog.set_stock({{"ecs.g7.large", {{"z1", true}}}}, {});
  EXPECT_THAT(offerings(), ElementsAre("spot z1 0.2 no", "on-demand z1 1.0 yes", "spot z2 0.3 no",
                                       "on-demand z2 1.0 no"));
}

// A process that has just begun knows no zone from before.
TEST_F(AlibabaCatalogTest, AZoneThatIsSoldOutFromTheBeginningIsAZoneOfTheType) {
  Catalog other("cn-hangzhou", {});
  other.set_types({large_type()});
  other.set_stock({{"ecs.g7.large", {{"z1", true}, {"z2", false}}}}, {});
  const auto types = other.types(node_class, {}, kStart);
  const auto& offerings = types->at(0).offerings;
  ASSERT_EQ(offerings.size(), 4U);
  EXPECT_EQ(offerings[3].zone(), "z2");
  EXPECT_EQ(offerings[3].capacity_type(), "on-demand");
  EXPECT_FALSE(offerings[3].available);
}

TEST_F(AlibabaCatalogTest, AMarkedOfferingIsBackWhenItsMarkIsOver) {
  catalog.unavailable().mark("ecs.g7.large", "z1", "spot", kStart);
  catalog.changed();
  EXPECT_EQ(offerings()[0], "spot z1 0.2 no");
  catalog.unavailable().sweep(kStart + 4min);
  catalog.changed();
  EXPECT_EQ(offerings(kStart + 4min)[0], "spot z1 0.2 yes");
}

TEST_F(AlibabaCatalogTest, WithoutAPriceNothingOfSpotIsSold) {
  Catalog other("cn-hangzhou", {});
  other.set_types({large_type()});
  const StockByType stock{{"ecs.g7.large", {{"z1", true}}}};
  other.set_stock(stock, stock);
  const auto types = other.types(node_class, {}, kStart);
  EXPECT_FALSE(types->at(0).offerings[0].available);
  EXPECT_TRUE(types->at(0).offerings[1].available);  // an estimate serves
}

TEST_F(AlibabaCatalogTest, WithoutAnImageForItsArchitectureATypeCannotBeBought) {
  node_class.status = model::parse_json(R"({"vSwitches":[{"id":"v","zoneID":"z1"}]})").value();
  EXPECT_EQ(offerings()[1], "on-demand z1 1.0 no");
}

TEST_F(AlibabaCatalogTest, ClassesOfOneNameInTwoGroupsKeepTheirOwnTypes) {
  model::NodeClass other = ready_class(R"({"kubeletConfiguration":{"maxPods":40}})");
  node_class.api_version = model::kEcsNodeClassResource.api_version();
  other.api_version = model::kOfficialEcsNodeClassResource.api_version();
  const auto types = catalog.types(node_class, {}, kStart);
  const auto types_of_other = catalog.types(other, {}, kStart);
  EXPECT_EQ(model::get(types->at(0).capacity, model::kPods).units(), 15);
  EXPECT_EQ(model::get(types_of_other->at(0).capacity, model::kPods).units(), 40);
  EXPECT_EQ(catalog.types(node_class, {}, kStart), types);  // still the ones that were made first
  EXPECT_EQ(catalog.types(other, {}, kStart), types_of_other);
}

TEST_F(AlibabaCatalogTest, ALabelOfTheNodesGivesEachPodAnInterfaceInEitherGroup) {
  auto big = large_type();
  big.name = "ecs.g7.4xlarge";
  big.enis = 8;
  big.addresses_per_eni = 30;
  big.total_enis = 20;
  big.has_trunk = true;
  catalog.set_types({large_type(), big});
  catalog.set_network(Network::Terway, Interfaces::Trunk);
  const model::StringMap exclusive{{"k8s.aliyun.com/exclusive-mode-eni-type", "eniOnly"}};
  for (const auto& kind : {model::kEcsNodeClassResource, model::kOfficialEcsNodeClassResource}) {
    node_class.api_version = kind.api_version();
    const auto shared = catalog.types(node_class, {{"team", "a"}}, kStart);
    ASSERT_EQ(shared->size(), 2U);
    EXPECT_EQ(model::get(shared->at(0).capacity, "aliyun/member-eni").units(), 12);
    EXPECT_EQ(model::get(shared->at(0).capacity, "aliyun/eni").units(), 0);
    const auto own = catalog.types(node_class, exclusive, kStart);
    ASSERT_EQ(own->size(), 1U);  // the other has too few
    EXPECT_EQ(own->at(0).name, "ecs.g7.4xlarge");
    EXPECT_EQ(model::get(own->at(0).capacity, "aliyun/eni").units(), 7);
    EXPECT_EQ(model::get(own->at(0).capacity, "aliyun/member-eni").units(), 0);
    EXPECT_EQ(catalog.types(node_class, {}, kStart), shared);  // neither forgets the other
    EXPECT_EQ(catalog.types(node_class, exclusive, kStart), own);
  }
}

TEST_F(AlibabaCatalogTest, TypesOfAClassThatIsGoneAreForgottenInADay) {
  const auto gone = ready_class();
  node_class.meta.name = "other";
  const std::weak_ptr<const std::vector<scheduling::InstanceType>> old =
      catalog.types(gone, {}, kStart);
  for (const auto& [after, is_kept] : {std::pair(23h, true), std::pair(25h, false)}) {
    catalog.changed();
    ASSERT_EQ(catalog.types(node_class, {}, kStart + after)->size(), 1U);
    EXPECT_EQ(!old.expired(), is_kept);
  }
}

TEST_F(AlibabaCatalogTest, EmptyAnswersAreIgnored) {
  catalog.set_types({});
  catalog.set_stock({}, {});
  EXPECT_TRUE(catalog.is_known());
  EXPECT_EQ(offerings().size(), 4U);
}

class AlibabaTypeRefresh : public FakeCloudTest {
 protected:
  // True: both types are known after this answer.
  bool knows_both(const std::string& items) {
    on("DescribeInstanceTypes", {R"({"InstanceTypes":{"InstanceType":[)" + items + "]}}"});
    EXPECT_TRUE(wait(loop, refresh.refresh_types()));
    EXPECT_NE(catalog.find("a"), nullptr);
    return catalog.find("b") != nullptr;
  }

  Catalog catalog{"cn-hangzhou", {}};
  CatalogRefresh refresh{{.api = api,
                          .catalog = catalog,
                          .environment = machine.environment(),
                          .price_cache = "",
                          .log = {}}};
};

// The nodes of a type that is gone drift.
TEST_F(AlibabaTypeRefresh, KeepsWhatItKnewOfATypeThatCannotBeRead) {
  const std::string a =
      R"({"InstanceTypeId":"a","InstanceTypeFamily":"f","CpuCoreCount":2,"MemorySize":8})";
  const std::string b =
      R"(,{"InstanceTypeId":"b","InstanceTypeFamily":"f","CpuCoreCount":4,"MemorySize":8})";
  EXPECT_TRUE(knows_both(a + b));
  EXPECT_TRUE(knows_both(a + R"(,{"InstanceTypeId":"b","CpuCoreCount":"4"})"));
  EXPECT_EQ(catalog.find("b")->cpus, 4);
  EXPECT_TRUE(knows_both(a + ",null"));
  EXPECT_FALSE(knows_both(a)) << "all could be read: it is gone";
}

// Ten types, whose only prices are those of DescribePrice.
class AlibabaPriceRefresh : public FakeCloudTest {
 protected:
  AlibabaPriceRefresh()
      : catalog("cn-hangzhou", {}),
        refresh({.api = api,
                 .catalog = catalog,
                 .environment = machine.environment(),
                 .price_cache = "",
                 .log = {}}) {
    std::vector<TypeFacts> types;
    StockByType stock;
    for (int number = 0; number < 10; ++number) {
      auto& type = types.emplace_back(large_type());
      type.name = name_of(number);
      stock[type.name]["z1"] = true;
    }
    catalog.set_types(std::move(types));
    catalog.set_stock(stock, {});
    http.handler = [this](const net::ClientRequest& request) { return answer(request); };
  }
  static std::string name_of(int number) { return "ecs.g" + std::to_string(number) + ".large"; }
  bool has_price(int number) {
    return catalog.prices().learned().on_demand.contains(name_of(number));
  }
  bool read() { return wait(loop, refresh.refresh_prices({})); }
  std::size_t histories() const { return asked("DescribeSpotPriceHistory").size(); }

  Catalog catalog;
  CatalogRefresh refresh;
  // In place of a price; nullopt: there is one.
  std::function<std::optional<net::Response>(const std::string& type, const std::string& disk)>
      refusal = [](const std::string&, const std::string&) { return std::nullopt; };

 private:
  net::Response answer(const net::ClientRequest& request) {
    if (request.headers.get("x-acs-action") == "DescribeSpotPriceHistory") {
      return net::Response::json(200, R"({"SpotPrices":{"SpotPriceType":[]},"NextOffset":0})");
    }
    const auto refused =
        refusal(parameter(request, "InstanceType"), parameter(request, "SystemDisk.Category"));
    return refused.value_or(
        net::Response::json(200, R"({"PriceInfo":{"Price":{"OriginalPrice":0.5}}})"));
  }
};

TEST_F(AlibabaPriceRefresh, OfTypesThatHaveNoneHidesNoOther) {
  refusal = [](const std::string& type, const std::string&) {
    return type < name_of(6) ? std::optional(rpc_error("InvalidSystemDiskCategory.X", 403))
                             : std::nullopt;
  };
  EXPECT_TRUE(read()) << "nothing to read again in a minute";
  EXPECT_FALSE(has_price(5));
  EXPECT_TRUE(has_price(6));
  EXPECT_TRUE(has_price(9));
}

TEST_F(AlibabaPriceRefresh, OfATypeThatDoesNotTakeTheDiskAsksWithAnother) {
  refusal = [](const std::string&, const std::string& disk) {
    return disk == "cloud_essd"
               ? std::optional(rpc_error("InvalidSystemDiskCategory.ValueNotSupported", 400))
               : std::nullopt;
  };
  EXPECT_TRUE(read());
  EXPECT_TRUE(has_price(0));
}

TEST_F(AlibabaPriceRefresh, ThatWasCutShortGoesOnWhereItWas) {
  refusal = [](const std::string& type, const std::string&) {
    return type < name_of(6) ? std::optional(rpc_error("ServiceUnavailable", 503)) : std::nullopt;
  };
  EXPECT_FALSE(read());
  EXPECT_EQ(histories(), 5U) << "ECS is left alone";
  EXPECT_FALSE(has_price(6));
  EXPECT_FALSE(read());
  EXPECT_TRUE(has_price(6)) << "the rest comes before what failed";
  EXPECT_TRUE(has_price(9));
  refusal = [](const std::string&, const std::string&) { return std::nullopt; };
  const auto before = histories();
  EXPECT_TRUE(read());
  EXPECT_TRUE(has_price(0));
  EXPECT_EQ(histories() - before, 6U) << "what is known is not asked for again";
  EXPECT_TRUE(read());
  EXPECT_EQ(histories() - before, 16U);
}

}  // namespace
}  // namespace millwright::cloud::alibaba

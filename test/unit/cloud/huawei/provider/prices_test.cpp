// Prices that the operator gives or an earlier process left, and spot.
#include "unit/cloud/huawei/provider/provider_fixture.hpp"

namespace millwright::cloud::huawei {
namespace {

using testing::HasSubstr;
using testing::Not;

class HuaweiPrices : public HuaweiProvider {
 protected:
  void start_anew() {
    crash();
    start();
    loop.run_for(1min);
  }
  std::optional<scheduling::Offering> offering(
      std::string_view type_name, std::string_view zone,
      std::string_view capacity_type = model::kOnDemand) const {
    const auto types = cloud->instance_types({}, *the_class);
    for (const auto& each : scheduling::find_type(*types, type_name)->offerings) {
      if (each.zone() == zone && each.capacity_type() == capacity_type) {
        return each;
      }
    }
    return std::nullopt;
  }
  // 0 when there is no such offering.
  double price(std::string_view type_name, std::string_view zone,
               std::string_view capacity_type = model::kOnDemand) const {
    const auto found = offering(type_name, zone, capacity_type);
    return found ? found->price : 0;
  }
  void close_billing() {
    auto usual = http.handler;
    http.handler = [usual](const net::ClientRequest& request) -> base::Result<net::Response> {
      if (request.url.find("on-demand-resources") != std::string::npos) {
        return net::Response::text(503, "<html>");
      }
      return usual(request);
    };
  }
};

TEST_F(HuaweiPrices, OutliveARestartInTheCache) {
  settings.price_cache = "/prices.json";
  machine.files["/prices.json"] = "{damaged";
  start_anew();
  EXPECT_THAT(machine.files["/prices.json"], HasSubstr(R"("c9.xlarge.4":1.4)"));
  close_billing();
  start_anew();
  EXPECT_EQ(price("c9.large.4", "az-a"), 0.7);
}

// Without a price a flavor would be the last choice.
TEST_F(HuaweiPrices, OfAFlavorThatBillingRefusesStayAndOthersAreReadAnew) {
  EXPECT_EQ(price("c9.xlarge.4", "az-a"), 1.4);
  auto usual = http.handler;
  http.handler = [usual](const net::ClientRequest& request) -> base::Result<net::Response> {
    if (request.url.find("on-demand-resources") == std::string::npos) {
      return usual(request);
    }
    if (request.body.find("c9.xlarge.4") != std::string::npos) {
      return refusal(400, "CBC.0100", "the parameter is wrong");
    }
    return net::Response::json(200,
                               R"({"product_rating_results":[{"id":"c9.large.4","amount":0.9}]})");
  };
  loop.run_for(13h);
  EXPECT_EQ(price("c9.large.4", "az-a"), 0.9);
  EXPECT_EQ(price("c9.xlarge.4", "az-a"), 1.4);
}

TEST_F(HuaweiPrices, OfTheOperatorsFileServeWhileBillingTellsNone) {
  prices.on_demand = {{"c9.large.4", 9.5}};
  start_anew();
  EXPECT_EQ(price("c9.large.4", "az-a"), 0.7) << "the cloud's own come first";
  close_billing();
  start_anew();
  EXPECT_EQ(price("c9.large.4", "az-a"), 9.5);
  EXPECT_GT(price("c9.xlarge.4", "az-a"), 1000) << "not in the file: the last choice";
}

TEST_F(HuaweiPrices, OfAFileThatIsWrongAreRefusedByName) {
  const auto made = make_huawei_cloud(
      loop, http,
      {.region = "r", .cluster_id = "c", .project_id = {}, .price_file = "/no/such/file"},
      [](const std::string&) { return std::nullopt; }, metrics, {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("/no/such/file"));
}

TEST_F(HuaweiPrices, OfSpotAreNoneUnlessItIsAskedFor) {
  EXPECT_EQ(price("c9.large.4", "az-a", model::kSpot), 0);
}

TEST_F(HuaweiPrices, OfSpotAreTheOperatorsOrThoseOfOnDemand) {
  settings.spot = true;
  start_anew();
  EXPECT_EQ(price("c9.large.4", "az-a", model::kSpot), 0.7);
  EXPECT_TRUE(offering("c9.large.4", "az-a", model::kSpot)->available);
  EXPECT_FALSE(offering("c9.large.4", "az-b", model::kSpot)->available) << "sold out as spot there";
  EXPECT_EQ(price("c9.xlarge.4", "az-a", model::kSpot), 0) << "nobody says that it is sold so";
  prices.spot["c9.large.4"]["az-a"] = 0.2;
  start_anew();
  EXPECT_EQ(price("c9.large.4", "az-a", model::kSpot), 0.2);
}

// Without an offering, the nodes of a flavor drift.
TEST_F(HuaweiPrices, OfWhatIsSoldOutStayWithNothingToBuy) {
  cce.sale_of_xlarge = "az-a(sellout),az-b(abandon)";
  start_anew();
  const auto sold_out = offering("c9.xlarge.4", "az-a");
  ASSERT_TRUE(sold_out);
  EXPECT_FALSE(sold_out->available);
  EXPECT_EQ(sold_out->price, 1.4);
  EXPECT_FALSE(offering("c9.xlarge.4", "az-b")) << "not sold there any more";
}

TEST_F(HuaweiPrices, OfAClassThatIsGoneAreForgottenInADay) {
  const std::weak_ptr<const std::vector<scheduling::InstanceType>> old =
      *cloud->instance_types({}, *the_class);
  the_class->meta.name = "other";
  for (const auto& [hours, is_kept] : {std::pair(13h, true), std::pair(12h, false)}) {
    loop.run_for(hours);  // the catalog is read anew
    ASSERT_TRUE(cloud->instance_types({}, *the_class));
    EXPECT_EQ(!old.expired(), is_kept);
  }
}

TEST_F(HuaweiPrices, OfOneAmountMakeASpotNode) {
  settings.spot = true;
  start_anew();
  const auto made = create(claim("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("karpenter.sh/capacity-type"), "spot");
  const auto text = boost::json::serialize(cce.nodes.at("u1").body);
  EXPECT_THAT(text, HasSubstr(R"("extendParam":{"marketType":"spot"})"));
  EXPECT_THAT(text, HasSubstr(R"("karpenter.sh/capacity-type":"spot")"));
  EXPECT_THAT(text, HasSubstr(R"("billingMode":0)"));
}

TEST_F(HuaweiPrices, OfSpotThatIsSoldOutLeadToOnDemandInTheSameZone) {
  settings.spot = true;
  start_anew();
  cce.next_order = refusal(400, "CCE_CM.0021", "sold out");
  const auto made = create(claim("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("topology.kubernetes.io/zone"), "az-a");
  EXPECT_EQ(made->labels.at("karpenter.sh/capacity-type"), "on-demand");
  EXPECT_THAT(boost::json::serialize(cce.nodes.at("u1").body), Not(HasSubstr("marketType")));
}

TEST_F(HuaweiPrices, OfAFlavorThatTheNetworkCannotHaveAreAskedForInNoMarket) {
  settings.spot = true;
  start_anew();
  cce.next_order = refusal(400, "CCE.01400025", "no");
  for (const auto* name : {"a", "b"}) {
    const auto made = create(claim(name));
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "c9.xlarge.4") << name;
  }
}

}  // namespace
}  // namespace millwright::cloud::huawei

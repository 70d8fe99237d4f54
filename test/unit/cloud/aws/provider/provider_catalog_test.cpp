// Types and prices over failures and restarts.
#include "provider_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST_F(ProviderTest, CatalogsAreReadAgainAfterAFailure) {
  crash();
  ec2.aws.on("DescribeInstanceTypes",
             [](const Asked&) { return ec2_error("UnauthorizedOperation", 403); });
  start();
  loop.run_for(10s);
  EXPECT_EQ(cloud->instance_types({}, *the_class).error().kind, ErrorKind::NotReady);
  EXPECT_EQ(create(claim_named("a")).error().kind, ErrorKind::Unavailable);
  ec2.aws.on("DescribeInstanceTypes", read_test_data("instance_types.xml"));
  loop.run_for(2min);
  EXPECT_TRUE(cloud->instance_types({}, *the_class));
}

// Else a pod that needs a little more than there is buys one such machine after the other.
TEST_F(ProviderTest, ANodeTeachesHowMuchMemoryItsTypeHas) {
  const auto memory = [this] {
    const auto types = cloud->instance_types({}, *the_class);
    const auto* type = scheduling::find_type(*types, "m5.large");
    return model::get(type->capacity, model::kMemory);
  };
  const auto less = model::Quantity::from_units(memory().units() / 1048576 * 1048576 - 1048576);
  auto claim = claim_named("a");
  claim->meta.labels[std::string(model::kInstanceTypeLabel)] = "m5.large";
  claim->image_id = "ami-amd";
  model::Node node;
  node.capacity = {{"memory", less}};
  const int before = catalog_changes;
  cloud->learn_capacity(*claim, node);
  EXPECT_EQ(memory().units(), less.units());
  EXPECT_EQ(catalog_changes, before + 1);
  cloud->learn_capacity(*claim, node);
  EXPECT_EQ(catalog_changes, before + 1) << "nothing new";
  claim->meta.labels[std::string(model::kInstanceTypeLabel)] = "unheard-of";
  cloud->learn_capacity(*claim, node);
  EXPECT_EQ(catalog_changes, before + 1);
}

TEST_F(ProviderTest, PricesOfAnEarlierLifeServeUntilAwsTellsNewOnes) {
  const auto price_of = [this](const std::string& type) {
    const auto types = cloud->instance_types({}, *the_class);
    return scheduling::price_of(*types, {{std::string(model::kInstanceTypeLabel), type},
                                         {std::string(model::kZoneLabel), "us-west-2a"},
                                         {std::string(model::kCapacityTypeLabel), "on-demand"}})
        .value_or(0);
  };
  const auto product = [](const std::string& price) {
    return boost::json::serialize(boost::json::value{
        {"PriceList",
         boost::json::array{R"({"product":{"attributes":{"instanceType":"m5.large"}},"terms":)"
                            R"({"OnDemand":{"A":{"priceDimensions":{"B":{"pricePerUnit":{"USD":")" +
                            price + R"("}}}}}}})"}}});
  };
  crash();
  price_cache = "/prices.json";
  machine.files[price_cache] = "{damaged";
  ec2.aws.on("GetProducts", product("0.1234"));
  start();
  loop.run_for(1min);
  EXPECT_DOUBLE_EQ(price_of("m5.large"), 0.1234);
  EXPECT_THAT(machine.files[price_cache], HasSubstr("m5.large"));

  crash();
  ec2.aws.on("GetProducts", [](const Asked&) { return net::Response::text(500, "<html>"); });
  start();
  loop.run_for(1min);
  EXPECT_DOUBLE_EQ(price_of("m5.large"), 0.1234);

  crash();
  ec2.aws.on("GetProducts", product("0.2"));
  start();
  loop.run_for(1min);
  EXPECT_DOUBLE_EQ(price_of("m5.large"), 0.2);
}

}  // namespace
}  // namespace millwright::cloud::aws

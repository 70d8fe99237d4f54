// Which price serves, and the files that prices are read from and saved in.
#include "cloud/common/catalog/prices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::cloud {
namespace {

using testing::HasSubstr;

TEST(Prices, AreEstimatesUntilThereIsAnyList) {
  const Prices prices;
  EXPECT_EQ(prices.on_demand("m5.large", 0.1), 0.1);
  EXPECT_EQ(prices.spot("m5.large", "z"), std::nullopt);
}

TEST(Prices, TheApisAnswerComesBeforeTheFile) {
  Prices prices;
  prices.set_file(
      {.on_demand = {{"m5.large", 0.2}, {"c5.large", 0.1}}, .spot = {{"m5.large", {{"z", 0.05}}}}});
  EXPECT_EQ(prices.on_demand("m5.large", 7), 0.2);
  prices.set_on_demand({{"m5.large", 0.096}});
  prices.set_on_demand({});
  EXPECT_EQ(prices.on_demand("m5.large", 7), 0.096);
  EXPECT_EQ(prices.on_demand("c5.large", 7), 0.1);
  EXPECT_EQ(prices.on_demand("r5.large", 7), std::nullopt);
  EXPECT_EQ(prices.spot("m5.large", "z"), 0.05);
  prices.set_spot({{"m5.large", {{"y", 0.06}}}});
  const auto again = parse_price_file(write_price_file(prices.learned()), "f");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->on_demand, (PriceTable{{"m5.large", 0.096}})) << "without the file's";
  EXPECT_EQ(again->spot, (SpotTable{{"m5.large", {{"y", 0.06}}}}));
}

TEST(Prices, FilesSayWhereTheyAreWrong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[]", "prices.json: expected an object"},
      {"{", "prices.json: "},
      {R"({"onDemand":{"m5.large":"x"}})", "onDemand.m5.large: expected a price above zero"},
      {R"({"onDemand":{"m5.large":-1}})", "onDemand.m5.large"},
      {R"({"spot":{"m5.large":3}})", "spot.m5.large: expected an object"},
      {R"({"other":{}})", "other: expected the objects onDemand and spot"}};
  for (const auto& [text, problem] : cases) {
    const auto parsed = parse_price_file(text, "prices.json");
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr(problem));
  }
}

}  // namespace
}  // namespace millwright::cloud

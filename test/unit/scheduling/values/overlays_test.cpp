#include "millwright/scheduling/overlays.hpp"

#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace millwright::scheduling {
namespace {

using namespace testing;  // NOLINT: builders
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Overlay {
  std::string name;
  std::int32_t weight = 0;
  std::string price;
  std::string adjustment;
  model::ResourceList capacity;
  std::vector<model::SelectorRequirement> requirements;

  std::shared_ptr<const model::NodeOverlay> make() const {
    auto overlay = std::make_shared<model::NodeOverlay>();
    overlay->meta.name = name;
    overlay->weight = weight;
    overlay->price = price;
    overlay->price_adjustment = adjustment;
    overlay->capacity = capacity;
    overlay->requirements = requirements;
    return overlay;
  }
};

model::SelectorRequirement is(std::string_view key, std::string value,
                              model::Operator op = model::Operator::In) {
  return {.key = std::string(key), .op = op, .values = {std::move(value)}};
}

class Overlays : public ::testing::Test {
 protected:
  // Pools "blue" and "red" sell types "a" ($1) and "b" ($2); blue labels its nodes team=blue.
  OverlaidCatalog apply(std::vector<Overlay> overlays) {
    std::vector<std::shared_ptr<const model::NodeOverlay>> made;
    for (const auto& overlay : overlays) {
      made.push_back(overlay.make());
    }
    return apply_overlays(catalog_, pools_, made);
  }
  static double price(const OverlaidCatalog& result, const std::string& pool,
                      const std::string& type, const std::string& capacity_type = "on-demand") {
    const auto* found = find_type(result.catalog.at(pool), type);
    const auto offering =
        std::find_if(found->offerings.begin(), found->offerings.end(),
                     [&](const auto& each) { return each.capacity_type() == capacity_type; });
    return offering->price;
  }
  static std::vector<std::string> conflicting(const OverlaidCatalog& result) {
    std::vector<std::string> names;
    for (const auto& conflict : result.conflicts) {
      names.push_back(conflict.overlay);
    }
    return names;
  }

  InstanceTypes types_ = types({type("a").price(1), type("b").price(2)});
  Catalog catalog_{{"blue", types_}, {"red", types_}};
  std::vector<std::shared_ptr<const model::NodePool>> pools_{pool("blue").label("team", "blue"),
                                                             pool("red")};
};

TEST_F(Overlays, SetAddOrScalePricesAndNeverGoBelowZero) {
  struct Case {
    std::string price;
    std::string adjustment;
    double expected;
  };
  for (const auto& [set, adjustment, expected] :
       {Case{"0.25", "", 0.25}, Case{"", "+0.5", 2.5}, Case{"", "-0.5", 1.5}, Case{"", "-5", 0},
        Case{"", "+10%", 2.2}, Case{"", "-25%", 1.5}, Case{"", "-100%", 0}, Case{"", "+.5", 2.5},
        Case{"", "", 2}}) {
    EXPECT_DOUBLE_EQ(
        overlaid_price(*Overlay{.name = "o", .price = set, .adjustment = adjustment}.make(), 2),
        expected)
        << set << adjustment;
  }
}

TEST_F(Overlays, ConcernOnlyWhatTheirRequirementsMatch) {
  const auto by_type =
      apply({{.name = "o", .price = "9", .requirements = {is(model::kInstanceTypeLabel, "a")}}});
  EXPECT_DOUBLE_EQ(price(by_type, "red", "a"), 9);
  EXPECT_DOUBLE_EQ(price(by_type, "red", "b"), 2);
  const auto by_offering =
      apply({{.name = "o", .price = "9", .requirements = {is(model::kCapacityTypeLabel, "spot")}}});
  EXPECT_DOUBLE_EQ(price(by_offering, "red", "a", "spot"), 9);
  EXPECT_DOUBLE_EQ(price(by_offering, "red", "a"), 1);
  const auto by_pool =
      apply({{.name = "o", .price = "9", .requirements = {is(model::kNodePoolLabel, "red")}}});
  EXPECT_DOUBLE_EQ(price(by_pool, "red", "a"), 9);
  EXPECT_DOUBLE_EQ(price(by_pool, "blue", "a"), 1);
  EXPECT_EQ(by_pool.catalog.at("blue"), types_) << "an untouched pool keeps its list";
}

TEST_F(Overlays, AskForLabelsThatThePoolHas) {
  const auto result = apply({{.name = "o", .price = "9", .requirements = {is("team", "blue")}}});
  EXPECT_DOUBLE_EQ(price(result, "blue", "a"), 9);
  EXPECT_DOUBLE_EQ(price(result, "red", "a"), 1);
  const auto absent = apply(
      {{.name = "o", .price = "9", .requirements = {is("team", "blue", model::Operator::NotIn)}}});
  EXPECT_DOUBLE_EQ(price(absent, "blue", "a"), 1);
  EXPECT_DOUBLE_EQ(price(absent, "red", "a"), 9);
}

TEST_F(Overlays, TheHeaviestWinsResourceByResource) {
  const auto result = apply(
      {{.name = "light", .weight = 1, .price = "3", .capacity = resources({{"x.com/d", "1"}})},
       {.name = "heavy", .weight = 2, .price = "4", .capacity = resources({{"x.com/e", "2"}})}});
  EXPECT_DOUBLE_EQ(price(result, "red", "a"), 4);
  const auto* a = find_type(result.catalog.at("red"), "a");
  EXPECT_EQ(model::get(a->capacity, "x.com/d"), quantity("1"));
  EXPECT_EQ(model::get(a->allocatable(), "x.com/e"), quantity("2"));
  EXPECT_THAT(result.conflicts, IsEmpty());
}

TEST_F(Overlays, OfEqualWeightConflictAndTheLaterNameStays) {
  const auto result = apply({{.name = "a", .price = "3"}, {.name = "b", .price = "4"}});
  EXPECT_DOUBLE_EQ(price(result, "red", "a"), 4);
  EXPECT_THAT(conflicting(result), ElementsAre("a"));
  EXPECT_THAT(result.conflicts[0].message, HasSubstr("NodeOverlay b of the same weight"));
}

TEST_F(Overlays, EqualPricesConflictTooButEqualAmountsDoNot) {
  EXPECT_THAT(conflicting(apply({{.name = "a", .price = "3"}, {.name = "b", .price = "3"}})),
              ElementsAre("a"));
  const auto two = resources({{"x.com/d", "2"}});
  const auto three = resources({{"x.com/d", "3"}});
  EXPECT_THAT(apply({{.name = "a", .capacity = two}, {.name = "b", .capacity = two}}).conflicts,
              IsEmpty());
  EXPECT_THAT(
      conflicting(apply({{.name = "a", .capacity = two}, {.name = "b", .capacity = three}})),
      ElementsAre("a"));
}

TEST_F(Overlays, InConflictInOnePoolCountNowhere) {
  const auto result =
      apply({{.name = "a", .price = "3", .capacity = resources({{"x.com/d", "1"}})},
             {.name = "b", .price = "4", .requirements = {is(model::kNodePoolLabel, "red")}}});
  EXPECT_THAT(conflicting(result), ElementsAre("a"));
  EXPECT_DOUBLE_EQ(price(result, "blue", "a"), 1);
  EXPECT_FALSE(result.changes.contains("blue"));
}

TEST_F(Overlays, OfLightWeightConflictThoughAHeavierOneHidesBoth) {
  const auto result = apply({{.name = "heavy", .weight = 9, .price = "5"},
                             {.name = "a", .weight = 1, .price = "3"},
                             {.name = "b", .weight = 1, .price = "4"}});
  EXPECT_THAT(conflicting(result), ElementsAre("a"));
  EXPECT_DOUBLE_EQ(price(result, "red", "a"), 5);
}

TEST_F(Overlays, DoNotDependOnTheirOrder) {
  std::vector<Overlay> overlays{{.name = "a", .price = "3"},
                                {.name = "b", .price = "4"},
                                {.name = "c", .weight = 1, .adjustment = "+10%"}};
  const auto first = apply(overlays);
  std::reverse(overlays.begin(), overlays.end());
  const auto second = apply(overlays);
  EXPECT_EQ(first.changes, second.changes);
  EXPECT_EQ(conflicting(first), conflicting(second));
}

TEST_F(Overlays, LeavePoolsThatSellTheSameWithOneList) {
  const auto result = apply({{.name = "o", .price = "9"}});
  EXPECT_NE(result.catalog.at("red"), types_);
  EXPECT_EQ(result.catalog.at("red"), result.catalog.at("blue"));
}

TEST_F(Overlays, OnTheirWayOutCountNoMore) {
  auto overlay = std::make_shared<model::NodeOverlay>(*Overlay{.name = "o", .price = "9"}.make());
  overlay->meta.deletion_timestamp = base::TimePoint{};
  EXPECT_EQ(apply_overlays(catalog_, pools_, {overlay}).catalog, catalog_);
}

}  // namespace
}  // namespace millwright::scheduling

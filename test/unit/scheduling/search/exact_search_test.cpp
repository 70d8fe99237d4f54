// The exact search for few claims, beside every plan there is.
#include "scheduling/search/exact/exact_search.hpp"

#include "scheduling/search/exact/loading_repair.hpp"
#include "small_market.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t kEnoughToProve = 10'000'000;
constexpr double kNodeCost = 0.3;

// Tries every way to divide the pods among machines.
class AllPlans {
 public:
  explicit AllPlans(const SmallMarket& market) : market_(market) {
    for (LotId lot; lot < market.lots().end_id(); ++lot) {
      pods_.insert(pods_.end(), market.lots()[lot].left, lot);
    }
    const std::size_t sets = std::size_t{1} << pods_.size();
    least_.assign(pods_.size() + 1,
                  std::vector<double>(sets, std::numeric_limits<double>::infinity()));
    least_[0][0] = 0;
    for (std::size_t set = 1; set < sets; ++set) {
      const std::size_t first = set & (~set + 1);
      for (std::size_t part = set; part > 0; part = (part - 1) & set) {
        const double price =
            (part & first) != 0 ? price_for(part) : std::numeric_limits<double>::infinity();
        for (std::size_t count = 1; count <= pods_.size(); ++count) {
          least_[count][set] = std::min(least_[count][set], least_[count - 1][set & ~part] + price);
        }
      }
    }
  }

  // What the cheapest costs if only claims beyond so many cost more than their price.
  double least(std::size_t claims) const {
    double result = std::numeric_limits<double>::infinity();
    for (std::size_t count = 0; count < least_.size(); ++count) {
      const double more = count > claims ? static_cast<double>(count - claims) : 0;
      result = std::min(result, least_[count].back() + kNodeCost * more);
    }
    return result;
  }

 private:
  // Of the cheapest machine for these pods.
  double price_for(std::size_t set) const {
    double result = std::numeric_limits<double>::infinity();
    for (const SoldMachine& machine : market_.machines()) {
      Amounts left = *machine.room;
      ById<LotId, std::size_t> count(market_.lots().size());
      bool there = true;
      for (std::size_t pod = 0; pod < pods_.size(); ++pod) {
        if ((set >> pod & 1U) != 0) {
          const Amounts& requests = *market_.lots()[pods_[pod]].requests;
          there = there && fits(requests, left) && count[pods_[pod]] < market_.most()[pods_[pod]];
          ++count[pods_[pod]];
          subtract_from(left, requests);
        }
      }
      result = there ? std::min(result, machine.price) : result;
    }
    return result;
  }

  const SmallMarket& market_;
  std::vector<LotId> pods_;
  std::vector<std::vector<double>> least_;  // by number of machines and set of pods
};

double cost_of(const std::vector<Fill>& fills, std::size_t claims) {
  const double more = fills.size() > claims ? static_cast<double>(fills.size() - claims) : 0;
  return price_of_all(fills) + kNodeCost * more;
}

struct ExactCase {
  const char* name;
  std::vector<MachineOf> machines;
  std::vector<LotOf> lots;
  double price;        // of the plan that there is
  std::size_t claims;  // of it
  double cheapest;     // `price` if that is the cheapest plan
};

TEST(ExactSearch, FindsTheCheapestPlan) {
  const std::vector<ExactCase> cases = {
      {"nothing costs less", {{4, 16, 10, 4}}, {{1, 1, 4}}, 4, 1, 4},
      {"a large and a small machine",
       {{1, 4, 10, 1.1}, {4, 16, 10, 4}, {8, 32, 10, 8}},
       {{1, 1, 5}},
       8,
       2,
       5.1},
      {"one more node has to save what it costs",
       {{1, 4, 10, 1.1}, {4, 16, 10, 4}, {8, 32, 10, 5.3}},
       {{1, 1, 5}},
       5.3,
       1,
       5.3},
      {"fewer nodes save nothing by themselves",
       {{1, 4, 10, 1}, {8, 32, 10, 5.1}},
       {{1, 1, 5}},
       5,
       5,
       5},
      {"pods that fill a machine together", {{4, 16, 10, 1}}, {{3, 1, 3}, {1, 15, 3}}, 6, 6, 3},
      {"enough room on the whole, but not for whole pods",
       {{4, 16, 10, 1}, {5, 20, 10, 1.2}},
       {{3, 1, 4}},
       4.8,
       4,
       4},
      {"one large pod needs a large machine",
       {{2, 8, 10, 1}, {8, 32, 10, 7}},
       {{5, 1, 1}, {1, 1, 3}},
       9,
       3,
       7},
  };
  for (const ExactCase& c : cases) {
    SCOPED_TRACE(c.name);
    SmallMarket market(c.machines, c.lots);
    std::size_t work = kEnoughToProve;
    const auto outcome = ExactSearch(market.of(kNodeCost)).run(c.price, c.claims, work);
    EXPECT_NEAR(outcome.cost, c.cheapest, 1e-9);
    EXPECT_NEAR(outcome.at_least, outcome.cost, 1e-9);
    EXPECT_EQ(outcome.fills.empty(), c.cheapest == c.price);
    EXPECT_LT(work, kEnoughToProve);
  }
}

// Pods of a lot keep apart by as many as this to a machine.
std::size_t random_limit() {
  return *rc::gen::element<std::size_t>(1, 2, 8, 8);
}

SmallMarket random_market() {
  const auto number = [](int from, int to) { return *rc::gen::inRange(from, to); };
  std::vector<MachineOf> machines = {{8, 32, 20, number(40, 90) / 10.0}};
  std::vector<LotOf> lots;
  for (int i = number(0, 5); i > 0; --i) {
    machines.push_back({number(1, 9), number(4, 33), number(1, 8), number(5, 90) / 10.0});
  }
  int pods = 0;
  for (int i = number(1, 5); i > 0 && pods < 7; --i) {
    lots.push_back({number(1, 6), number(1, 17), number(1, 8 - pods)});
    pods += lots.back().pods;
  }
  return SmallMarket(machines, lots);
}

RC_GTEST_PROP(ExactSearchProperty, IsAsCheapAsTheCheapestOfAllPlans, ()) {
  SmallMarket market = random_market();
  market.keep_apart(random_limit());
  const auto claims = *rc::gen::inRange<std::size_t>(1, 6);
  const double optimum = AllPlans(market).least(claims);
  const double price = optimum * *rc::gen::inRange(90, 200) / 100.0;
  std::size_t work = kEnoughToProve;
  const auto outcome = ExactSearch(market.of(kNodeCost)).run(price, claims, work);
  RC_ASSERT(std::abs(outcome.cost - std::min(price, optimum)) < 2e-5 * price);
  RC_ASSERT(std::abs(outcome.at_least - outcome.cost) < 1e-9);
  if (!outcome.fills.empty()) {
    RC_ASSERT(std::abs(cost_of(outcome.fills, claims) - outcome.cost) < 1e-9);
    RC_ASSERT(pods_of_all(outcome.fills) == pods_of_all({{0, 0, market.all_pods()}}));
    for (const Fill& fill : outcome.fills) {
      RC_ASSERT(market.holds_its_pods(fill));
    }
  }
}

RC_GTEST_PROP(ExactSearchProperty, WithLittleWorkItClaimsNoMoreThanIsTrue, ()) {
  SmallMarket market = random_market();
  market.keep_apart(random_limit());
  const auto claims = *rc::gen::inRange<std::size_t>(1, 6);
  const double optimum = AllPlans(market).least(claims);
  const double price = optimum * *rc::gen::inRange(100, 200) / 100.0;
  std::size_t work = *rc::gen::inRange<std::size_t>(0, 300);
  const std::size_t before = work;
  const auto outcome = ExactSearch(market.of(kNodeCost)).run(price, claims, work);
  RC_ASSERT(work <= before);
  RC_ASSERT(outcome.at_least <= optimum + 2e-5 * price);
  RC_ASSERT(outcome.cost >= optimum - 1e-9);
  RC_ASSERT(outcome.cost <= price);
  RC_ASSERT(outcome.fills.empty() ||
            pods_of_all(outcome.fills) == pods_of_all({{0, 0, market.all_pods()}}));
}

TEST(ExactSearch, WithoutWorkItFindsNothing) {
  SmallMarket market({{4, 16, 10, 1}}, {{3, 1, 3}, {1, 15, 3}});
  std::size_t work = 0;
  const auto outcome = ExactSearch(market.of(kNodeCost)).run(6, 6, work);
  EXPECT_THAT(outcome.fills, IsEmpty());
  EXPECT_EQ(outcome.cost, 6);
  EXPECT_LE(outcome.at_least, 3);
}

TEST(MachineCovers, ListsWhatHasEnoughRoomTheCheapestFirst) {
  SmallMarket market({{2, 8, 10, 2.1}, {4, 16, 10, 4}}, {{1, 1, 7}});
  std::size_t work = kEnoughToProve;
  const auto of = market.of(0);
  MachineCovers covers(of, 9, work);
  EXPECT_NEAR(covers.at_least(), 7, 1e-9);
  const auto found = covers.between(0, 10.25, work);
  std::vector<double> costs;
  for (const MachineCover& cover : found) {
    costs.push_back(cover.cost);
  }
  EXPECT_THAT(costs, ::testing::ElementsAre(::testing::DoubleEq(8), ::testing::DoubleEq(8.2),
                                            ::testing::DoubleEq(8.4), ::testing::DoubleEq(10.1)));
  EXPECT_THAT(covers.between(8.1, 8.3, work), SizeIs(1));
}

// Every machine could be full: what does not go where it suits best must change places.
TEST(Load, PodsChangePlacesUntilEverythingFits) {
  SmallMarket market({{7, 7, 20, 1}}, {{4, 2, 2}, {3, 5, 2}, {5, 1, 1}, {2, 6, 1}});
  const auto of = market.of(0);
  LoadedBins bins(of);
  bins.begin({0, 0, 0});
  std::size_t work = kEnoughToProve;
  ASSERT_TRUE(load(bins, work));
  const auto fills = bins.fills();
  EXPECT_EQ(pods_of_all(fills), pods_of_all({{0, 0, market.all_pods()}}));
  for (const Fill& fill : fills) {
    EXPECT_TRUE(market.holds_its_pods(fill));
  }
}

TEST(LoadingTree, IsCertainThatPodsDoNotFit) {
  SmallMarket market({{4, 16, 10, 1}}, {{3, 1, 4}});
  const auto of = market.of(0);
  LoadedBins bins(of);
  LoadingTree tree(bins);
  std::size_t work = kEnoughToProve;
  bins.begin({0, 0, 0});
  EXPECT_EQ(tree.run(work), LoadingTree::Answer::DoesNotFit);
  bins.begin({0, 0, 0, 0});
  EXPECT_EQ(tree.run(work), LoadingTree::Answer::Fits);
  EXPECT_THAT(bins.fills(), SizeIs(4));
}

TEST(LoadingTree, PodsThatKeepApartNeedMachinesOfTheirOwn) {
  SmallMarket market({{4, 16, 10, 1}}, {{1, 1, 4}});
  market.keep_apart(2);
  const auto of = market.of(0);
  LoadedBins bins(of);
  LoadingTree tree(bins);
  std::size_t work = kEnoughToProve;
  bins.begin({0});
  EXPECT_EQ(tree.run(work), LoadingTree::Answer::DoesNotFit);
  bins.begin({0, 0});
  EXPECT_EQ(tree.run(work), LoadingTree::Answer::Fits);
}

TEST(LoadingTree, IsNotCertainWithoutWork) {
  SmallMarket market({{4, 16, 10, 1}}, {{3, 1, 4}});
  const auto of = market.of(0);
  LoadedBins bins(of);
  std::size_t work = 1;
  bins.begin({0, 0, 0, 0});
  EXPECT_EQ(LoadingTree(bins).run(work), LoadingTree::Answer::NotKnown);
}

}  // namespace
}  // namespace millwright::scheduling::testing

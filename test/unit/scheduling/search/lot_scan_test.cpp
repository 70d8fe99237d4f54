// The lot that suits the room best, beside a look at every lot each time.
#include "scheduling/search/lots/lot_scan.hpp"

#include "search_world.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

const MachineOf kHuge{4000, 4000, 4000, 1};

// The same, without any memory of what it has seen.
class PlainScan {
 public:
  PlainScan(const ById<LotId, Lot>& lots, const std::vector<double>& attraction)
      : lots_(lots), attraction_(attraction) {
    for (const Lot& lot : lots) {
      available_.push_back(lot.left);
    }
  }
  // `stride`: of every so many lots.
  std::optional<LotId> best(const Amounts& left, std::size_t stride = 1) const {
    std::optional<LotId> best;
    double most = -1;
    for (LotId lot; lot < lots_.end_id(); lot = LotId(lot.index() + stride)) {
      double score = 0;
      for (std::size_t c = 0; c < left.size(); ++c) {
        score += attraction_[lot.index() * left.size() + c] * static_cast<double>(left[c]);
      }
      if (score > most && available_[lot] > 0 && fits(*lots_[lot].requests, left)) {
        best = lot;
        most = score;
      }
    }
    return best;
  }
  void take(LotId lot) { --available_[lot]; }
  void close(LotId lot) { available_[lot] = 0; }
  bool open(LotId lot) const { return available_[lot] > 0; }

 private:
  const ById<LotId, Lot>& lots_;
  const std::vector<double>& attraction_;  // by lot and column
  ById<LotId, std::size_t> available_;
};

// All lots, for either scan.
struct Wanted {
  std::vector<double> attraction;  // by lot and column
  SuitorsPtr suitors;
};

Wanted all_of(SearchWorld& world, std::vector<double> attraction) {
  std::vector<LotId> lots;
  for (LotId lot; lot < world.all().end_id(); ++lot) {
    lots.push_back(lot);
  }
  auto suitors =
      std::make_shared<const Suitors>(std::move(lots), attraction, world.lots().demand());
  return {std::move(attraction), std::move(suitors)};
}

// Few, or enough for many blocks of a scan.
std::vector<LotOf> random_lots() {
  const int count = *rc::gen::oneOf(rc::gen::inRange(1, 30), rc::gen::inRange(100, 190));
  std::vector<LotOf> lots;
  for (int i = 0; i < count; ++i) {
    lots.push_back({*rc::gen::inRange(0, 9), *rc::gen::inRange(0, 9), *rc::gen::inRange(1, 6)});
  }
  return lots;
}

std::vector<double> random_attraction(const ById<LotId, Lot>& lots, std::size_t columns) {
  std::vector<double> attraction;
  for (std::size_t i = 0; i < lots.size() * columns; ++i) {
    attraction.push_back(*rc::gen::inRange(0, 50));
  }
  return attraction;
}

// Fills one claim with both, as Repacking does; the pods leave the lots where `for_good`.
void fill_with_both(LotScan& scan, SearchWorld& world, const Wanted& wanted, Amounts left,
                    bool for_good) {
  scan.begin(world.lots(), wanted.suitors, world.lots().prices(world.all().front().shape));
  PlainScan plain(world.all(), wanted.attraction);
  std::vector<LotId> taken;
  while (true) {
    const auto found = scan.best(left);
    RC_ASSERT(found == plain.best(left));
    if (!found) {
      break;
    }
    const int what = *rc::gen::inRange(0, 8);
    if (what == 0) {
      scan.close(*found);
      plain.close(*found);
      continue;
    }
    scan.take(*found);
    plain.take(*found);
    subtract_from(left, *world.all()[*found].requests);
    taken.push_back(*found);
    if (what == 1) {
      const auto is_like_it = [&](LotId lot) { return lot.index() % 3 == found->index() % 3; };
      scan.close_if(wanted.suitors->lots, [&](LotId lot) {
        RC_ASSERT(plain.open(lot));
        return is_like_it(lot);
      });
      for (LotId lot; lot < world.all().end_id(); ++lot) {
        if (is_like_it(lot)) {
          plain.close(lot);
        }
      }
    }
  }
  for (const LotId index : taken) {
    Lot& lot = world.lots().lots()[index];
    if (for_good) {
      world.lots().remove_last(lot, world.lots().items()[lot.items.front()]);
    }
  }
}

RC_GTEST_PROP(LotScanProperty, FindsWhatALookAtEveryLotFinds, ()) {
  SearchWorld world(world_of({kHuge}, random_lots()));
  LotScan scan;
  for (int pass = 0; pass < 2; ++pass) {
    scan.reset(world.lots());
    Wanted wanted;
    for (int claim = 0; claim < 6; ++claim) {
      const Amounts room = world.room(
          {*rc::gen::inRange(0, 60), *rc::gen::inRange(0, 60), *rc::gen::inRange(0, 40), 1});
      if (wanted.suitors == nullptr || *rc::gen::arbitrary<bool>()) {
        wanted = all_of(world, random_attraction(world.all(), room.size()));
      }
      fill_with_both(scan, world, wanted, room, *rc::gen::arbitrary<bool>());
    }
  }
}

// Claims that begin alike: as a rule they come to the same, but not always.
void fill_along_a_trail(LotScan& scan, LotScan& alone, SearchWorld& world, const Wanted& wanted,
                        const ClaimStart& start, Amounts left) {
  const auto& prices = world.lots().prices(world.all().front().shape);
  scan.begin(world.lots(), wanted.suitors, prices);
  scan.follow(start);
  alone.begin(world.lots(), wanted.suitors, prices);
  PlainScan plain(world.all(), wanted.attraction);
  std::vector<LotId> taken;
  while (true) {
    const auto found = scan.best(left);
    RC_ASSERT(found == plain.best(left));
    RC_ASSERT(found == alone.best(left));
    RC_ASSERT(scan.work() == alone.work());
    if (!found) {
      break;
    }
    const bool as_usual = *rc::gen::inRange(0, 12) > 0;
    if ((found->index() % 7 == 3) == as_usual) {
      scan.close(*found);
      alone.close(*found);
      plain.close(*found);
      continue;
    }
    scan.take(*found);
    alone.take(*found);
    plain.take(*found);
    subtract_from(left, *world.all()[*found].requests);
    taken.push_back(*found);
    if (found->index() % 4 == 1) {
      const std::size_t others = *rc::gen::inRange(0, 6) > 0 ? 2 : *rc::gen::inRange(0, 3);
      const auto is_other = [&](LotId lot) { return lot.index() % 5 == others; };
      scan.close_if(wanted.suitors->lots, is_other);
      alone.close_if(wanted.suitors->lots, is_other);
      for (LotId lot; lot < world.all().end_id(); ++lot) {
        if (is_other(lot)) {
          plain.close(lot);
        }
      }
    }
  }
  for (const LotId index : taken) {
    Lot& lot = world.lots().lots()[index];
    if (!start.in_mind) {
      world.lots().remove_last(lot, world.lots().items()[lot.items.front()]);
    }
  }
}

RC_GTEST_PROP(LotScanProperty, GoesTheWayOfAnEarlierClaimWhereNothingSuitsBetter, ()) {
  SearchWorld world(world_of({kHuge}, random_lots()));
  LotScan scan;
  LotScan alone;
  scan.reset(world.lots());
  alone.reset(world.lots());
  std::vector<Amounts> rooms;
  for (int row = 0; row < 2; ++row) {
    rooms.push_back(world.room(
        {*rc::gen::inRange(5, 60), *rc::gen::inRange(5, 60), *rc::gen::inRange(1, 40), 1}));
  }
  const Wanted wanted = all_of(world, random_attraction(world.all(), rooms.front().size()));
  for (int claim = 0; claim < 12; ++claim) {
    const std::size_t row = *rc::gen::inRange<std::size_t>(0, rooms.size());
    const ClaimStart start{
        .lot = LotId(claim < 8 ? 0 : 1), .row = row, .in_mind = *rc::gen::arbitrary<bool>()};
    fill_along_a_trail(scan, alone, world, wanted, start, rooms[row]);
  }
}

// The second claim closes a lot more, and what it finds holds for it alone.
TEST(LotScan, AClaimThatClosesFewerLotsDoesNotGoTheWayOfOneThatClosesMore) {
  SearchWorld world(world_of({kHuge}, {{3, 3, 5}, {2, 2, 5}, {1, 1, 5}}));
  LotScan scan;
  scan.reset(world.lots());
  const auto wanted = all_of(world, {3, 3, 3, 2, 2, 2, 1, 1, 1});
  const auto second_of_claim = [&](std::span<const LotId> closed) {
    scan.begin(world.lots(), wanted.suitors, world.lots().prices(world.all().front().shape));
    scan.follow({.lot = LotId(0), .row = 0, .in_mind = true});
    EXPECT_EQ(scan.best(world.room({20, 20, 20, 1})), LotId(0));
    scan.take(LotId(0));
    scan.close_if(closed, [](LotId) { return true; });
    const auto found = scan.best(world.room({2, 2, 20, 1}));
    if (found) {
      scan.take(*found);
    }
    return found;
  };
  EXPECT_EQ(second_of_claim({}), LotId(1));
  EXPECT_EQ(second_of_claim(std::array{LotId(1)}), LotId(2));
  EXPECT_EQ(second_of_claim({}), LotId(1));
}

TEST(LotScan, LooksAtNoneOfNoLots) {
  SearchWorld world(world_of({kHuge}, {{2, 2, 1}}));
  LotScan scan;
  scan.reset(world.lots());
  Lot& lot = world.lots().lots().front();
  world.lots().remove_last(lot, world.lots().items()[lot.items.front()]);
  scan.begin(world.lots(), all_of(world, {1, 1, 1}).suitors, world.lots().prices(lot.shape));
  EXPECT_EQ(scan.best(world.room(kHuge)), std::nullopt);
}

TEST(LotScan, OfLotsThatSuitAlikeTheDearestComesFirst) {
  SearchWorld world(world_of({kHuge}, {{1, 1, 1}, {4, 4, 1}, {2, 2, 1}}));
  LotScan scan;
  scan.reset(world.lots());
  scan.begin(world.lots(), all_of(world, std::vector<double>(9, 0)).suitors,
             world.lots().prices(world.all().front().shape));
  EXPECT_EQ(scan.best(world.room({8, 8, 8, 1})), LotId(0));
  EXPECT_EQ(scan.best(world.room({3, 3, 8, 1})), LotId(1));
  EXPECT_EQ(scan.best(world.room({1, 1, 8, 1})), LotId(2));
  EXPECT_EQ(scan.best(world.room({0, 0, 8, 1})), std::nullopt);
}

// 20 x 20 sizes: too many to look at each time.
std::vector<LotOf> many_lots() {
  std::vector<LotOf> lots;
  for (int cpu = 1; cpu <= 20; ++cpu) {
    for (int memory = 1; memory <= 20; ++memory) {
      lots.push_back({cpu, memory, 2});
    }
  }
  return lots;
}

std::vector<double> larger_first(const ById<LotId, Lot>& lots) {
  std::vector<double> attraction;
  for (const Lot& lot : lots) {
    attraction.insert(attraction.end(), lot.requests->begin(), lot.requests->end());
  }
  return attraction;
}

TEST(LotScan, OfVeryManyLotsItLooksAtSomeAndTakesNoneThatIsTooLarge) {
  SearchWorld world(world_of({kHuge}, many_lots()));
  ASSERT_EQ(world.all().size(), 400U);
  LotScan scan;
  scan.reset(world.lots());
  const std::vector<double> attraction = larger_first(world.all());
  scan.begin(world.lots(), all_of(world, attraction).suitors,
             world.lots().prices(world.all().front().shape));
  PlainScan plain(world.all(), attraction);
  Amounts left = world.room({60, 50, 40, 1});
  EXPECT_TRUE(scan.best(left));
  EXPECT_LT(scan.work(), world.all().size());
  std::size_t pods = 0;
  while (true) {
    const auto found = scan.best(left);
    if (!found) {
      break;
    }
    ASSERT_TRUE(fits(*world.all()[*found].requests, left));
    scan.take(*found);
    plain.take(*found);
    subtract_from(left, *world.all()[*found].requests);
    ++pods;
  }
  EXPECT_EQ(plain.best(left), std::nullopt);
  EXPECT_GT(pods, 2U);
}

TEST(LotScan, OfVeryManyLotsEveryThirdIsLookedAtAgainAndAgain) {
  SearchWorld world(world_of({kHuge}, many_lots()));
  const std::vector<double> attraction = larger_first(world.all());
  const SuitorsPtr suitors = all_of(world, attraction).suitors;
  LotScan scan;
  scan.reset(world.lots());
  for (int claim = 0; claim < 2; ++claim) {
    scan.begin(world.lots(), suitors, world.lots().prices(world.all().front().shape));
    PlainScan plain(world.all(), attraction);
    // There is room for the largest all the time.
    Amounts left = world.room({2000, 2000, 400, 1});
    for (int pod = 0; pod < 80; ++pod) {
      const auto found = scan.best(left);
      ASSERT_TRUE(found);
      ASSERT_EQ(found, plain.best(left, 3)) << "claim " << claim << ", pod " << pod;
      scan.take(*found);
      plain.take(*found);
      subtract_from(left, *world.all()[*found].requests);
    }
  }
}

TEST(LotScan, PodsThatHaveLeftOnTheWayAreNotFound) {
  SearchWorld world(world_of({kHuge}, {{4, 4, 1}, {2, 2, 1}}));
  const SuitorsPtr suitors = all_of(world, std::vector<double>(6, 0)).suitors;
  const Amounts room = world.room(kHuge);
  LotScan scan;
  scan.reset(world.lots());
  const auto begin = [&] {
    scan.begin(world.lots(), suitors, world.lots().prices(world.all().front().shape));
  };
  begin();
  EXPECT_EQ(scan.best(room), LotId(0));
  Lot& first = world.lots().lots().front();
  world.lots().remove_last(first, world.lots().items()[first.items.front()]);
  EXPECT_EQ(world.lots().departures(), std::vector<LotId>{LotId(0)});
  begin();
  EXPECT_EQ(scan.best(room), LotId(1));
}

TEST(LotScan, OfVeryManyLotsItFindsTheOneThatFits) {
  SearchWorld world(world_of({kHuge}, many_lots()));
  const SuitorsPtr suitors = all_of(world, larger_first(world.all())).suitors;
  for (LotId lot; lot < world.all().end_id(); ++lot) {
    const Amounts& requests = *world.all()[lot].requests;
    LotScan scan;
    scan.reset(world.lots());
    scan.begin(world.lots(), suitors, world.lots().prices(world.all().front().shape));
    scan.close_if(suitors->lots, [&](LotId other) { return other != lot; });
    // Room for all, by worth.
    Amounts left = world.room({200, 200, 40, 1});
    EXPECT_EQ(scan.best(left), lot) << requests[0] << " " << requests[1];
  }
}

}  // namespace
}  // namespace millwright::scheduling::testing

#include "plane/field/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::field {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Figures equal_figures() {
  Figures figures;
  for (const auto& kind : kFigures) {
    figures.*kind.value = 10;
  }
  figures.first_claim = 0.1;
  figures.all_bound = 5;
  return figures;
}

Pair pair_of(Phase phase) {
  Pair pair{.phase = std::move(phase), .ours = equal_figures(), .peer = equal_figures()};
  pair.peer->all_bound = 10;
  return pair;
}

TEST(Comparison, AsMuchAsThePeerIsNoMiss) {
  EXPECT_THAT(missed_targets(pair_of({.name = "burst"})), IsEmpty());
}

TEST(Comparison, NamesWhatIsMoreThanItsTarget) {
  Pair pair = pair_of({.name = "burst"});
  pair.ours->first_claim = 0.3;
  pair.ours->all_bound = 7.1;
  pair.ours->evicted = 11;
  pair.ours->nodes = 11;  // no target
  EXPECT_THAT(missed_targets(pair), ElementsAre("firstClaim", "allBound", "evicted"));
  EXPECT_THAT(comparison_text(pair),
              HasSubstr("evicted                          11         10    1.10"
                        "  at most 10  MISSED"));
}

TEST(Comparison, TheFirstClaimCountsWhereThereIsNoRoom) {
  Pair pair = pair_of({.name = "fewer", .begins_without_room = false});
  pair.ours->first_claim = 8;
  EXPECT_THAT(missed_targets(pair), IsEmpty());
}

TEST(Comparison, BoundCountsFromTheLastStep) {
  Pair pair = pair_of({.name = "jobs", .steps = {{0, ""}, {270, ""}}});
  pair.peer->all_bound = 280;
  pair.ours->all_bound = 276;
  EXPECT_THAT(missed_targets(pair), IsEmpty());
  pair.ours->all_bound = 278;
  EXPECT_THAT(missed_targets(pair), ElementsAre("allBound"));
}

TEST(Comparison, AFigureThatOnlyThePeerHasIsMissed) {
  Pair pair = pair_of({.name = "burst"});
  pair.ours->all_bound = std::nullopt;
  pair.peer->requests = std::nullopt;
  EXPECT_THAT(missed_targets(pair), ElementsAre("allBound"));
}

// Ours settles after 10 s and keeps nodes for 3,600 $/h; the peer after 30 s.
TEST(Comparison, WhoSettlesFirstPaysOn) {
  Pair pair = pair_of({.name = "burst"});
  pair.ours->price_per_hour = 3'600;
  pair.peer->settled = 30;
  add_dollars_until_both(pair);
  EXPECT_EQ(pair.ours->dollars_until_both, 30);
  EXPECT_EQ(pair.peer->dollars_until_both, 10);
}

}  // namespace
}  // namespace millwright::field

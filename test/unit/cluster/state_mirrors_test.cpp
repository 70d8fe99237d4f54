// What the state learns from mirror annotations.
#include "millwright/cluster/state.hpp"
#include "unit/cluster/objects.hpp"
#include "unit/cluster/state_kit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::cluster {
namespace {

using scheduling::Reservation;
using testing::at;
using testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kept;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::record_of;
using testing::room;
using testing::web;

TEST(StateAndMirrors, LearnsReservationsAndFencesFromTheObjectsThatMirrorThem) {
  Ledger ledger;
  State state(ledger);
  const std::string text = encode_reservations({room("c", 2)});
  const std::string fence = encode_fence({"n", "Empty", at(3)});
  const auto claim = [&](int version) {
    return std::move(ClaimBuilder("c").version(version).provider("p").annotation(
        model::kReservationsAnnotation, text));
  };
  state.upsert(claim(1).build());
  EXPECT_THAT(kept(state), ElementsAre("web on c: 2"));
  state.upsert(
      NodeBuilder("n").version(2).provider("p").annotation(model::kFenceAnnotation, fence).build());
  EXPECT_TRUE(record_of(state, "n")->fenced);
  EXPECT_THAT(kept(state), ElementsAre("web on n: 2"));
  // A pod that bound needs no more room, even when the claim is written again for another reason.
  state.upsert(web("web-1").on("n").build());
  state.snapshot();
  state.upsert(claim(3).annotation("note", "changed").build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
  // What is reserved is said once; a fence may be taken back.
  state.upsert(ClaimBuilder("c").version(4).provider("p").build());
  state.upsert(NodeBuilder("n").version(5).provider("p").build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
  EXPECT_FALSE(record_of(state, "n")->fenced);
}

// A kubelet may write on its Node.
TEST(StateAndMirrors, ANodesOwnWordsReserveNothing) {
  Ledger ledger;
  State state(ledger);
  state.upsert(NodeBuilder("n")
                   .annotation(model::kReservationsAnnotation, encode_reservations({room("n", 2)}))
                   .build());
  EXPECT_THAT(kept(state), IsEmpty());
}

TEST(StateAndMirrors, ADelayedMirrorDoesNotOverruleWhatThisProcessDecided) {
  Ledger ledger;
  State state(ledger);
  state.upsert(ClaimBuilder("c").version(1).provider("p").build());
  ledger.reserve(room("c", 1));
  const auto mirrored = [](int version, std::int32_t count) {
    return ClaimBuilder("c")
        .version(version)
        .provider("p")
        .annotation(model::kReservationsAnnotation, encode_reservations({room("c", count)}))
        .build();
  };
  state.upsert(mirrored(2, 5));
  EXPECT_THAT(kept(state), ElementsAre("web on c: 1"));
  state.upsert(NodeBuilder("n").provider("p").build());
  state.upsert(mirrored(3, 4));
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
}

TEST(StateAndMirrors, ARepeatedMirrorDoesNotBringBackWhatEnded) {
  Ledger ledger;
  State state(ledger);
  const std::string text = encode_reservations({room("c", 1)});
  const auto claim = [&](int version) {
    return ClaimBuilder("c")
        .version(version)
        .annotation(model::kReservationsAnnotation, text)
        .build();
  };
  state.upsert(claim(1));
  EXPECT_THAT(kept(state), ElementsAre("web on c: 1"));
  ledger.lower(room("c", 1).group, "c", 1);
  state.upsert(claim(2));
  EXPECT_THAT(kept(state), IsEmpty());
}

TEST(StateAndMirrors, SaysWhichMirrorCannotBeReadAndCarriesOn) {
  Ledger ledger;
  State state(ledger);
  std::vector<std::string> problems;
  state.on_problem([&](const std::string& message) { problems.push_back(message); });
  state.upsert(
      ClaimBuilder("c").provider("p").annotation(model::kReservationsAnnotation, "[{").build());
  state.upsert(NodeBuilder("n").annotation(model::kFenceAnnotation, "yes").build());
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0],
              HasSubstr("NodeClaim/c: ignoring annotation millwright.io/reservations"));
  EXPECT_THAT(problems[1], HasSubstr("Node/n: ignoring annotation millwright.io/fence"));
  EXPECT_EQ(state.snapshot()->nodes.size(), 2U);
}

}  // namespace
}  // namespace millwright::cluster

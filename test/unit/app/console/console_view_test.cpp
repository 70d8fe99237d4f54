// What the console's pictures hold, and what of them is told when they change.
#include "app/console/console_view.hpp"

#include "unit/kube/fake_transport.hpp"
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

using namespace std::chrono_literals;
using kube::test::parse;
using scheduling::testing::node;
using scheduling::testing::pod;
using telemetry::Decision;
using telemetry::DecisionKind;
using testing::IsEmpty;

class ConsolePicture : public testing::Test {
 protected:
  ConsoleView look(const ConsoleView* before = nullptr) const {
    return console_view(
        {.snapshot = snapshot_, .catalog = catalog_, .decisions = decisions_, .now = now_}, before);
  }
  boost::json::value whole() const { return parse(whole_json(look())); }
  void decided(DecisionKind kind, std::uint64_t number) {
    decisions_.push_back(std::make_shared<const Decision>(
        Decision{.number = number, .time = now_, .kind = kind, .message = "m"}));
  }

  base::TimePoint now_ = *base::parse_rfc3339("2026-11-24T12:00:00Z");
  scheduling::Snapshot snapshot_;
  scheduling::Catalog catalog_;
  Decisions decisions_;
};

TEST_F(ConsolePicture, ANodeNamesItsPodsWithTheirSharesAndWhomRoomIsKeptFor) {
  snapshot_.nodes.push_back(node("n1")
                                .allocatable("cpu", "4")
                                .allocatable("memory", "4Gi")
                                .runs(pod("small").cpu("1"))
                                .runs(pod("large").cpu("1").memory("2Gi")));
  scheduling::Reservation reservation;
  reservation.target = "n1";
  reservation.count = 2;
  reservation.sample = {"shop", "web-1"};
  reservation.requests = {{std::string(model::kCpu), *model::Quantity::parse("400m")}};
  snapshot_.reservations = std::vector{reservation};
  const auto shown = whole().at("nodes").at(0);
  EXPECT_EQ(shown.at("name"), "n1");
  EXPECT_EQ(shown.at("pods"), parse(R"([["default/large",500],["default/small",250]])"));
  EXPECT_EQ(shown.at("podCount"), 2);
  EXPECT_EQ(shown.at("kept"), 2);
  EXPECT_EQ(shown.at("keptShare"), 200);
  EXPECT_EQ(shown.at("keptFor").at(0).as_string(), scheduling::describe_pods(reservation));
}

TEST_F(ConsolePicture, PodsThatAreTooManyAreCounted) {
  auto full = node("n1").allocatable("cpu", "200");
  for (std::size_t i = 0; i < kMostNamedOnANode + 5; ++i) {
    full.runs(pod("p" + std::to_string(i)).cpu("1"));
  }
  snapshot_.nodes.push_back(full);
  const auto pods = whole().at("nodes").at(0).at("pods").as_array();
  EXPECT_EQ(pods.size(), kMostNamedOnANode + 1);
  EXPECT_EQ(pods.back(), parse("[null,25,5]"));
}

TEST_F(ConsolePicture, OnlyWhatChangedIsToldAndTimeAloneIsNoChange) {
  snapshot_.nodes = {node("a"), node("b"), node("c")};
  snapshot_.pending_pods.push_back(
      pod("w").with([&](model::Pod& p) { p.meta.creation_timestamp = now_ - 40s; }));
  const auto before = look();
  now_ += 1min;
  EXPECT_THAT(changes_json(before, look(&before)), IsEmpty());

  snapshot_.nodes = {snapshot_.nodes[0], node("b").runs(pod("p").cpu("1")), node("d")};
  snapshot_.pending_pods.clear();
  decided(DecisionKind::Purchase, 7);
  const auto after = look(&before);
  const auto told = parse(changes_json(before, after));
  EXPECT_EQ(told.at("time"), "2026-11-24T12:01:00Z");
  ASSERT_EQ(told.at("nodes").as_array().size(), 2U);
  EXPECT_EQ(told.at("nodes").at(0).at("name"), "b");
  EXPECT_EQ(told.at("nodes").at(1).at("name"), "d");
  EXPECT_EQ(told.at("gone"), parse(R"(["c"])"));
  EXPECT_EQ(told.at("waiting"), parse("[]"));
  EXPECT_EQ(told.at("decisions").at(0).at("number"), 7);
  EXPECT_EQ(whole_json(after), whole_json(look())) << "what is taken over is what counting gives";
}

TEST_F(ConsolePicture, NodesThatStayDoNotPushOutWhatIsDecided) {
  decided(DecisionKind::Purchase, 1);
  for (std::uint64_t number = 2; number < 2 * kMostShownDecisions; ++number) {
    decided(DecisionKind::Kept, number);
  }
  const auto shown = whole().at("decisions").as_array();
  EXPECT_EQ(shown.size(), kMostShownKept + 1);
  EXPECT_EQ(shown.front().at("kind"), "purchase");
  EXPECT_EQ(shown.back().at("number"), 2 * kMostShownDecisions - 1);
}

TEST_F(ConsolePicture, NamesAndMessagesStayTextWhateverTheyHold) {
  decisions_.push_back(std::make_shared<const Decision>(
      Decision{.number = 1, .node_pool = "\xE2\x80\xA8", .message = "</script>\n\"data: x\\"}));
  const auto text = whole_json(look());
  EXPECT_EQ(text.find('\n'), std::string::npos) << "an event is one line";
  EXPECT_EQ(parse(text).at("decisions").at(0).at("message"), "</script>\n\"data: x\\");
}

}  // namespace
}  // namespace millwright::app

#include "millwright/telemetry/decision_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::telemetry {
namespace {

using std::chrono::minutes;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Decided : public testing::Test {
 protected:
  static Decision purchase(std::string name) {
    Decision decision;
    decision.kind = DecisionKind::Purchase;
    decision.message = "bought " + name;
    decision.about = {{.kind = "NodeClaim", .namespace_ = {}, .name = std::move(name)}};
    return decision;
  }
  void stand(const std::vector<DecisionLog::Standing>& all) {
    log_.stand(DecisionKind::Kept, all, [&](std::size_t i) {
      ++made_;
      Decision decision;
      decision.kind = DecisionKind::Kept;
      decision.about = {
          {.kind = "NodeClaim", .namespace_ = {}, .name = std::string(all[i].subject)}};
      decision.cause = all[i].cause;
      decision.message = all[i].message;
      return decision;
    });
  }
  std::vector<std::string> messages() const {
    std::vector<std::string> texts;
    for (const auto& decision : log_.all()) {
      texts.push_back(decision->message);
    }
    return texts;
  }

  base::TimePoint now_{std::chrono::days(20'000)};
  std::vector<std::string> lines_;
  DecisionLog log_{[this] { return now_; },
                   [this](std::string_view line) { lines_.emplace_back(line); }, 3};
  int made_ = 0;
};

TEST_F(Decided, KeepsTheNewestAndWritesAllOfThem) {
  for (const auto* name : {"a", "b", "c", "d"}) {
    log_.record(purchase(name));
  }
  EXPECT_THAT(messages(), ElementsAre("bought b", "bought c", "bought d"));
  EXPECT_THAT(lines_, SizeIs(4));
  EXPECT_EQ(log_.all().back()->number, 4U);
  EXPECT_EQ(log_.all().back()->time, now_);
}

TEST_F(Decided, SaysWhatStandsOnceUntilTheCauseChanges) {
  stand({{"a", "NotCheaper", "nothing cheaper"}, {"b", "Budget", "no budget"}});
  stand({{"a", "NotCheaper", "nothing cheaper"}, {"b", "Budget", "no budget"}});
  EXPECT_THAT(lines_, SizeIs(2));
  EXPECT_EQ(made_, 2);
  stand({{"a", "Nominated", "nominated"}, {"b", "Budget", "no budget"}});
  EXPECT_THAT(lines_, SizeIs(3));
  EXPECT_THAT(lines_.back(), HasSubstr("nominated"));
}

TEST_F(Decided, KnowsTheNewestWordsOfWhatStandsWithoutSayingThem) {
  stand({{"a", "Nominated", "until ten"}});
  stand({{"a", "Nominated", "until eleven"}});
  EXPECT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(messages(), ElementsAre("until eleven"));
  EXPECT_EQ(log_.all().front()->number, 1U);
}

TEST_F(Decided, SaysWhatStandsAgainEachHour) {
  stand({{"a", "NotCheaper", "nothing cheaper"}});
  now_ += minutes(59);
  stand({{"a", "NotCheaper", "nothing cheaper"}});
  EXPECT_THAT(lines_, SizeIs(1));
  now_ += minutes(1);
  stand({{"a", "NotCheaper", "nothing cheaper"}});
  EXPECT_THAT(lines_, SizeIs(2));
}

TEST_F(Decided, KeepsWhatStandsThoughManyDecisionsFollow) {
  stand({{"a", "NotCheaper", "nothing cheaper"}});
  for (const auto* name : {"b", "c", "d", "e"}) {
    log_.record(purchase(name));
  }
  EXPECT_THAT(messages(), ElementsAre("nothing cheaper", "bought c", "bought d", "bought e"));
  stand({});
  EXPECT_THAT(messages(), ElementsAre("bought c", "bought d", "bought e"));
}

Decision full_decision() {
  return {.number = 7,
          .time = base::TimePoint(std::chrono::days(20'000)) + std::chrono::milliseconds(1500),
          .kind = DecisionKind::Removal,
          .trace = "8e7c1d52-0000-4000-8000-000000000000",
          .inputs = "00000000deadbeef",
          .about = {{.kind = "NodeClaim", .namespace_ = {}, .name = "default-a"},
                    {.kind = "Pod", .namespace_ = "shop", .name = "web \"1\"\n"}},
          .node_pool = "default",
          .cause = "Underutilized",
          .message = "replace node a by c9.2xlarge",
          .remedy = "nothing",
          .price = 0.41,
          .saved = 0.2,
          .alternatives = {{.what = "keep it", .why_not = "dearer", .price = 0.82},
                           {.what = "another", .why_not = {}, .price = {}}},
          .pods = {"shop/web-1"},
          .targets = {{"shop/web-1", "node-2"}},
          .look_again = base::TimePoint(std::chrono::days(20'001))};
}

TEST(DecisionLine, ReadsAsItWasWritten) {
  const auto read = parse_decision_line(decision_line(full_decision()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, full_decision());
}

TEST(DecisionLine, IsOneLineThatPeopleCanRead) {
  const std::string line = decision_line(full_decision());
  EXPECT_THAT(line, AllOf(HasSubstr(R"("logger":"decisions")"), HasSubstr(R"("price":0.41,)"),
                          HasSubstr(R"("decision":"removal")")));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(DecisionLine, PassesOverOtherLinesOfALog) {
  for (const auto* line :
       {"", "{", "[1]", "3", R"({"level":"INFO","logger":"controller","message":"leading"})",
        R"({"logger":"decisions","decision":"unheard-of","time":"2026-01-02T03:04:05Z"})",
        R"({"logger":"decisions","decision":"kept","time":"yesterday"})"}) {
    EXPECT_FALSE(parse_decision_line(line).has_value()) << line;
  }
}

TEST(DecisionLine, TakesWrongMembersForMissing) {
  const auto read = parse_decision_line(
      R"({"logger":"decisions","decision":"kept","time":"2026-01-02T03:04:05Z","about":3,)"
      R"("pods":{},"price":"much","number":-1,"targets":[],"alternatives":[7]})");
  ASSERT_TRUE(read.has_value());
  EXPECT_THAT(read->about, IsEmpty());
  EXPECT_EQ(read->price, std::nullopt);
  EXPECT_EQ(read->number, 0U);
}

TEST(InputDigest, TellsPartsApart) {
  Digest one;
  one.add("ab");
  one.add("c");
  Digest other;
  other.add("a");
  other.add("bc");
  EXPECT_NE(one.text(), other.text());
  EXPECT_THAT(one.text(), SizeIs(16));
}

}  // namespace
}  // namespace millwright::telemetry

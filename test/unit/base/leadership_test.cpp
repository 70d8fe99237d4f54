#include "millwright/base/leadership.hpp"

#include <gtest/gtest.h>

namespace millwright::base {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kBegin{std::chrono::hours(24) * 20'000};

class LeadershipTest : public testing::Test {
 protected:
  VirtualLoop loop_{kBegin};
  Leadership leadership_{loop_};
};

TEST_F(LeadershipTest, NobodyLeadsAtFirst) {
  EXPECT_FALSE(leadership_.holds());
  EXPECT_EQ(leadership_.term(), 0U);
  EXPECT_TRUE(leadership_.over().stop_requested());
  EXPECT_FALSE(leadership_.extend(kBegin + 10s));
  EXPECT_FALSE(leadership_.holds());
}

TEST_F(LeadershipTest, ATermEndsByItself) {
  leadership_.begin(kBegin + 10s);
  const auto over = leadership_.over();
  loop_.run_for(10s - 1ns);
  EXPECT_TRUE(leadership_.holds());
  EXPECT_FALSE(over.stop_requested());
  loop_.run_for(1ns);
  EXPECT_FALSE(leadership_.holds());
  EXPECT_TRUE(over.stop_requested());
}

TEST_F(LeadershipTest, ExtendedItLastsLonger) {
  leadership_.begin(kBegin + 10s);
  const auto over = leadership_.over();
  loop_.run_for(8s);
  EXPECT_TRUE(leadership_.extend(kBegin + 18s));
  loop_.run_for(9s);
  EXPECT_TRUE(leadership_.holds());
  EXPECT_EQ(leadership_.term(), 1U);
  loop_.run_for(1s);
  EXPECT_FALSE(leadership_.holds());
  EXPECT_TRUE(over.stop_requested());
}

// A process that was stopped: its timers are late, and the clock alone says what is over.
TEST_F(LeadershipTest, WhatIsOverByTheClockIsNotExtended) {
  bool extended = true;
  bool held = true;
  loop_.at(kBegin + 10s, [&] {  // before the term's own timer, which is younger
    held = leadership_.holds();
    extended = leadership_.extend(kBegin + 20s);
  });
  leadership_.begin(kBegin + 10s);
  loop_.run_for(15s);
  EXPECT_FALSE(held);
  EXPECT_FALSE(extended);
  EXPECT_FALSE(leadership_.holds());
}

TEST_F(LeadershipTest, TermsAreCountedAndEachHasAnEndOfItsOwn) {
  leadership_.begin(kBegin + 10s);
  const auto first = leadership_.over();
  leadership_.end();
  EXPECT_TRUE(first.stop_requested());
  EXPECT_FALSE(leadership_.holds());
  leadership_.begin(kBegin + 30s);
  EXPECT_EQ(leadership_.term(), 2U);
  loop_.run_for(20s);  // the first one's timer is not this one's
  EXPECT_TRUE(leadership_.holds());
  EXPECT_FALSE(leadership_.over().stop_requested());
}

TEST_F(LeadershipTest, AloneALeaderLeadsForEver) {
  leadership_.begin(Leadership::kForEver);
  loop_.run_for(std::chrono::hours(100'000));
  EXPECT_TRUE(leadership_.holds());
  EXPECT_FALSE(leadership_.over().stop_requested());
}

TEST(EitherStopTest, FiresWithEitherOfTwo) {
  for (const bool first : {true, false}) {
    std::stop_source a;
    std::stop_source b;
    const EitherStop either(a.get_token(), b.get_token());
    EXPECT_FALSE(either.token().stop_requested());
    (first ? a : b).request_stop();
    EXPECT_TRUE(either.token().stop_requested());
  }
}

TEST(EitherStopTest, WhatHasFiredBeforeFiresAtOnce) {
  std::stop_source a;
  a.request_stop();
  const EitherStop either(std::stop_token(), a.get_token());
  EXPECT_TRUE(either.token().stop_requested());
}

}  // namespace
}  // namespace millwright::base

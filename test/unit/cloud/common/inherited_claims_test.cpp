#include "cloud/common/inherited_claims.hpp"

#include <gtest/gtest.h>

namespace millwright::cloud {
namespace {

using namespace std::chrono_literals;

const base::TimePoint kNow{base::Duration(1'000s)};

bool contains(const InheritedClaims& inherited, base::TimePoint created) {
  model::NodeClaim claim;
  claim.meta.creation_timestamp = created;
  return inherited.contains(claim);
}

TEST(InheritedClaims, AreThoseFromBeforeThisProcess) {
  InheritedClaims inherited(kNow + 700ms);
  EXPECT_TRUE(contains(inherited, kNow - 1s));
  EXPECT_FALSE(contains(inherited, kNow));
  EXPECT_FALSE(inherited.contains({})) << "it has no creation time";
  inherited.take_over(kNow + 60s, kNow - 1h);
  EXPECT_TRUE(contains(inherited, kNow + 59s));
  EXPECT_FALSE(contains(inherited, kNow + 60s));
  EXPECT_EQ(inherited.since(), kNow + 60s);
}

// Creation times are the API server's, and this process' clock is behind.
TEST(InheritedClaims, AreAllThatThereWereWhateverTheClockSays) {
  InheritedClaims inherited(kNow);
  inherited.take_over(kNow, kNow + 87s);
  EXPECT_TRUE(contains(inherited, kNow + 87s));
  EXPECT_FALSE(contains(inherited, kNow + 88s));
  EXPECT_EQ(inherited.since(), kNow);
}

}  // namespace
}  // namespace millwright::cloud

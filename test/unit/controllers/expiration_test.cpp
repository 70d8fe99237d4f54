// When a claim expires.
#include "controllers/nodeclaim/conditions/expiration.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

namespace millwright::controllers {
namespace {

constexpr base::TimePoint kCreated{std::chrono::hours(24 * 20'000)};

std::optional<base::TimePoint> expiry_after(const std::string& text) {
  model::NodeClaim claim;
  claim.meta.creation_timestamp = kCreated;
  claim.expire_after.text = text;
  return expiry_of(claim);
}

TEST(Expiration, ComesExpireAfterTheCreation) {
  EXPECT_EQ(expiry_after("720h"), kCreated + std::chrono::hours(720));
  EXPECT_EQ(expiry_after("Never"), std::nullopt);
  EXPECT_EQ(expiry_after(""), std::nullopt);
}

// 292 years are a duration. Added to today they came to a time before today, and the node went at
// once.
TEST(Expiration, NeverComesWhenItIsBeyondAllTime) {
  EXPECT_EQ(expiry_after("2562047h"), std::nullopt);
}

}  // namespace
}  // namespace millwright::controllers

#include "cloud/aws/launch/ownership.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace millwright::cloud::aws {
namespace {

using std::chrono::hours;

constexpr base::TimePoint kNow{hours(24) * 20000};

model::NodeClaim claim(std::string name) {
  model::NodeClaim result;
  result.meta.name = name;
  result.meta.uid = "uid-" + name;
  return result;
}

Launched launched(std::string id) {
  return {std::move(id), "m5.large", "a", "spot", "ami-1"};
}

Ec2Instance instance(std::string id) {
  Ec2Instance result;
  result.id = std::move(id);
  result.type = "m5.large";
  result.zone = "a";
  result.state = "running";
  return result;
}

TEST(OwnershipTest, OnlyWhatCanBeAnInstanceIdIsTakenFromAProviderId) {
  EXPECT_EQ(instance_id_of("aws:///us-west-2a/i-0123456789abcdef0"), "i-0123456789abcdef0");
  EXPECT_EQ(instance_id_of("aws:///us-west-2a/i-1"), "i-1");
  for (const std::string id : {"i-", "i-wrong", "i-0 1", "i-0_1", "i-0.", "j-01", "i-01,i-02"}) {
    EXPECT_EQ(instance_id_of("aws:///us-west-2a/" + id), "") << id;
  }
  EXPECT_EQ(instance_id_of("kwok:///us-west-2a/i-01"), "");
}

TEST(OwnershipTest, AListOfClaimsFitsIntoATag) {
  std::vector<std::string> uids;
  for (int i = 0; i < 64; ++i) {
    uids.push_back("uid-" + std::to_string(i));
  }
  const std::string list = list_of_claims(uids);
  EXPECT_EQ(list.size(), 256U);
  for (const auto& uid : uids) {
    EXPECT_TRUE(may_list(list, uid)) << uid;
  }
  EXPECT_FALSE(may_list(list, "uid-of-another"));
  EXPECT_FALSE(may_list(list.substr(0, 6), "uid-63")) << "cut off by somebody";
  uids.emplace_back("uid-64");
  EXPECT_EQ(list_of_claims(uids), "");
  EXPECT_TRUE(may_list("", "uid-0")) << "nobody says for whom it was launched";
}

TEST(OwnershipTest, AnInstanceIsItsClaimsUntilForgotten) {
  Ownership owners;
  owners.deal(launched("i-1"), claim("one"), kNow);
  EXPECT_EQ(owners.claim_of("i-1"), "one");
  ASSERT_NE(owners.dealt_to("uid-one"), nullptr);
  EXPECT_EQ(owners.dealt_to("uid-one")->instance_id, "i-1");
  EXPECT_FALSE(owners.is_free(instance("i-1")));

  owners.forget("i-1");
  EXPECT_EQ(owners.claim_of("i-1"), "");
  EXPECT_EQ(owners.dealt_to("uid-one"), nullptr);
  EXPECT_TRUE(owners.is_free(instance("i-1")));
}

TEST(OwnershipTest, AClaimThatIsDealtAnotherInstanceLetsTheFirstGo) {
  Ownership owners;
  owners.deal(launched("i-1"), claim("one"), kNow);
  owners.deal(launched("i-2"), claim("one"), kNow);
  EXPECT_EQ(owners.claim_of("i-1"), "");
  EXPECT_EQ(owners.claim_of("i-2"), "one");
  EXPECT_TRUE(owners.is_free(instance("i-1")));

  owners.forget("i-2");
  EXPECT_EQ(owners.claim_of("i-1"), "");
  EXPECT_EQ(owners.claim_of("i-2"), "");
}

TEST(OwnershipTest, WhatAClaimsStatusRecordsIsNotFree) {
  Ownership owners;
  owners.set_recorded([](std::string_view id) { return id == "aws:///a/i-1"; });
  EXPECT_FALSE(owners.is_free(instance("i-1")));
  EXPECT_TRUE(owners.is_free(instance("i-2")));
}

// Another process dealt the three instances in a circle, and one claim's was not recorded.
TEST(OwnershipTest, ATermBeginsWithWhatIsOnRecordAndWhatNobodyElseDealt) {
  Ownership owners;
  for (const auto* name : {"1", "2", "3", "4"}) {
    owners.deal(launched(std::string("i-") + name), claim(name), kNow);
  }
  const std::set<std::string, std::less<>> recorded{"uid-1", "aws:///a/i-2", "uid-2",
                                                    "aws:///a/i-3"};
  owners.set_recorded([&recorded](std::string_view id) { return recorded.contains(id); });
  owners.begin_term();
  for (const auto* name : {"1", "2", "3"}) {
    EXPECT_EQ(owners.dealt_to(std::string("uid-") + name), nullptr) << name;
    EXPECT_EQ(owners.claim_of(std::string("i-") + name), "") << name;
  }
  EXPECT_TRUE(owners.is_free(instance("i-1"))) << "it is left for the third claim";
  EXPECT_FALSE(owners.is_free(instance("i-2")));
  ASSERT_NE(owners.dealt_to("uid-4"), nullptr);
  EXPECT_EQ(owners.claim_of("i-4"), "4");
}

TEST(OwnershipTest, ASweepForgetsWhatWasDealtLongAgo) {
  Ownership owners;
  owners.deal(launched("i-1"), claim("one"), kNow);
  owners.deal(launched("i-2"), claim("two"), kNow + hours(24));
  owners.sweep(kNow + hours(24));
  EXPECT_EQ(owners.claim_of("i-1"), "");
  EXPECT_EQ(owners.claim_of("i-2"), "two");
}

}  // namespace
}  // namespace millwright::cloud::aws

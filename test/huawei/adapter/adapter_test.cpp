// What launches, answers and errors of Huawei Cloud come to.
#include "adapter_fixture.hpp"
#include "millwright/model/json_fields.hpp"

namespace millwright::cloud {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(HuaweiAdapter, AClaimsWholeLife) {
  const auto claim = claim_named("whole-life", {"c9.large.4"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "c9.large.4");
  const auto again = create(claim);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->provider_id, made->provider_id);
  record(*claim, *made);
  EXPECT_TRUE(is_listed("whole-life"));
  const auto drifted = drift(claim);
  ASSERT_TRUE(drifted) << drifted.error().message;
  EXPECT_EQ(*drifted, "");
  EXPECT_TRUE(remove(claim));
  EXPECT_TRUE(remove(claim)) << "its deletion is seen once";
  EXPECT_EQ(remove(claim).error().kind, ErrorKind::NotFound);
  EXPECT_EQ(counted("asked", "uid-whole-life"), 1);
}

TEST_F(HuaweiAdapter, FlavorsComeFromEveryPage) {
  const auto types = provider->instance_types({}, *the_class);
  ASSERT_TRUE(types);
  EXPECT_EQ((*types)->size(), 20U + 1050U);
}

TEST_F(HuaweiAdapter, SoldOutOfferingsLeadToTheNextOne) {
  control("/_facade/sold-out", R"({"flavor":"c9.xlarge.2","zone":"cn-north-4a"})");
  const auto first = create(claim_named("only-one", {"c9.xlarge.2"}));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(first.error().message, HasSubstr("only-one"));
  const auto made = create(claim_named("one-of-two", {"c9.xlarge.2", "c9.xlarge.4"}));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "c9.xlarge.4");
}

TEST_F(HuaweiAdapter, ThrottlingIsWaitedOut) {
  control("/_facade/throttle", R"({"call":"create","count":2})");
  EXPECT_TRUE(create(claim_named("throttled", {"c9.large.4"})));
  EXPECT_EQ(counted("asked", "uid-throttled"), 1);
}

TEST_F(HuaweiAdapter, ALostAnswerMakesNoSecondNode) {
  control("/_facade/lose", R"({"call":"create","count":1})");
  const auto claim = claim_named("lost", {"c9.large.4"});
  EXPECT_FALSE(create(claim));
  const auto made = insist(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(counted("asked", "uid-lost"), 1);
}

TEST_F(HuaweiAdapter, ANodeThatShowsLateIsNotMadeTwice) {
  control("/_facade/late", R"({"count":1,"seconds":3})");
  const auto claim = claim_named("late", {"c9.large.4"});
  const auto made = insist(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(counted("asked", "uid-late"), 1);
}

TEST_F(HuaweiAdapter, ANodeThatCceCannotMakeIsToldOfAndDeleted) {
  control("/_facade/fail", R"({"phase":"Error","reason":"the image cannot be booted"})");
  control("/_facade/keep", R"({"seconds":600})");
  const auto claim = claim_named("not-made", {"m7.large.8"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  record(*claim, *made);
  EXPECT_TRUE(remove(claim)) << "while it is being made: under way";
  start_anew_after_failure_of(made->provider_id);
  EXPECT_THAT(records->text(), HasSubstr("the image cannot be booted"));
  const auto other = create(claim_named("next", {"m7.large.8"}));
  ASSERT_FALSE(other) << "the offering is left out";
  EXPECT_EQ(other.error().kind, ErrorKind::NoCapacity);
  control("/_facade/keep", R"({"seconds":0})");
  EXPECT_TRUE(remove(claim));
  EXPECT_TRUE(remove(claim)) << "its deletion is seen once";
  EXPECT_EQ(remove(claim).error().kind, ErrorKind::NotFound);
}

TEST_F(HuaweiAdapter, SpotIsBoughtWhereItIsAskedForAndSold) {
  stop();
  settings.spot = true;
  start();
  const auto claim = claim_named("spot", {"s7.large.4", "c9.large.4"});
  require(*claim, model::kCapacityTypeLabel, {"spot"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "s7.large.4");
  EXPECT_EQ(made->labels.at("karpenter.sh/capacity-type"), "spot");
  const auto nodes = control("/_facade/nodes");
  EXPECT_EQ(model::text_at(nodes.at(made->provider_id), "spec.extendParam.marketType"), "spot");
}

TEST_F(HuaweiAdapter, AMachineThatIsTakenBackIsGone) {
  const auto claim = claim_named("reclaimed", {"c9.large.4"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  record(*claim, *made);
  control("/_facade/reclaim", R"({"node":")" + made->provider_id + R"("})");
  EXPECT_EQ(get(made->provider_id).error().kind, ErrorKind::NotFound);
  EXPECT_FALSE(is_listed("reclaimed"));
  EXPECT_EQ(remove(claim).error().kind, ErrorKind::NotFound);
}

// CCE may go on showing what it had: a node is neither made twice nor lost for that.
TEST_F(HuaweiAdapter, StaleListsMakeNoSecondNodeAndLoseNone) {
  control("/_facade/stale", R"({"seconds":3})");
  const auto claim = claim_named("stale", {"c9.large.4"});
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(is_listed("stale"));
  claim->meta.creation_timestamp = thread.loop.now() - std::chrono::seconds(1);
  stop();  // nobody recorded what was made
  start();
  const auto again = insist(claim);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider_id, made->provider_id);
  EXPECT_EQ(counted("asked", "uid-stale"), 1);

  record(*claim, *again);
  control("/_facade/stale", R"({"seconds":2})");
  EXPECT_TRUE(remove(claim));
  EXPECT_TRUE(is_listed("stale"));
  EXPECT_TRUE(wait_until([&] {
    const auto removed = remove(claim);
    return !removed && removed.error().kind == ErrorKind::NotFound;
  }));
}

TEST_F(HuaweiAdapter, QuotasSpeakPlainlyAndHideThePassword) {
  control("/_facade/refuse", R"({"status":403,"code":"CCE.03403001","message":"Quota exceeded )" +
                                 std::string(kPassword) + R"("})");
  const auto made = create(claim_named("quota", {"c9.large.4"}));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::Denied);
  EXPECT_THAT(made.error().message, HasSubstr("ask Huawei Cloud for a higher quota"));
  EXPECT_THAT(made.error().message, Not(HasSubstr(std::string(kPassword))));
}

}  // namespace
}  // namespace millwright::cloud

// A term begins by what the API server lists, where a watch has not shown it yet.
#include "millwright/controllers/process/known_claims.hpp"

#include "unit/controllers/with_services.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace millwright::controllers {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class KnownClaims : public WithServices {
 protected:
  KnownClaims() {
    transport_->answer = [this](const kube::ApiRequest&) {
      return kube::test::ok(
          boost::json::object{{"metadata", {{"resourceVersion", "7"}}}, {"items", listed_}});
    };
  }

  void list(const char* name, const char* uid, const char* version = "1") {
    listed_.emplace_back(boost::json::object{
        {"metadata", {{"name", name}, {"uid", uid}, {"resourceVersion", version}}}});
  }
  void show(const char* name, const char* uid, const char* version = "1") {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = name;
    claim->meta.uid = uid;
    claim->meta.resource_version = version;
    state_.upsert(std::shared_ptr<const model::NodeClaim>(std::move(claim)));
  }
  // Whether the wait has ended after so long; it begins with the first call.
  bool ends_within(base::Duration span) {
    if (!std::exchange(begun_, true)) {
      group_.spawn(wait());
    }
    loop_.run_for(span);
    return ended_;
  }

  boost::json::array listed_;

 private:
  base::Task<void> wait() {
    co_await wait_until_claims_are_known(services_, group_.stop_token());
    ended_ = true;
  }

  bool begun_ = false;
  bool ended_ = false;
  base::TaskGroup group_{loop_};
};

TEST_F(KnownClaims, AreNotWaitedForWhereAllAreKnown) {
  list("a", "uid-a");
  show("a", "uid-a");
  show("b", "uid-b");
  EXPECT_TRUE(ends_within(seconds(1)));
}

TEST_F(KnownClaims, AreWaitedForUntilTheWatchShowsThem) {
  list("a", "uid-a");
  list("b", "uid-b");
  show("a", "uid-a");
  EXPECT_FALSE(ends_within(seconds(8)));
  show("b", "uid-b");
  EXPECT_TRUE(ends_within(seconds(2)));
}

TEST_F(KnownClaims, OfAnEarlierClaimOfTheNameAreNotEnough) {
  list("a", "uid-2");
  show("a", "uid-1");
  EXPECT_FALSE(ends_within(seconds(8)));
  show("a", "uid-2");
  EXPECT_TRUE(ends_within(seconds(2)));
}

// The last leader has recorded their instances. That others go on writing them delays nothing.
TEST_F(KnownClaims, AreWaitedForUntilTheyAreAsNewAsTheyWereListedFirst) {
  list("a", "uid-a", "5");
  show("a", "uid-a", "4");
  EXPECT_FALSE(ends_within(seconds(8)));
  listed_.clear();
  list("a", "uid-a", "9");
  EXPECT_FALSE(ends_within(seconds(8)));
  show("a", "uid-a", "5");
  EXPECT_TRUE(ends_within(seconds(2)));
}

TEST_F(KnownClaims, ThatAreGoneMeanwhileAreNotWaitedFor) {
  list("a", "uid-a");
  EXPECT_FALSE(ends_within(seconds(8)));
  listed_.clear();
  EXPECT_TRUE(ends_within(seconds(2)));
}

TEST_F(KnownClaims, ThatCannotBeReadAreNotWaitedFor) {
  listed_.emplace_back(
      boost::json::object{{"metadata", {{"name", "a"}, {"creationTimestamp", "yesterday"}}}});
  EXPECT_TRUE(ends_within(seconds(1)));
}

TEST_F(KnownClaims, AreWaitedForWhileTheApiServerDoesNotAnswer) {
  const auto lists = std::exchange(transport_->answer, [](const kube::ApiRequest&) {
    return kube::test::status_answer(503, "ServiceUnavailable", "away");
  });
  EXPECT_FALSE(ends_within(seconds(20)));
  transport_->answer = lists;
  EXPECT_TRUE(ends_within(seconds(20)));
}

TEST_F(KnownClaims, AreWaitedForNoLongerThanAMinute) {
  list("a", "uid-a");
  EXPECT_FALSE(ends_within(seconds(59)));
  EXPECT_TRUE(ends_within(seconds(2)));
}

}  // namespace
}  // namespace millwright::controllers

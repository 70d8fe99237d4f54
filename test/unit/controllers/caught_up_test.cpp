// A term begins by what the API server lists, where a watch has not shown it yet.
#include "millwright/controllers/process/caught_up.hpp"

#include "unit/controllers/with_services.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace millwright::controllers {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// By the kind that is listed.
class KnownObjects : public WithServices, public ::testing::WithParamInterface<std::string> {
 protected:
  KnownObjects() {
    transport_->answer = [this](const kube::ApiRequest& request) {
      const std::string path = request.path.substr(0, request.path.find('?'));
      const std::string kind = path.substr(path.rfind('/') + 1);
      return kube::test::ok(
          boost::json::object{{"metadata", {{"resourceVersion", "7"}}}, {"items", listed_[kind]}});
    };
    for (const std::string kind : {"nodeclaims", "nodes"}) {
      listed_[kind] = boost::json::array{};
    }
  }

  boost::json::array& listed() { return listed_[GetParam()].as_array(); }
  void list(const char* name, const char* uid, const char* version = "1") {
    listed().emplace_back(boost::json::object{
        {"metadata", {{"name", name}, {"uid", uid}, {"resourceVersion", version}}}});
  }
  void show(const char* name, const char* uid, const char* version = "1") {
    if (GetParam() == "nodes") {
      put<model::Node>(name, uid, version);
    } else {
      put<model::NodeClaim>(name, uid, version);
    }
  }
  // Whether the wait has ended after so long; it begins with the first call.
  bool ends_within(base::Duration span) {
    if (!std::exchange(begun_, true)) {
      group_.spawn(wait());
    }
    loop_.run_for(span);
    return ended_;
  }

  std::map<std::string, boost::json::value> listed_;

 private:
  template <class T>
  void put(const char* name, const char* uid, const char* version) {
    auto object = std::make_shared<T>();
    object->meta.name = name;
    object->meta.uid = uid;
    object->meta.resource_version = version;
    state_.upsert(std::shared_ptr<const T>(std::move(object)));
  }
  base::Task<void> wait() {
    co_await wait_until_caught_up(services_, group_.stop_token());
    ended_ = true;
  }

  bool begun_ = false;
  bool ended_ = false;
  base::TaskGroup group_{loop_};
};

TEST_P(KnownObjects, AreNotWaitedForWhereAllAreKnown) {
  list("a", "uid-a");
  show("a", "uid-a");
  show("b", "uid-b");
  EXPECT_TRUE(ends_within(seconds(1)));
}

TEST_P(KnownObjects, AreWaitedForUntilTheWatchShowsThem) {
  list("a", "uid-a");
  list("b", "uid-b");
  show("a", "uid-a");
  EXPECT_FALSE(ends_within(seconds(8)));
  show("b", "uid-b");
  EXPECT_TRUE(ends_within(seconds(2)));
}

TEST_P(KnownObjects, OfAnEarlierOneOfTheNameAreNotEnough) {
  list("a", "uid-2");
  show("a", "uid-1");
  EXPECT_FALSE(ends_within(seconds(8)));
  show("a", "uid-2");
  EXPECT_TRUE(ends_within(seconds(2)));
}

// The last leader has recorded instances and opened Nodes. That others go on writing them delays
// nothing.
TEST_P(KnownObjects, AreWaitedForUntilTheyAreAsNewAsTheyWereListedFirst) {
  list("a", "uid-a", "5");
  show("a", "uid-a", "4");
  EXPECT_FALSE(ends_within(seconds(8)));
  listed().clear();
  list("a", "uid-a", "9");
  EXPECT_FALSE(ends_within(seconds(8)));
  show("a", "uid-a", "5");
  EXPECT_TRUE(ends_within(seconds(2)));
}

TEST_P(KnownObjects, ThatAreGoneMeanwhileAreNotWaitedFor) {
  list("a", "uid-a");
  EXPECT_FALSE(ends_within(seconds(8)));
  listed().clear();
  EXPECT_TRUE(ends_within(seconds(2)));
}

TEST_P(KnownObjects, ThatCannotBeReadAreNotWaitedFor) {
  listed().emplace_back(
      boost::json::object{{"metadata", {{"name", "a"}, {"creationTimestamp", "yesterday"}}}});
  EXPECT_TRUE(ends_within(seconds(1)));
}

TEST_P(KnownObjects, AreWaitedForWhileTheApiServerDoesNotAnswer) {
  const auto lists = std::exchange(transport_->answer, [](const kube::ApiRequest&) {
    return kube::test::status_answer(503, "ServiceUnavailable", "away");
  });
  EXPECT_FALSE(ends_within(seconds(20)));
  transport_->answer = lists;
  EXPECT_TRUE(ends_within(seconds(20)));
}

TEST_P(KnownObjects, AreWaitedForNoLongerThanAMinute) {
  list("a", "uid-a");
  EXPECT_FALSE(ends_within(seconds(59)));
  EXPECT_TRUE(ends_within(seconds(2)));
}

TEST_P(KnownObjects, OfAllKindsTogetherAreWaitedForNoLongerThanAMinute) {
  for (auto& [kind, listed] : listed_) {
    listed.as_array().emplace_back(
        boost::json::object{{"metadata", {{"name", "a"}, {"uid", "uid-a"}}}});
  }
  EXPECT_FALSE(ends_within(seconds(40)));
  show("a", "uid-a");
  EXPECT_FALSE(ends_within(seconds(19)));
  EXPECT_TRUE(ends_within(seconds(2)));
}

INSTANTIATE_TEST_SUITE_P(Kinds, KnownObjects, ::testing::Values("nodeclaims", "nodes"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace millwright::controllers

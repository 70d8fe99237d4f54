// What becomes of a kind that the API server does not let us read.
#include "millwright/controllers/feed.hpp"

#include "unit/controllers/with_services.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace millwright::controllers {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kOk = 200;
constexpr int kForbidden = 403;
constexpr int kBroken = 500;

// Quotas can be done without; pods, nodes, NodePools and NodeClaims cannot.
constexpr model::Resource kNeeded[] = {model::kPodResource, model::kNodeResource,
                                       model::kNodePoolResource, model::kNodeClaimResource};

class UnreadKinds : public WithServices {
 protected:
  UnreadKinds() {
    transport_->answer = [this](const kube::ApiRequest& request) {
      const int code = code_(request.path);
      const boost::json::array items;
      return code == kOk
                 ? kube::test::ok({{"metadata", {{"resourceVersion", "1"}}}, {"items", items}})
                 : kube::test::status_answer(code, "", "no");
    };
    group_.spawn(run_feed(services_, sources_, transitions_, group_.stop_token()));
  }
  ~UnreadKinds() override {
    group_.request_stop();
    loop_.run_ready();
  }

  bool synced() { return state_.snapshot()->synced; }
  static bool is_of(const model::Resource& resource, const std::string& path) {
    return path.starts_with(resource.path() + "?");
  }
  static bool is_of_quotas(const std::string& path) {
    return is_of(model::kResourceQuotaResource, path);
  }
  static int without_quotas(const std::string& path) {
    return is_of_quotas(path) ? kForbidden : kOk;
  }
  // How often one object of the kind was asked for.
  std::ptrdiff_t asked_for(const model::Resource& resource) const {
    return std::ranges::count(transport_->paths(), "GET " + resource.path() + "?limit=1");
  }

  std::function<int(const std::string& path)> code_ = [](const std::string&) { return kOk; };
  Sources sources_{loop_, state_, {}};
  PodTransitions transitions_{[](auto, auto) {}};
  base::TaskGroup group_{loop_};
};

TEST_F(UnreadKinds, AreDoneWithoutAtOnceWhereTheyAloneAreRefused) {
  code_ = without_quotas;
  loop_.run_for(seconds(1));
  EXPECT_TRUE(synced());
  loop_.run_for(minutes(4));
  for (const auto& resource : kNeeded) {
    EXPECT_EQ(asked_for(resource), 1) << resource.plural;
  }
}

TEST_F(UnreadKinds, AreAwaitedWhereEverythingIsRefused) {
  code_ = [](const std::string&) { return kForbidden; };
  loop_.run_for(minutes(1));
  EXPECT_FALSE(synced());
  EXPECT_GT(asked_for(model::kPodResource), 0);
  EXPECT_EQ(asked_for(model::kNodeResource), 0) << "that pods are refused says enough";
  code_ = [](const std::string& path) { return is_of_quotas(path) ? kBroken : kOk; };
  loop_.run_for(minutes(1));
  EXPECT_FALSE(synced());
  code_ = [](const std::string&) { return kOk; };
  loop_.run_for(minutes(1));
  EXPECT_TRUE(synced());
}

TEST_F(UnreadKinds, AreAwaitedWhileOneIsRefusedThatIsNeeded) {
  code_ = [](const std::string& path) {
    return is_of_quotas(path) || is_of(model::kNodeClaimResource, path) ? kForbidden : kOk;
  };
  loop_.run_for(minutes(1));
  code_ = [](const std::string& path) { return is_of_quotas(path) ? kBroken : kOk; };
  loop_.run_for(minutes(1));
  EXPECT_FALSE(synced());
}

// The others may be let through since it is back.
TEST_F(UnreadKinds, AreAwaitedWhereTheAuthorizerIsBackJustNow) {
  code_ = [lists = 0](const std::string& path) mutable {
    if (!is_of_quotas(path) || path.ends_with("?limit=1")) {
      return kOk;
    }
    return ++lists == 1 ? kForbidden : kBroken;
  };
  loop_.run_for(minutes(1));
  EXPECT_EQ(asked_for(model::kResourceQuotaResource), 1);
  EXPECT_FALSE(synced());
}

TEST_F(UnreadKinds, AreLookedIntoOnceAtATime) {
  transport_->latency = seconds(5);
  code_ = without_quotas;
  loop_.run_for(seconds(29));
  EXPECT_FALSE(synced());
  EXPECT_EQ(asked_for(model::kPodResource), 1);
  loop_.run_for(seconds(2));
  EXPECT_TRUE(synced());
}

// One that is not installed.
TEST_F(UnreadKinds, ThatDoNotExistAreDoneWithoutUnlessTheyAreNeeded) {
  code_ = [](const std::string& path) { return is_of_quotas(path) ? 404 : kOk; };
  loop_.run_for(seconds(1));
  EXPECT_TRUE(synced());
  EXPECT_EQ(asked_for(model::kPodResource), 0);
}

TEST_F(UnreadKinds, ThatAreNeededHoldBackEverythingWhileTheyDoNotExist) {
  code_ = [](const std::string& path) {
    return is_of(model::kNodeClaimResource, path) ? 404 : kOk;
  };
  loop_.run_for(minutes(1));
  EXPECT_FALSE(synced());
}

// A token that ran out says nothing of rights.
TEST_F(UnreadKinds, AreAwaitedWhereTheServerDoesNotKnowWhoAsks) {
  code_ = [](const std::string& path) { return is_of_quotas(path) ? 401 : kOk; };
  loop_.run_for(minutes(1));
  EXPECT_FALSE(synced());
  EXPECT_EQ(asked_for(model::kPodResource), 0);
}

}  // namespace
}  // namespace millwright::controllers

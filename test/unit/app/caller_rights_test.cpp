// How long the API server's word counts, and that nobody's tokens keep others from being checked.
#include "app/asking/caller_rights.hpp"

#include "unit/kube/fake_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace millwright::app {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr int kLetIn = 200;

// An API server that needs 50 ms for an answer, and the program's own limits on asking it.
class Callers : public testing::Test {
 protected:
  Callers() {
    transport_->latency = 50ms;
    transport_->answer = [this](const kube::ApiRequest& request) { return review(request); };
  }

  base::Result<net::Response> review(const kube::ApiRequest& request) {
    if (silent_) {
      return base::fail(base::ErrorKind::Unavailable, "no connection");
    }
    auto object = kube::test::parse(request.body);
    auto& members = object.as_object();
    const auto& spec = members.at("spec").as_object();
    if (const auto* shown = spec.if_contains("token")) {
      const std::string token(shown->as_string());
      tokens_.push_back(token);
      const bool known = known_.contains(token);
      members["status"] = {{"authenticated", known}, {"user", {{"username", token}}}};
    } else {
      members["status"] = {
          {"allowed", !forbidden_.contains(std::string(spec.at("user").as_string()))}};
    }
    return kube::test::ok(object);
  }

  base::Task<void> note(std::string token, std::string peer, std::shared_ptr<int> status) {
    const auto refusal = co_await rights_.check(std::move(token), std::move(peer));
    *status = refusal ? refusal->status : kLetIn;
  }
  // 0 until it is answered.
  std::shared_ptr<int> begin(const std::string& token, const std::string& peer = "10.0.0.1") {
    auto status = std::make_shared<int>(0);
    group_.spawn(note(token, peer, status));
    return status;
  }
  int ask(const std::string& token, const std::string& peer = "10.0.0.1") {
    const auto status = begin(token, peer);
    loop_.run_until([&] { return *status != 0; }, 30s);
    return *status;
  }
  std::size_t times_reviewed(const std::string& token) const {
    return static_cast<std::size_t>(std::count(tokens_.begin(), tokens_.end(), token));
  }
  // New forged tokens of one peer, not waited for.
  std::vector<std::shared_ptr<int>> forge(int count, const std::string& peer) {
    std::vector<std::shared_ptr<int>> answers;
    for (int i = 0; i < count; ++i) {
      answers.push_back(begin("forged-" + std::to_string(forged_++), peer));
    }
    return answers;
  }

  base::VirtualLoop loop_{kube::test::kStart};
  std::shared_ptr<kube::test::FakeTransport> transport_ =
      std::make_shared<kube::test::FakeTransport>(loop_);
  kube::Client newcomers_{loop_, transport_, CallerRights::limits()};
  kube::Client renewals_{loop_, transport_, CallerRights::limits()};
  CallerRights rights_{newcomers_, renewals_};
  base::TaskGroup group_{loop_};
  std::set<std::string> known_{"viewer", "second"};
  std::set<std::string> forbidden_;
  bool silent_ = false;
  std::vector<std::string> tokens_;  // of the reviews, in their order
  int forged_ = 0;
};

TEST_F(Callers, AFloodOfForgedTokensKeepsOutNobodyWhoWasLetIn) {
  ASSERT_EQ(ask("viewer"), kLetIn);
  int asked = 0;
  for (int second = 1; second <= 300; ++second) {
    // From a hundred addresses, as a botnet in the cluster would have them.
    for (int i = 0; i < 20; ++i) {
      forge(1, "10.1.0." + std::to_string((second * 20 + i) % 100));
    }
    if (second % 5 == 0) {
      ASSERT_EQ(ask("viewer"), kLetIn) << second << " s";
      ++asked;
    }
    loop_.run_for(1s);
  }
  EXPECT_EQ(asked, 60);
  EXPECT_GE(times_reviewed("viewer"), 300 / 60) << "each answer ends after a minute";
  EXPECT_LT(tokens_.size(), 300 * 6) << "the flood is bounded";
}

TEST_F(Callers, WhoComesBackAfterTheEndOfItsAnswerIsStillNoNewcomer) {
  ASSERT_EQ(ask("viewer"), kLetIn);
  loop_.run_for(CallerRights::kKeepAllowed + 1min);
  for (int peer = 0; peer < 10; ++peer) {
    forge(10, "10.1.0." + std::to_string(peer));
  }
  loop_.run_for(1ms);
  EXPECT_EQ(ask("second", "10.2.0.1"), 429) << "every place of newcomers is taken";
  EXPECT_EQ(ask("viewer"), kLetIn);
  EXPECT_EQ(times_reviewed("viewer"), 2U);
}

TEST_F(Callers, OnePeerTakesItsShareAndLeavesTheOthersTheirs) {
  const auto flood = forge(50, "10.1.0.1");
  loop_.run_for(1ms);
  EXPECT_EQ(ask("viewer", "10.1.0.1"), 429);
  EXPECT_EQ(ask("viewer", "10.2.0.1"), kLetIn);
  loop_.run_for(10s);
  const auto checked =
      std::count_if(flood.begin(), flood.end(), [](const auto& status) { return *status == 401; });
  EXPECT_EQ(static_cast<std::size_t>(checked), CallerRights::kMostOfOnePeer);
}

TEST_F(Callers, CallsWithOneTokenWaitForOneCheck) {
  std::vector<std::shared_ptr<int>> calls;
  for (int i = 0; i < 40; ++i) {
    calls.push_back(begin("viewer"));
  }
  loop_.run_for(1s);
  for (const auto& status : calls) {
    EXPECT_EQ(*status, kLetIn);
  }
  EXPECT_EQ(times_reviewed("viewer"), 1U);
}

// What a caller gets who was let in `age` ago, and whether the API server is asked once more.
struct Aged {
  const char* name;
  base::Duration age;
  bool silent;
  bool forbidden;  // the right was taken back meanwhile
  int at_once;
  int afterwards;  // of a second question a second later
  std::size_t reviews;
};

class AgedAnswers : public Callers, public testing::WithParamInterface<Aged> {};

TEST_P(AgedAnswers, CountUntilTheirEndAndAreRenewedBefore) {
  const auto& row = GetParam();
  ASSERT_EQ(ask("viewer"), kLetIn);
  loop_.run_for(row.age);
  silent_ = row.silent;
  if (row.forbidden) {
    forbidden_.insert("viewer");
  }
  EXPECT_EQ(ask("viewer"), row.at_once);
  loop_.run_for(1s);
  EXPECT_EQ(ask("viewer"), row.afterwards);
  EXPECT_EQ(times_reviewed("viewer"), row.reviews);
}

INSTANTIATE_TEST_SUITE_P(
    Table, AgedAnswers,
    testing::Values(Aged{"Young", 10s, false, false, kLetIn, kLetIn, 1},
                    Aged{"YoungAndTheRightIsGone", 10s, false, true, kLetIn, kLetIn, 1},
                    Aged{"NearItsEnd", 45s, false, false, kLetIn, kLetIn, 2},
                    Aged{"NearItsEndAndTheRightIsGone", 45s, false, true, kLetIn, 403, 2},
                    Aged{"NearItsEndAndTheApiServerIsSilent", 45s, true, false, kLetIn, kLetIn, 1},
                    Aged{"Ended", 61s, false, false, kLetIn, kLetIn, 2},
                    Aged{"EndedAndTheRightIsGone", 61s, false, true, 403, 403, 2},
                    Aged{"EndedAndTheApiServerIsSilent", 61s, true, false, 503, 503, 1},
                    Aged{"LongForgotten", 30min, false, false, kLetIn, kLetIn, 2}),
    [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace millwright::app

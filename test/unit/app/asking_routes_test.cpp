// Who may ask on the asking port, and what is answered there.
#include "app/asking/asking_routes.hpp"

#include "app/asking/caller_rights.hpp"
#include "app/asking/remote.hpp"
#include "unit/kube/fake_transport.hpp"
#include "unit/net/taken.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace millwright::app {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using kube::test::FakeTransport;
using net::test::Taken;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kTokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr const char* kAccessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

class AskingPort : public testing::Test {
 protected:
  AskingPort() {
    transport_->answer = [this](const kube::ApiRequest& request) { return review(request); };
    add_asking_routes(router_, {.loop = loop_,
                                .compute = compute_,
                                .decisions = decisions_,
                                .cluster = [this] { return cluster_; },
                                .check =
                                    [this](std::string token, std::string peer) {
                                      return rights_.check(std::move(token), std::move(peer));
                                    },
                                .group = group_,
                                .leads = [this] { return leads_; },
                                .lease = "nodes/lease"});
    decisions_.record({.kind = telemetry::DecisionKind::Refusal,
                       .about = {{.kind = "Pod", .namespace_ = "shop", .name = "web-1"}},
                       .message = "it fits on no node"});
    decisions_.record({.kind = telemetry::DecisionKind::Purchase,
                       .about = {{.kind = "NodeClaim", .namespace_ = {}, .name = "default-a"}},
                       .message = "Bought NodeClaim default-a"});
  }

  // The API server: it knows the tokens "viewer" and "stranger", and the viewer may ask.
  net::Response review(const kube::ApiRequest& request) {
    auto object = kube::test::parse(request.body);
    auto& members = object.as_object();
    const auto& spec = members.at("spec").as_object();
    if (request.path.starts_with(kTokenReviews)) {
      const std::string token(spec.at("token").as_string());
      const bool known = token == "viewer" || token == "stranger";
      members["status"] = known ? json::value{{"authenticated", true},
                                              {"user",
                                               {{"username", token},
                                                {"uid", "u1"},
                                                {"groups", {"staff", "day"}},
                                                {"extra", {{"scope", {"a"}}}}}}}
                                : json::value{{"authenticated", false}};
    } else {
      EXPECT_THAT(request.path, testing::StartsWith(kAccessReviews));
      asked_.push_back(json::serialize(spec));
      members["status"] = {{"allowed", spec.at("user") == "viewer"}};
    }
    return kube::test::ok(object);
  }

  std::shared_ptr<Taken> begin(const std::string& target, const std::string& token,
                               const std::string& method = "GET", const std::string& from = "") {
    net::Request request{.method = method, .target = target, .headers = {}, .body = {}};
    if (!token.empty()) {
      request.headers.set("Authorization", "Bearer " + token);
    }
    auto exchange = std::make_shared<Taken>();
    exchange->from = from;
    router_.handle(std::move(request), exchange);
    return exchange;
  }
  net::Response ask(const std::string& target, const std::string& token = "viewer",
                    const std::string& method = "GET") {
    const auto exchange = begin(target, token, method);
    loop_.run_for(1s);
    EXPECT_TRUE(exchange->answered);
    return exchange->response;
  }

  base::VirtualLoop loop_{kube::test::kStart};
  base::InlineCompute compute_;
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>(loop_);
  kube::Client client_{
      loop_, transport_, {.qps = 1000, .burst = 1000, .timeout = 10s, .attempts = 1}};
  telemetry::DecisionLog decisions_{[this] { return loop_.now(); }};
  CallerRights rights_{client_, client_};
  base::TaskGroup group_{loop_};
  bool leads_ = true;
  ClusterView cluster_;
  net::Router router_;
  std::vector<std::string> asked_;
};

TEST_F(AskingPort, AViewerIsAnsweredAsTextAndAsJson) {
  const auto text = ask("/why/pod/shop/web-1?output=text");
  EXPECT_EQ(text.status, 200);
  EXPECT_THAT(text.body, HasSubstr("it fits on no node"));
  EXPECT_EQ(text.headers.get("Cache-Control"), "no-store");
  const auto parsed = kube::test::parse(ask("/why/pod/shop/web-1").body);
  EXPECT_EQ(parsed.at("name"), "web-1");
  EXPECT_EQ(parsed.at("known"), true);
}

TEST_F(AskingPort, TheRolesAreAskedAboutTheWholeUser) {
  ask("/why/node/default-a");
  EXPECT_THAT(asked_, ElementsAre(R"({"nonResourceAttributes":{"path":"/millwright","verb":"get"},)"
                                  R"("user":"viewer","uid":"u1","groups":["staff","day"],)"
                                  R"("extra":{"scope":["a"]}})"));
}

TEST_F(AskingPort, WithoutATokenNobodyIsAskedAndNothingIsSaid) {
  const auto refused = ask("/why/pod/shop/web-1", "");
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.headers.get("WWW-Authenticate"), "Bearer");
  EXPECT_THAT(transport_->seen, IsEmpty());
}

TEST_F(AskingPort, AnUnknownTokenAndAUserWithoutTheRightAreRefusedOnEachPath) {
  for (const char* path :
       {"/why/pod/shop/web-1", "/why/node/default-a", "/decisions", "/cluster"}) {
    EXPECT_EQ(ask(path, "forged").status, 401) << path;
    const auto refused = ask(path, "stranger");
    EXPECT_EQ(refused.status, 403) << path;
    EXPECT_THAT(refused.body, HasSubstr("stranger may not ask"));
    EXPECT_THAT(refused.body, Not(HasSubstr("fits on no node")));
  }
}

TEST_F(AskingPort, AVerdictIsKeptForAMinuteAndARefusalForSeconds) {
  ask("/decisions");
  ask("/decisions");
  EXPECT_EQ(transport_->seen.size(), 2U);
  loop_.run_for(CallerRights::kKeepAllowed);
  ask("/decisions");
  EXPECT_EQ(transport_->seen.size(), 4U) << "a right that was taken back must end";
  ask("/decisions", "stranger");
  loop_.run_for(CallerRights::kKeepRefused);
  ask("/decisions", "stranger");
  EXPECT_EQ(transport_->seen.size(), 8U);
}

TEST_F(AskingPort, ManyNewCallersAtOnceAreTurnedAwayAndTheOthersStillAnswered) {
  std::vector<std::shared_ptr<Taken>> callers;
  for (std::size_t i = 0; i <= CallerRights::kMostNewcomers; ++i) {
    callers.push_back(begin("/decisions", "forged-" + std::to_string(i), "GET",
                            "10.0.0." + std::to_string(i / CallerRights::kMostOfOnePeer)));
  }
  loop_.run_for(1s);
  EXPECT_EQ(callers.front()->response.status, 401);
  EXPECT_EQ(callers.back()->response.status, 429);
  EXPECT_EQ(ask("/decisions").status, 200);
}

TEST_F(AskingPort, ASilentApiServerLetsNobodyInAndIsAskedAgain) {
  transport_->scripted.emplace_back(base::fail(base::ErrorKind::Unavailable, "no connection"));
  EXPECT_EQ(ask("/decisions").status, 503);
  EXPECT_EQ(ask("/decisions").status, 200);
  transport_->scripted.emplace_back(
      kube::test::status_answer(403, "Forbidden", "may not create tokenreviews"));
  loop_.run_for(CallerRights::kKeepAllowed);
  const auto refused = ask("/decisions");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("ClusterRole millwright-asking"));
}

TEST_F(AskingPort, AFollowerNamesTheLeaseOfTheLeaderToThoseWhoMayAsk) {
  leads_ = false;
  const auto answer = ask("/why/pod/shop/web-1");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("Lease nodes/lease"));
  EXPECT_EQ(ask("/why/pod/shop/web-1", "forged").status, 401);
}

TEST_F(AskingPort, WhatIsNotOnRecordIsNotFoundAndAWrongQuestionIsExplained) {
  EXPECT_EQ(ask("/why/pod/shop/web-9").status, 404);
  EXPECT_EQ(ask("/why/pod/web-1").status, 400);
  EXPECT_EQ(ask("/why/node/a/b").status, 400);
  EXPECT_EQ(ask("/why/shoe/a").status, 400);
  EXPECT_EQ(ask("/why").status, 400);
  EXPECT_EQ(ask("/decisions?after=x").status, 400);
  EXPECT_EQ(ask("/decisions", "viewer", "POST").status, 405);
}

TEST_F(AskingPort, DecisionsBeginAfterTheNumberGiven) {
  EXPECT_EQ(ask("/decisions?after=0").body, telemetry::decision_line(*decisions_.all()[0]) + "\n" +
                                                telemetry::decision_line(*decisions_.all()[1]) +
                                                "\n");
  const auto rest = ask("/decisions?after=1").body;
  EXPECT_THAT(rest, HasSubstr("Bought NodeClaim default-a"));
  EXPECT_THAT(rest, Not(HasSubstr("fits on no node")));
}

TEST_F(AskingPort, TheClusterIsShownToAViewerAndToNobodyElse) {
  NodeRow node;
  node.name = "node-of-secret-name";
  cluster_.nodes.push_back(node);
  const auto shown = ask(std::string(kClusterPath));
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.headers.get("Cache-Control"), "no-store");
  const auto view = parse_cluster_view(shown.body);
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->nodes.at(0).name, "node-of-secret-name");
  for (const char* token : {"", "forged", "stranger"}) {
    EXPECT_THAT(ask(std::string(kClusterPath), token).body, Not(HasSubstr("node-of-secret-name")));
  }
  EXPECT_EQ(ask(std::string(kClusterPath), "viewer", "POST").status, 405);
  leads_ = false;
  EXPECT_EQ(ask(std::string(kClusterPath)).status, 503);
}

TEST_F(AskingPort, TheCommandAsksThePathsThatAreServed) {
  const auto pod = make_question("pod", "shop/web-1", "");
  EXPECT_EQ(ask(path_of(*pod, "text")).status, 200);
  const auto node = make_question("node", "default-a", "");
  EXPECT_EQ(ask(path_of(*node, "json")).status, 200);
}

TEST(AskingRemotely, OnlyATokenIsSentAndOnlyOverHttps) {
  const auto plain = config_of({.url = "http://127.0.0.1:1", .token_file = "token"});
  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().message, HasSubstr("https://"));

  const auto path = std::filesystem::path(testing::TempDir()) / "asking-kubeconfig";
  std::ofstream(path) << R"({"current-context":"c","contexts":[
      {"name":"c","context":{"cluster":"k","user":"u"}},
      {"name":"w","context":{"cluster":"k","user":"words"}}],
    "clusters":[{"name":"k","cluster":{"server":"https://api:6443"}}],
    "users":[{"name":"u","user":{"token":"t"}},
             {"name":"words","user":{"username":"me","password":"p"}}]})";
  const auto config = config_of({.url = "https://127.0.0.1:1/", .kubeconfig = path});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://127.0.0.1:1");
  EXPECT_EQ(config->token, "t");
  const auto words = config_of({.url = "https://127.0.0.1:1", .kubeconfig = path, .context = "w"});
  ASSERT_FALSE(words);
  EXPECT_THAT(words.error().message, HasSubstr("its user has no token"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace millwright::app

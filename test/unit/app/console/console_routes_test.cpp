// Who gets the console and its stream on the asking port, and how the stream speaks.
#include "app/console/console_routes.hpp"

#include "app/top/cluster_view.hpp"
#include "millwright/model/codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace millwright::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class Browser final : public net::Exchange {
 public:
  void respond(net::Response given) override { response = std::move(given); }
  void start(int status, net::Headers headers) override {
    response.status = status;
    response.headers = std::move(headers);
    streaming = true;
  }
  void write(std::string chunk) override { chunks.push_back(std::move(chunk)); }
  void finish() override { finished = true; }
  void on_close(std::function<void()> callback) override { leave = std::move(callback); }
  std::string peer() const override { return "127.0.0.1"; }

  net::Response response{.status = 0, .headers = {}, .body = {}};
  std::vector<std::string> chunks;
  std::function<void()> leave;
  bool streaming = false;
  bool finished = false;
};

class ConsoleRoutes : public testing::Test {
 protected:
  ConsoleRoutes() {
    add_console_routes(router_, parts_, feed_);
    group_.spawn(feed_.run(group_.stop_token()));
  }

  std::shared_ptr<Browser> open(const std::string& target, const std::string& token = "viewer",
                                const std::string& method = "GET") {
    net::Request request{.method = method, .target = target, .headers = {}, .body = {}};
    request.headers.set("Authorization", "Bearer " + token);
    auto browser = std::make_shared<Browser>();
    router_.handle(std::move(request), browser);
    loop_.run_for(10ms);
    return browser;
  }
  std::shared_ptr<Browser> open_stream(const std::string& token = "viewer") {
    return open(std::string(kConsoleEvents), token);
  }
  base::Task<std::optional<net::Response>> check(std::string token, std::string /*peer*/) {
    if (viewers_.contains(token)) {
      co_return std::nullopt;
    }
    co_return net::Response::text(403, token + " may not ask\n");
  }
  ConsoleView look() {
    ++looks_;
    ConsoleView view;
    view.time = loop_.now();
    view.totals = "{}";
    view.waiting = "[]";
    for (const auto& name : nodes_) {
      view.nodes[name] = "{\"name\":\"" + name + "\"}";
    }
    return view;
  }

  base::VirtualLoop loop_{*base::parse_rfc3339("2026-01-01T00:00:00Z")};
  base::InlineCompute compute_;
  telemetry::DecisionLog decisions_{[this] { return loop_.now(); }};
  std::set<std::string> viewers_{"viewer", "other"};
  std::set<std::string> nodes_{"n1"};
  int looks_ = 0;
  bool leads_ = true;
  CheckCaller check_ = [this](std::string token, std::string peer) {
    return check(std::move(token), std::move(peer));
  };
  ConsoleFeed feed_{{.loop = loop_,
                     .compute = compute_,
                     .look = [this](const ConsoleView* /*before*/) { return look(); },
                     .check = check_,
                     .leads = [this] { return leads_; },
                     .pace = 1s,
                     .beat = 15s,
                     .check_again = 5s}};
  base::TaskGroup group_{loop_};
  AskingParts parts_{.loop = loop_,
                     .compute = compute_,
                     .decisions = decisions_,
                     .cluster = [] { return ClusterView(); },
                     .check = check_,
                     .group = group_,
                     .leads = [this] { return leads_; },
                     .lease = "nodes/lease"};
  net::Router router_;
};

TEST_F(ConsoleRoutes, NothingOfItIsGivenToWhoMayNotAskOrByAFollower) {
  for (const char* path :
       {"/console/", "/console/console.js", "/console/console.css", "/console/events"}) {
    const auto stranger = open(path, "stranger");
    EXPECT_EQ(stranger->response.status, 403) << path;
    EXPECT_FALSE(stranger->streaming) << path;
    EXPECT_EQ(open(path, "viewer", "POST")->response.status, 405) << path;
    leads_ = false;
    EXPECT_EQ(open(path)->response.status, 503) << path;
    leads_ = true;
  }
  EXPECT_EQ(feed_.streams(), 0U);
  EXPECT_EQ(looks_, 0);
}

TEST_F(ConsoleRoutes, ThePageMayRunAndAskOnlyWhatComesFromHere) {
  for (const auto& [path, type] :
       {std::pair("/console/", "text/html; charset=utf-8"),
        std::pair("/console/console.js", "text/javascript; charset=utf-8"),
        std::pair("/console/console.css", "text/css; charset=utf-8")}) {
    const auto file = open(path)->response;
    EXPECT_EQ(file.status, 200) << path;
    EXPECT_EQ(file.headers.get("Content-Type"), type);
    EXPECT_EQ(file.headers.get("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(file.headers.get("Cache-Control"), "no-store");
    EXPECT_EQ(file.headers.get("Referrer-Policy"), "no-referrer");
    const auto policy = file.headers.get("Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, HasSubstr("script-src 'self';"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  }
  EXPECT_EQ(open("/console/../secret")->response.status, 404);
  EXPECT_EQ(open("/console")->response.status, 404);
}

TEST_F(ConsoleRoutes, ThePageIsSmallAndHoldsNothingThatThePolicyForbids) {
  std::size_t bytes = 0;
  for (const char* path : {"/console/", "/console/console.js", "/console/console.css"}) {
    const auto body = open(path)->response.body;
    EXPECT_THAT(body, Not(IsEmpty()));
    for (const char* forbidden :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
          "onclick=", " style=", "http://", "https://", "@import", "document.cookie"}) {
      EXPECT_THAT(body, Not(HasSubstr(forbidden))) << path;
    }
    bytes += body.size();
  }
  EXPECT_LT(bytes, 150U << 10U);
}

TEST_F(ConsoleRoutes, AStreamBeginsWithTheWholeAndGoesOnWithWhatChanges) {
  const auto browser = open_stream();
  EXPECT_EQ(browser->response.status, 200);
  EXPECT_EQ(browser->response.headers.get("Content-Type"), "text/event-stream");
  EXPECT_EQ(browser->response.headers.get("Cache-Control"), "no-store");
  ASSERT_THAT(browser->chunks, SizeIs(1));
  EXPECT_THAT(browser->chunks[0],
              StartsWith("event: whole\ndata: {\"time\":\"2026-01-01T00:00:00Z"));
  EXPECT_THAT(browser->chunks[0], HasSubstr(R"("nodes":[{"name":"n1"}])"));
  EXPECT_THAT(browser->chunks[0], EndsWith("}\n\n"));

  nodes_ = {"n1", "n2"};
  loop_.run_for(500ms);
  nodes_ = {"n2", "n3"};
  loop_.run_for(600ms);
  ASSERT_THAT(browser->chunks, SizeIs(2)) << "changes within a second are one event";
  EXPECT_THAT(browser->chunks[1], StartsWith("event: changes\n"));
  EXPECT_THAT(browser->chunks[1],
              HasSubstr(R"("nodes":[{"name":"n2"},{"name":"n3"}],"gone":["n1"])"));
  EXPECT_THAT(browser->chunks[1], Not(HasSubstr("\n{"))) << "data is one line";
}

TEST_F(ConsoleRoutes, AStreamThatHasNothingToSaySaysThatItIsAlive) {
  const auto browser = open_stream();
  loop_.run_for(16s);
  ASSERT_THAT(browser->chunks, SizeIs(2));
  EXPECT_THAT(browser->chunks[1], StartsWith("event: beat\ndata: {\"time\":"));
}

TEST_F(ConsoleRoutes, WhoComesLaterOrAgainGetsTheWhole) {
  const auto first = open_stream();
  nodes_ = {"n2"};
  loop_.run_for(2s);
  const auto second = open_stream("other");
  ASSERT_THAT(second->chunks, SizeIs(1));
  EXPECT_THAT(second->chunks[0], StartsWith("event: whole"));
  EXPECT_THAT(second->chunks[0], HasSubstr("n2"));
  EXPECT_THAT(second->chunks[0], Not(HasSubstr("n1")));
}

TEST_F(ConsoleRoutes, PicturesAreMadeOnlyWhileSomebodyLooks) {
  loop_.run_for(1min);
  EXPECT_EQ(looks_, 0);
  const auto browser = open_stream();
  loop_.run_for(3s);
  browser->leave();
  loop_.run_for(2s);
  const int looks = looks_;
  loop_.run_for(1min);
  EXPECT_EQ(looks_, looks);
  EXPECT_EQ(feed_.streams(), 0U);
}

TEST_F(ConsoleRoutes, StreamsAreBoundedForEachTokenAndInAll) {
  std::vector<std::shared_ptr<Browser>> browsers;
  for (std::size_t i = 0; i < ConsoleFeed::kMostOfOneToken; ++i) {
    browsers.push_back(open_stream());
  }
  const auto refused = open_stream();
  EXPECT_EQ(refused->response.status, 429);
  EXPECT_FALSE(refused->streaming);
  for (std::size_t i = browsers.size(); i < ConsoleFeed::kMostStreams; ++i) {
    const std::string token = "user-" + std::to_string(i);
    viewers_.insert(token);
    browsers.push_back(open_stream(token));
    EXPECT_EQ(browsers.back()->response.status, 200);
  }
  EXPECT_EQ(open_stream("other")->response.status, 429);
  browsers.front()->leave();
  EXPECT_EQ(open_stream("other")->response.status, 200) << "a place becomes free";
}

TEST_F(ConsoleRoutes, AStreamEndsWhenItsCallersRightIsTakenBack) {
  const auto browser = open_stream();
  const auto other = open_stream("other");
  viewers_.erase("viewer");
  loop_.run_for(6s);
  EXPECT_TRUE(browser->finished);
  const auto told = browser->chunks.size();
  nodes_ = {"secret"};
  loop_.run_for(6s);
  EXPECT_THAT(browser->chunks, SizeIs(told));
  EXPECT_FALSE(other->finished);
  EXPECT_THAT(other->chunks.back(), HasSubstr("secret"));
}

TEST_F(ConsoleRoutes, StreamsEndWithTheTermAndWithTheProgram) {
  const auto browser = open_stream();
  leads_ = false;
  loop_.run_for(6s);
  EXPECT_TRUE(browser->finished);
  leads_ = true;
  const auto next = open_stream();
  group_.request_stop();
  loop_.run_for(2s);
  EXPECT_TRUE(next->finished);
  EXPECT_TRUE(group_.empty());
}

}  // namespace
}  // namespace millwright::app

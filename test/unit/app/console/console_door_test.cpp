// The door of a browser: who may pass, and what it may ask of what-if.
#include "app/console/console_door.hpp"

#include "app/console/console_relay.hpp"
#include "app/console/console_routes.hpp"
#include "app/console/live_what_if.hpp"
#include "millwright/net/client.hpp"
#include "unit/kube/fake_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace millwright::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kSecret = "0123456789abcdef";

net::Request asking(const std::string& target, const std::string& host = "127.0.0.1:8080") {
  net::Request request{.method = "GET", .target = target, .headers = {}, .body = {}};
  request.headers.set("Host", host);
  return request;
}

TEST(ConsoleDoor, WhoHasTheSecretPassesAndNobodyElse) {
  const auto target = past_the_door(asking("/0123456789abcdef/console/?a=b"), kSecret);
  ASSERT_TRUE(target);
  EXPECT_EQ(*target, "/console/?a=b");
  for (const char* other : {"/", "/console/", "/0123456789abcde/console/", "/0123456789abcdef0/x",
                            "/0123456789abcdeg/console/", "/0123456789abcdef", "//console/"}) {
    const auto refused = past_the_door(asking(other), kSecret);
    ASSERT_FALSE(refused) << other;
    EXPECT_EQ(refused.error().status, 404) << other;
  }
}

TEST(ConsoleDoor, AnotherSiteOrNameOfThisMachineDoesNotPass) {
  const std::string target = "/0123456789abcdef/cluster";
  EXPECT_TRUE(past_the_door(asking(target, "localhost:8080"), kSecret));
  for (const char* host : {"evil.example:8080", "127.0.0.1.evil.example", "", "[::1]:8080"}) {
    EXPECT_EQ(past_the_door(asking(target, host), kSecret).error().status, 403) << host;
  }
  auto request = asking(target);
  request.headers.set("Sec-Fetch-Site", "cross-site");
  EXPECT_EQ(past_the_door(request, kSecret).error().status, 403);
  request.headers.set("Sec-Fetch-Mode", "navigate");
  request.headers.set("Sec-Fetch-Dest", "iframe");
  EXPECT_EQ(past_the_door(request, kSecret).error().status, 403);
  request.headers.set("Sec-Fetch-Dest", "document");
  EXPECT_TRUE(past_the_door(request, kSecret)) << "a link that a person follows";
  request.headers.set("Sec-Fetch-Site", "same-origin");
  EXPECT_TRUE(past_the_door(request, kSecret));
  request.method = "POST";
  EXPECT_EQ(past_the_door(request, kSecret).error().status, 405);
}

TEST(ConsoleDoor, EveryAnswerTellsTheBrowserItsLimits) {
  base::RealLoop loop;
  auto door = ConsoleDoor::open(
      loop, 0, [](const net::Request& request, const std::shared_ptr<net::Exchange>& exchange) {
        exchange->respond(net::Response::text(200, "asked " + request.target));
      });
  ASSERT_TRUE(door) << door.error().message;
  std::thread thread([&] { loop.run(); });
  const auto client = net::make_client(loop);
  const auto get = [&](const std::string& url) {
    net::ClientRequest request;
    request.url = url;
    return *client->send_blocking(std::move(request));
  };
  const auto page = get((*door)->url());
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "asked /console/");
  EXPECT_THAT(page.headers.get("Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
  const auto stranger = get((*door)->url().substr(0, (*door)->url().find('/', 10)) + "/console/");
  EXPECT_EQ(stranger.status, 404);
  EXPECT_THAT(stranger.headers.get("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  loop.stop();
  thread.join();
}

TEST(ConsoleDoor, EachHasASecretOfItsOwn) {
  base::VirtualLoop loop(*base::parse_rfc3339("2026-01-01T00:00:00Z"));
  const auto open = [&] { return ConsoleDoor::open(loop, 0, [](const auto&, const auto&) {}); };
  const auto first = open();
  const auto second = open();
  ASSERT_TRUE(first && second);
  const auto secret = [](const std::string& url) { return url.substr(url.find('/', 10), 33); };
  EXPECT_EQ(secret((*first)->url()).find_first_not_of("/0123456789abcdef"), std::string::npos);
  EXPECT_NE(secret((*first)->url()), secret((*second)->url()));
}

class Page final : public net::Exchange {
 public:
  void respond(net::Response given) override { response = std::move(given); }
  void start(int status, net::Headers headers) override {
    response = {.status = status, .headers = std::move(headers), .body = {}};
  }
  void write(std::string chunk) override { response.body += chunk; }
  void finish() override { finished = true; }
  void on_close(std::function<void()> callback) override { leave = std::move(callback); }
  net::Response response;
  std::function<void()> leave;
  bool finished = false;
};

TEST(ConsoleRelay, HandsOnAnswersAndStreamsAndSaysWhenThereIsNone) {
  base::VirtualLoop loop(kube::test::kStart);
  kube::test::FakeTransport transport(loop);
  ConsoleRelay relay(loop, transport);
  const auto ask = [&](const std::string& target) {
    auto page = std::make_shared<Page>();
    relay.answer(asking(target), page);
    loop.run_for(1s);
    return page;
  };
  transport.scripted.emplace_back(net::Response::text(403, "you may not ask\n"));
  const auto refused = ask("/why/node/a");
  EXPECT_EQ(refused->response.status, 403);
  EXPECT_EQ(refused->response.body, "you may not ask\n");
  EXPECT_EQ(transport.seen.back().request.path, "/why/node/a");
  transport.scripted.emplace_back(base::fail(base::ErrorKind::Unavailable, "no connection"));
  const auto silent = ask("/cluster");
  EXPECT_EQ(silent->response.status, 502);
  EXPECT_THAT(silent->response.body, HasSubstr("no connection"));

  const auto page = ask(std::string(kConsoleEvents));
  ASSERT_EQ(transport.streams.size(), 1U);
  transport.streams[0]->send("");
  transport.streams[0]->send("event: whole\n\n");
  EXPECT_EQ(page->response.status, 200);
  EXPECT_EQ(page->response.headers.get("Content-Type"), "text/event-stream");
  EXPECT_EQ(page->response.body, "event: whole\n\n");
  transport.streams[0]->end();
  loop.run_for(1s);
  EXPECT_TRUE(page->finished);
}

TEST(PageWhatIf, ChangesAreReadAndWhateverReadsFilesIsRefused) {
  const auto drain = parse_page_what_if("drain n1 n2  scale deployment/web=5 -n shop");
  ASSERT_TRUE(drain) << drain.error().message;
  EXPECT_THAT(drain->changes, ElementsAre(DrainNode{"n1"}, DrainNode{"n2"},
                                          ScaleWorkload{"deployments", "shop", "web", 5}));
  EXPECT_TRUE(parse_page_what_if(""));
  for (const char* words :
       {"apply -f /etc/passwd", "-f /etc/passwd", "drain n1 --instance-types-file-path /etc/passwd",
        "apply", "--instance-types-file-path=/etc/passwd", "-o json", "drain"}) {
    EXPECT_FALSE(parse_page_what_if(words)) << words;
  }
}

}  // namespace
}  // namespace millwright::app

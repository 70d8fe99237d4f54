// Messages, URLs and routes, without a socket.
#include "millwright/net/http.hpp"

#include "millwright/net/server.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace millwright::net {
namespace {

TEST(Http, SecretsAreTheSameOnlyWhole) {
  EXPECT_TRUE(is_same_secret("token", "token"));
  EXPECT_FALSE(is_same_secret("token", "tokem"));
  EXPECT_FALSE(is_same_secret("toke", "token"));
  EXPECT_FALSE(is_same_secret("tokens", "token"));
  EXPECT_FALSE(is_same_secret("", "token"));
}

TEST(Headers, AreFoundWithoutCase) {
  Headers headers;
  headers.set("Content-Type", "a");
  EXPECT_EQ(headers.get("content-TYPE"), "a");
  EXPECT_EQ(headers.find("Content"), nullptr);
  EXPECT_EQ(headers.get("Content"), "");
}

TEST(Headers, SetReplacesAndAddKeeps) {
  Headers headers;
  headers.add("Warning", "one");
  headers.add("warning", "two");
  EXPECT_EQ(headers.get("Warning"), "one");
  EXPECT_EQ(std::distance(headers.begin(), headers.end()), 2);
  headers.set("WARNING", "three");
  EXPECT_EQ(headers.get("Warning"), "three");
  EXPECT_EQ(std::distance(headers.begin(), headers.end()), 1);
}

TEST(Request, QueriesAreDecoded) {
  struct Case {
    const char* target;
    const char* name;
    std::optional<std::string> value;
  };
  const std::vector<Case> cases{
      {"/a", "x", std::nullopt}, {"/a?", "x", std::nullopt},
      {"/a?x", "x", ""},         {"/a?x=", "x", ""},
      {"/a?x=1", "x", "1"},      {"/a?y=2&x=1", "x", "1"},
      {"/a?x=1&x=2", "x", "1"},  {"/a?x=a%20b+c", "x", "a b c"},
      {"/a?x=a=b", "x", "a=b"},  {"/a?x%5B0%5D=1", "x[0]", "1"},
      {"/a?&&x=1", "x", "1"},    {"/a?xx=1", "x", std::nullopt},
      {"/a?x=%", "x", "%"},      {"/a?x=%4", "x", "%4"},
      {"/a?x=%zz", "x", "%zz"},
  };
  for (const Case& c : cases) {
    Request request;
    request.target = c.target;
    EXPECT_EQ(request.query(c.name), c.value) << c.target;
    EXPECT_EQ(request.path(), "/a");
  }
}

TEST(Url, EncodingLeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(url_encode("a/b c+d~e"), "a%2Fb%20c%2Bd~e");
  EXPECT_EQ(url_decode("a+b%2"), "a+b%2");
}

TEST(Url, DecodingUndoesEncoding) {
  rc::check([](const std::string& text) { RC_ASSERT(url_decode(url_encode(text)) == text); });
}

// Remembers what a route answered.
class Spy final : public Exchange {
 public:
  void respond(Response response) override { answer = std::move(response); }
  void start(int /*status*/, Headers /*headers*/) override {}
  void write(std::string /*chunk*/) override {}
  void finish() override {}
  void on_close(std::function<void()> /*callback*/) override {}
  Response answer;
};

TEST(Router, TakesTheLongestPrefixOnSegmentBorders) {
  Router router;
  for (const std::string prefix : {"/apis", "/apis/a/", "/healthz", "/apis/a/b"}) {
    router.add_sync(prefix, [prefix](const Request&) { return Response::text(200, prefix); });
  }
  struct Case {
    const char* target;
    int status;
    const char* route;
  };
  const std::vector<Case> cases{
      {"/apis", 200, "/apis"},
      {"/apis/", 200, "/apis"},
      {"/apis?x=/apis/a", 200, "/apis"},
      {"/apis/a", 200, "/apis/a/"},
      {"/apis/ab", 200, "/apis"},
      {"/apis/a/b/c", 200, "/apis/a/b"},
      {"/healthz?verbose", 200, "/healthz"},
      {"/apisx", 404, nullptr},
      {"/", 404, nullptr},
      {"", 404, nullptr},
      {"*", 404, nullptr},
  };
  for (const Case& c : cases) {
    const auto spy = std::make_shared<Spy>();
    Request request;
    request.target = c.target;
    router.handle(request, spy);
    EXPECT_EQ(spy->answer.status, c.status) << c.target;
    if (c.route != nullptr) {
      EXPECT_EQ(spy->answer.body, c.route) << c.target;
    }
  }
}

TEST(Router, AnEmptyPrefixTakesTheRest) {
  Router router;
  router.add_sync("/", [](const Request&) { return Response::text(200, "rest"); });
  const auto spy = std::make_shared<Spy>();
  Request request;
  request.target = "/whatever/else";
  router.handle(request, spy);
  EXPECT_EQ(spy->answer.body, "rest");
}

}  // namespace
}  // namespace millwright::net

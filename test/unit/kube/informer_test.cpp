#include "millwright/kube/informer.hpp"

#include "fake_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace millwright::kube::test {
namespace {

using base::ErrorKind;
using testing::AllOf;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

json::value node(std::string_view name, std::string_view uid, std::string_view version) {
  return {{"kind", "Node"},
          {"metadata", {{"name", name}, {"uid", uid}, {"resourceVersion", version}}}};
}

json::value bookmark(std::string_view version) {
  return {{"kind", "Node"}, {"metadata", {{"resourceVersion", version}}}};
}

class InformerTest : public testing::Test {
 protected:
  void SetUp() override {
    transport->answer = [this](const ApiRequest&) -> base::Result<net::Response> {
      if (list_failure) {
        return *list_failure;
      }
      return ok({{"metadata", {{"resourceVersion", std::to_string(list_version)}}},
                 {"items", json::array(stored.begin(), stored.end())}});
    };
  }

  void start(InformerOptions options = {}) {
    InformerHandlers handlers{
        .upsert =
            [this](const json::value& object) {
              const auto& metadata = object.at("metadata");
              reports.push_back("+" + std::string(metadata.at("name").as_string()) + "/" +
                                std::string(metadata.at("uid").as_string()) + "@" +
                                std::string(metadata.at("resourceVersion").as_string()));
            },
        .remove =
            [this](const model::ObjectKey& key, const std::string& uid) {
              reports.push_back("-" + key.to_string() + "/" + uid);
            },
        .synced = [this] { reports.emplace_back("synced"); },
        .not_listable =
            [this](const base::Error& why) {
              reports.push_back("not listable: " + std::string(base::to_string(why.kind)));
            },
        .heard = [this] { ++heard; },
        .lost = [this] { ++lost; },
        .rewound = [this] { reports.emplace_back("rewound"); }};
    options.resource = model::kNodeResource;
    options.seed = 7;
    group.spawn(run_informer(client, std::move(options), std::move(handlers), group.stop_token()));
    loop.run_for(100ms);
  }
  std::vector<std::string> take_reports() { return std::exchange(reports, {}); }
  FakeStream& stream() { return *transport->streams.back(); }
  std::size_t requests(std::string_view with) const {
    return static_cast<std::size_t>(std::count_if(
        transport->seen.begin(), transport->seen.end(),
        [&](const auto& one) { return one.request.path.find(with) != std::string::npos; }));
  }
  std::size_t lists() const { return requests("limit=500"); }

  base::VirtualLoop loop{kStart};
  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>(loop);
  Client client{loop, transport};
  std::vector<json::value> stored{node("a", "ua", "3"), node("b", "ub", "5")};
  int list_version = 10;
  std::optional<net::Response> list_failure;
  std::vector<std::string> reports;
  int heard = 0;
  int lost = 0;
  base::TaskGroup group{loop};
};

TEST_F(InformerTest, ListsThenWatchesFromTheListsVersion) {
  start({.label_selector = "a=b", .field_selector = "spec.x=y"});
  EXPECT_THAT(take_reports(), ElementsAre("+a/ua@3", "+b/ub@5", "synced"));
  EXPECT_EQ(stream().path(),
            "/api/v1/nodes?watch=true&allowWatchBookmarks=true&timeoutSeconds=290"
            "&resourceVersion=10&labelSelector=a%3Db&fieldSelector=spec.x%3Dy");
  stream().event("ADDED", node("c", "uc", "11"));
  stream().event("MODIFIED", node("a", "ua", "12"));
  stream().event("DELETED", node("b", "ub", "13"));
  stream().event("DELETED", node("never-seen", "un", "14"));
  EXPECT_THAT(take_reports(), ElementsAre("+c/uc@11", "+a/ua@12", "-b/ub"));
}

TEST_F(InformerTest, AnEndedWatchIsResumedAtOnceFromTheLastVersion) {
  start();
  stream().event("MODIFIED", node("a", "ua", "12"));
  stream().event("BOOKMARK", bookmark("20"));
  const auto ended_at = loop.now();
  stream().end();
  loop.run_for(1s);
  ASSERT_EQ(transport->streams.size(), 2U);
  EXPECT_THAT(stream().path(), HasSubstr("resourceVersion=20"));
  EXPECT_EQ(transport->seen.back().time, ended_at);
  EXPECT_EQ(lists(), 1U);
}

TEST_F(InformerTest, EventsMayBeCutAnywhere) {
  start();
  take_reports();
  std::string text;
  for (int i = 0; i < 3; ++i) {
    text += json::serialize(json::value{
        {"type", "ADDED"}, {"object", node("n" + std::to_string(i), "u", std::to_string(20 + i))}});
    text += i == 1 ? "\n\n" : "\n";
  }
  for (std::size_t cut = 0; cut < text.size(); cut += 7) {
    stream().send(std::string_view(text).substr(cut, 7));
  }
  EXPECT_THAT(take_reports(), ElementsAre("+n0/u@20", "+n1/u@21", "+n2/u@22"));
}

TEST_F(InformerTest, AHalfEventAtTheEndIsAskedForAgain) {
  start();
  take_reports();
  stream().event("MODIFIED", node("a", "ua", "12"));
  stream().send(R"({"type":"ADDED","object":{"metadata":{"name":"c")");
  list_version = 13;
  stream().end(base::fail(ErrorKind::Unavailable, "connection reset"));
  loop.run_for(1s);
  EXPECT_THAT(take_reports(), ElementsAre("+a/ua@12"));
  EXPECT_THAT(stream().path(), HasSubstr("resourceVersion=12"));
}

TEST_F(InformerTest, WhatDisappearedBetweenListsIsReportedRemoved) {
  start();
  take_reports();
  stored = {node("b", "ub", "5"), node("c", "uc", "30")};
  list_version = 40;
  stream().send(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired",)"
                R"("message":"too old resource version"}})"
                "\n");
  loop.run_for(10ms);
  // b did not change, so it is not reported again; the list was read at once.
  EXPECT_THAT(take_reports(), ElementsAre("+c/uc@30", "-a/ua"));
  EXPECT_EQ(lists(), 2U);
  EXPECT_THAT(stream().path(), HasSubstr("resourceVersion=40"));
}

// A state from the API server's cache could be older than what this process did before it started,
// or than what it heard; and it would come in one piece.
TEST_F(InformerTest, EveryListAsksForTheMostRecentStateInPages) {
  start();
  EXPECT_EQ(transport->paths().front(), "GET /api/v1/nodes?limit=500");
  transport->seen.clear();
  list_failure = status_answer(500, "InternalError", "not now");
  stream().send(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired",)"
                R"("message":"too old resource version"}})"
                "\n");
  loop.run_for(1s);
  list_failure.reset();
  loop.run_for(60s);
  ASSERT_GE(transport->seen.size(), 3U);
  transport->seen.pop_back();  // the watch
  EXPECT_THAT(transport->paths(), testing::Each("GET /api/v1/nodes?limit=500"));
}

TEST_F(InformerTest, GoneAsHttpStatusListsAgain) {
  start();
  bool gone = true;
  transport->refuse_stream = [&](const ApiRequest&) -> std::optional<net::Response> {
    return std::exchange(gone, false) ? std::optional(status_answer(410, "Expired", "too old"))
                                      : std::nullopt;
  };
  loop.run_for(40s);
  stream().end();
  loop.run_for(10ms);
  EXPECT_EQ(lists(), 2U);
  EXPECT_EQ(lost, 1);
  EXPECT_EQ(heard, 3) << "two lists, and the end of the watch between them";
  EXPECT_EQ(transport->streams.size(), 2U);
}

// The server was away, and forgot the version meanwhile: what it says is news, not a failure more.
TEST_F(InformerTest, GoneAfterFailuresListsAgainAtOnce) {
  start();
  int refusals = 6;
  std::optional<base::TimePoint> gone_at;
  transport->refuse_stream = [&](const ApiRequest&) -> std::optional<net::Response> {
    if (refusals-- > 0) {
      return status_answer(503, "ServiceUnavailable", "down");
    }
    if (!std::exchange(gone_at, loop.now())) {
      return status_answer(410, "Expired", "too old");
    }
    return std::nullopt;
  };
  stream().end();
  while (!gone_at && loop.now() < kStart + 10min) {
    loop.run_for(10ms);
  }
  ASSERT_TRUE(gone_at.has_value());
  loop.run_for(20ms);
  EXPECT_EQ(lists(), 2U);
}

TEST_F(InformerTest, AServerThatIsAlwaysGoneIsNotAskedInATightLoop) {
  transport->refuse_stream = [](const ApiRequest&) {
    return std::optional(status_answer(410, "Expired", "too old"));
  };
  start();
  loop.run_for(60s);
  EXPECT_GE(lists(), 5U);
  EXPECT_LE(lists(), 20U);
}

TEST_F(InformerTest, AnObjectCreatedAnewUnderItsNameIsRemovedAndAdded) {
  start();
  take_reports();
  stream().event("MODIFIED", node("a", "ua2", "12"));
  EXPECT_THAT(take_reports(), ElementsAre("-a/ua", "+a/ua2@12"));
  stream().event("DELETED", node("a", "ua", "13"));  // late news of the first one
  EXPECT_THAT(take_reports(), IsEmpty());
  stored = {node("a", "ua3", "50")};
  list_version = 60;
  stream().send("{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n");
  loop.run_for(1s);
  EXPECT_THAT(take_reports(), ElementsAre("-a/ua2", "+a/ua3@50", "-b/ub"));
}

TEST_F(InformerTest, WhatCannotBeReadLeadsToANewList) {
  const char* lines[] = {
      "not json",
      "[1,2]",
      R"({"type":"ADDED"})",
      R"({"type":"WHAT","object":{}})",
      R"({"type":"ADDED","object":{"metadata":{"name":"x"}}})",
      R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"1"}}})",
      R"({"type":"ERROR","object":{"kind":"Status","code":500,"reason":"InternalError"}})",
  };
  // What follows is not trusted any more, whether it comes with it or late.
  const std::string later = R"({"type":"ADDED","object":{"metadata":{"name":"c",)"
                            R"("uid":"uc","resourceVersion":"99"}}})"
                            "\n";
  start();
  take_reports();
  for (const char* line : lines) {
    const auto before = lists();
    stream().send(std::string(line) + "\n" + later);
    EXPECT_TRUE(stream().ended()) << line;
    stream().send(later);
    loop.run_for(60s);
    stream().send("\n");
    EXPECT_EQ(lists(), before + 1) << line;
    EXPECT_THAT(stream().path(), HasSubstr("resourceVersion=10")) << line;
  }
  EXPECT_THAT(take_reports(), IsEmpty());
  const auto first = transport->streams.front();
  first->send(later);  // its watch is long gone
  EXPECT_THAT(take_reports(), IsEmpty());
}

TEST_F(InformerTest, ALineWithoutEndIsCutOff) {
  start();
  const std::string chunk(4U << 20, 'x');
  for (int i = 0; i < 8 && !stream().ended(); ++i) {
    stream().send(chunk);
  }
  EXPECT_FALSE(stream().ended());
  stream().send("x");
  EXPECT_TRUE(stream().ended());
  loop.run_for(10s);
  EXPECT_EQ(lists(), 2U);
}

TEST_F(InformerTest, FailuresAreRetriedEverMoreSlowly) {
  list_failure = status_answer(403, "Forbidden", "no");
  start();
  loop.run_for(10min);
  EXPECT_THAT(take_reports(), testing::Each("not listable: denied"));
  std::vector<base::Duration> gaps;
  for (std::size_t i = 1; i < transport->seen.size(); ++i) {
    gaps.push_back(transport->seen[i].time - transport->seen[i - 1].time);
  }
  ASSERT_GT(gaps.size(), 10U);
  EXPECT_LE(gaps.front(), 250ms);
  EXPECT_GE(gaps.front(), 100ms);
  EXPECT_GE(gaps.back(), 15s);
  EXPECT_LE(gaps.back(), 31s);
  list_failure.reset();
  loop.run_for(31s);
  EXPECT_THAT(take_reports(), ElementsAre("+a/ua@3", "+b/ub@5", "synced"));
}

TEST_F(InformerTest, AServerThatAsksForADaysPatienceIsAskedSooner) {
  auto busy = status_answer(429, "TooManyRequests", "slow down");
  busy.headers.set("Retry-After", "86400");
  list_failure = busy;
  start();
  list_failure.reset();
  loop.run_for(31s);
  EXPECT_THAT(take_reports(), ElementsAre("+a/ua@3", "+b/ub@5", "synced"));
}

TEST_F(InformerTest, AFailedWatchIsResumedWithoutAList) {
  start();
  take_reports();
  stream().event("ADDED", node("c", "uc", "15"));
  list_version = 15;
  int refusals = 3;
  transport->refuse_stream = [&](const ApiRequest&) -> std::optional<net::Response> {
    return refusals-- > 0 ? std::optional(status_answer(503, "ServiceUnavailable", "down"))
                          : std::nullopt;
  };
  stream().end(base::fail(ErrorKind::Unavailable, "connection reset"));
  loop.run_for(30s);
  EXPECT_EQ(lists(), 1U);
  EXPECT_EQ(transport->streams.size(), 2U);
  EXPECT_THAT(stream().path(), HasSubstr("resourceVersion=15"));
}

TEST_F(InformerTest, WatchesThatEndAtOnceAreNotResumedInATightLoop) {
  transport->refuse_stream = [](const ApiRequest&) { return std::optional(net::Response{}); };
  start();
  loop.run_for(60s);
  EXPECT_LE(transport->seen.size(), 20U);
  EXPECT_EQ(lists(), 1U);
}

TEST_F(InformerTest, AConnectionThatWentSilentIsReplaced) {
  start({.watch_timeout = 60s});
  const auto opened_at = transport->seen.back().time;
  loop.run_for(91s);
  EXPECT_EQ(transport->streams.size(), 2U);
  EXPECT_EQ(transport->seen.back().time - opened_at, 90s);
  EXPECT_TRUE(transport->streams[0]->ended());
  EXPECT_EQ(lists(), 1U);
}

TEST_F(InformerTest, StoppingEndsListWatchAndPause) {
  start();
  group.request_stop();
  loop.run_for(1ms);
  EXPECT_TRUE(group.empty());
  EXPECT_TRUE(stream().ended());

  base::TaskGroup second(loop);
  list_failure = status_answer(503, "ServiceUnavailable", "down");
  second.spawn(
      run_informer(client, {.resource = model::kNodeResource, .seed = 7}, {}, second.stop_token()));
  loop.run_for(30s);
  second.request_stop();
  loop.run_for(1ms);
  EXPECT_TRUE(second.empty());
}

TEST_F(InformerTest, SyncedComesOnceAndOnlyAfterTheLastPage) {
  transport->scripted = {
      ok({{"metadata", {{"resourceVersion", "9"}, {"continue", "t"}}},
          {"items", {node("a", "ua", "3")}}}),
      status_answer(410, "Expired", "too old"),
      ok({{"metadata", {{"resourceVersion", "12"}}}, {"items", {node("b", "ub", "11")}}})};
  start();
  EXPECT_THAT(take_reports(), ElementsAre("+a/ua@3", "+b/ub@11", "-a/ua", "synced"));
  EXPECT_THAT(stream().path(), HasSubstr("resourceVersion=12"));
}

TEST_F(InformerTest, SaysThatItCannotListAndTriesAgain) {
  list_failure = status_answer(403, "Forbidden", "no");
  start();
  EXPECT_THAT(take_reports(), ElementsAre("not listable: denied"));
  list_failure = status_answer(404, "NotFound", "no such resource");
  loop.run_for(1s);
  EXPECT_THAT(take_reports(), testing::Each("not listable: not_found"));
  list_failure = status_answer(500, "InternalError", "down");
  loop.run_for(1min);
  EXPECT_THAT(take_reports(), IsEmpty());
  list_failure.reset();
  loop.run_for(1min);
  EXPECT_THAT(take_reports(), ElementsAre("+a/ua@3", "+b/ub@5", "synced"));
}

// Its token has expired, or the server cannot check tokens for a while.
TEST_F(InformerTest, WhoIsNotKnownToTheServerIsToldApart) {
  list_failure = status_answer(401, "Unauthorized", "Unauthorized");
  start();
  loop.run_for(1min);
  EXPECT_THAT(take_reports(), AllOf(SizeIs(Gt(1)), testing::Each("not listable: unauthorized")));
  EXPECT_GT(lost, 0);
  list_failure.reset();
  loop.run_for(31s);
  EXPECT_THAT(take_reports(), ElementsAre("+a/ua@3", "+b/ub@5", "synced"));
}

// Nothing was missed yet: what the watch has not told comes when the token is renewed.
TEST_F(InformerTest, AWatchGoesOnWhereItWasOnceTheServerKnowsWhoAsks) {
  start();
  stream().event("MODIFIED", node("a", "ua", "12"));
  list_version = 12;
  bool unknown = true;
  transport->refuse_stream = [&](const ApiRequest&) -> std::optional<net::Response> {
    return unknown ? std::optional(status_answer(401, "Unauthorized", "Unauthorized"))
                   : std::nullopt;
  };
  stream().end();
  loop.run_for(1min);
  EXPECT_EQ(transport->streams.size(), 1U);
  EXPECT_GT(lost, 0);
  unknown = false;
  loop.run_for(31s);
  ASSERT_EQ(transport->streams.size(), 2U);
  EXPECT_THAT(stream().path(), HasSubstr("resourceVersion=12"));
  EXPECT_EQ(lists(), 1U);
}

TEST_F(InformerTest, TellsWhenTheServerSpeaksAndWhenItIsLost) {
  start();
  EXPECT_EQ(heard, 1);
  stream().event("BOOKMARK", bookmark("20"));
  EXPECT_EQ(heard, 1) << "it may still catch up";
  loop.run_for(1s);
  EXPECT_EQ(heard, 2);
  stream().event("MODIFIED", node("a", "ua", "21"));
  list_version = 21;
  EXPECT_EQ(heard, 3);
  loop.run_for(5s);
  stream().end();
  loop.run_for(1s);
  EXPECT_EQ(heard, 4) << "an end at its time is an answer too";
  EXPECT_EQ(lost, 0);
  stream().end(base::fail(ErrorKind::Unavailable, "cut"));
  loop.run_for(10ms);
  EXPECT_EQ(heard, 4);
  EXPECT_EQ(lost, 1);
  loop.run_for(1min);
  EXPECT_EQ(heard, 4);
  stream().send("");
  EXPECT_EQ(heard, 4);
  loop.run_for(1s);
  EXPECT_EQ(heard, 5) << "the head of an answer: nothing happened, and the API server is there";
}

// The API server accepts a watch from any version, and says then that it has forgotten this one.
// What was deleted since is known only once the new list is complete.
TEST_F(InformerTest, IsLostUntilTheListIsCompleteThatAForgottenVersionNeeds) {
  start();
  stream().end(base::fail(ErrorKind::Unavailable, "cut"));
  loop.run_for(1min);
  ASSERT_EQ(transport->streams.size(), 2U);
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(lost, 1);
  transport->scripted = {
      ok({{"metadata", {{"resourceVersion", "40"}, {"continue", "t"}}},
          {"items", {node("a", "ua", "3")}}}),
      ok({{"metadata", {{"resourceVersion", "40"}}}, {"items", {node("c", "uc", "30")}}})};
  transport->latency = 10s;
  take_reports();
  stream().send("");
  stream().event("ERROR", {{"kind", "Status"}, {"code", 410}, {"reason", "Expired"}});
  loop.run_for(15s);
  EXPECT_THAT(take_reports(), IsEmpty()) << "the first page brought nothing new";
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(lost, 2);
  loop.run_for(6s);
  EXPECT_THAT(take_reports(), ElementsAre("+c/uc@30", "-b/ub"));
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(lost, 2);
}

TEST_F(InformerTest, PagesOfAListThatFailsAreNotHeard) {
  bool fails = true;
  transport->answer = [&](const ApiRequest& request) -> base::Result<net::Response> {
    if (request.path.find("continue=") == std::string::npos) {
      return ok({{"metadata", {{"resourceVersion", "9"}, {"continue", "t"}}},
                 {"items", {node("a", "ua", "3")}}});
    }
    return fails ? status_answer(500, "InternalError", "down")
                 : ok({{"metadata", {{"resourceVersion", "9"}}}, {"items", json::array{}}});
  };
  start();
  loop.run_for(2min);
  EXPECT_GE(lists(), 5U);
  EXPECT_EQ(heard, 0);
  fails = false;
  loop.run_for(31s);
  EXPECT_EQ(heard, 1);
}

// etcdctl's restore brings old versions back, and watches from newer ones are silent until the
// cluster comes there again.
TEST_F(InformerTest, AHistoryThatWasRewoundIsNoticedByAnOldBookmark) {
  start();
  stream().event("MODIFIED", node("a", "ua", "40"));
  stream().event("BOOKMARK", bookmark("50"));
  take_reports();
  stored = {node("a", "ua", "3")};
  list_version = 12;
  stream().event("BOOKMARK", bookmark("12"));
  loop.run_for(1s);
  EXPECT_THAT(take_reports(), ElementsAre("rewound", "+a/ua@3", "-b/ub"));
  EXPECT_THAT(stream().path(), HasSubstr("resourceVersion=12"));
}

// The restored history has passed what was heard of the lost one, or was told to begin above it.
TEST_F(InformerTest, AHistoryThatWasRewoundIsNoticedByAnOlderObject) {
  start();
  stream().event("MODIFIED", node("a", "ua", "40"));
  take_reports();
  list_version = 60;
  stream().event("ERROR", {{"kind", "Status"}, {"code", 410}, {"reason", "Expired"}});
  loop.run_for(1s);
  EXPECT_THAT(take_reports(), ElementsAre("rewound", "+a/ua@3"));
}

TEST_F(InformerTest, AnotherObjectOfTheNameIsNoOlderOne) {
  start();
  stream().event("MODIFIED", node("a", "ua", "40"));
  take_reports();
  stored = {node("a", "ua0", "39"), node("b", "ub", "50")};
  list_version = 60;
  stream().event("ERROR", {{"kind", "Status"}, {"code", 410}, {"reason", "Expired"}});
  loop.run_for(1s);
  EXPECT_THAT(take_reports(), ElementsAre("-a/ua", "+a/ua0@39", "+b/ub@50"));
}

// The API server was down while etcd was restored; watches from versions of the lost history would
// be accepted.
TEST_F(InformerTest, AHistoryThatWasRewoundIsNoticedBeforeAWatchGoesOn) {
  start();
  stream().event("MODIFIED", node("a", "ua", "20"));
  take_reports();
  stored = {node("a", "ua", "3")};
  list_version = 12;
  const auto watches = transport->streams.size();
  list_failure = net::Response{.status = 503, .headers = {}, .body = {}};
  stream().end(base::fail(ErrorKind::Unavailable, "connection reset"));
  loop.run_for(10s);
  EXPECT_EQ(transport->streams.size(), watches) << "nobody has said yet where history is";
  EXPECT_THAT(take_reports(), IsEmpty());
  list_failure.reset();
  loop.run_for(20s);
  EXPECT_THAT(take_reports(), ElementsAre("rewound", "+a/ua@3", "-b/ub"));
  EXPECT_EQ(transport->streams.size(), watches + 1);
  EXPECT_THAT(stream().path(), HasSubstr("resourceVersion=12"));
}

// Who may watch and not list, not any more, is not kept from watching.
TEST_F(InformerTest, AWatchGoesOnThoughNothingMayBeListed) {
  start();
  list_failure = status_answer(403, "Forbidden", "no");
  stream().end(base::fail(ErrorKind::Unavailable, "connection reset"));
  loop.run_for(1s);
  EXPECT_EQ(requests("limit=1"), 1U);
  EXPECT_EQ(transport->streams.size(), 2U);
  EXPECT_THAT(stream().path(), HasSubstr("resourceVersion=10"));
}

TEST_F(InformerTest, AServerThatIsBusyIsNotAskedForItsHistory) {
  start();
  stream().end(base::fail(ErrorKind::Throttled, "too many requests"));
  loop.run_for(1s);
  EXPECT_EQ(requests("limit=1"), 0U);
  EXPECT_EQ(transport->streams.size(), 2U);
}

TEST_F(InformerTest, AWatchWithoutAWordLeadsToANewList) {
  start();
  take_reports();
  list_version = 7;
  loop.run_for(130s);
  stream().end(base::fail(ErrorKind::Timeout, "nothing came"));
  loop.run_for(1s);
  EXPECT_EQ(lists(), 2U);
  EXPECT_THAT(take_reports(), ElementsAre("rewound"));
  list_version = 9;
  loop.run_for(130s);
  stream().end();
  loop.run_for(1s);
  EXPECT_EQ(lists(), 3U);
  EXPECT_THAT(take_reports(), IsEmpty()) << "a newer list is everyday life";
}

TEST_F(InformerTest, TypedHandlersLeaveOutWhatCannotBeRead) {
  stored = {node("a", "ua", "3"),
            {{"metadata", {{"name", "bad"}, {"uid", "x"}, {"resourceVersion", "4"}}},
             {"spec", {{"taints", "none"}}}}};
  std::vector<std::string> seen;
  TypedHandlers<model::Node> typed{
      .upsert = [&](const std::shared_ptr<const model::Node>& n) { seen.push_back(n->meta.name); },
      .remove = {},
      .synced = {}};
  group.spawn(run_informer(client, {.resource = model::kNodeResource, .seed = 7},
                           decode_into<model::Node>(std::move(typed), {}), group.stop_token()));
  loop.run_for(1s);
  EXPECT_THAT(seen, ElementsAre("a"));
}

}  // namespace
}  // namespace millwright::kube::test

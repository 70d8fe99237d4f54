#include "millwright/kube/client.hpp"

#include "fake_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::kube::test {
namespace {

using base::ErrorKind;
using model::ObjectKey;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const ObjectKey kWeb{.namespace_ = "default", .name = "web-1"};

class ClientTest : public testing::Test {
 protected:
  Client& client(ClientOptions options = {}) {
    client_ = std::make_unique<Client>(loop, transport, std::move(options), &metrics);
    return *client_;
  }
  const ApiRequest& last() const { return transport->seen.back().request; }
  static void evict_many(base::TaskGroup* group, Client* api, int count, std::stop_token stop) {
    const auto evict = [](Client* c, std::stop_token stopped) -> base::Task<void> {
      DeleteOptions options;
      co_await c->evict(kWeb, options, std::move(stopped));
    };
    for (int i = 0; i < count; ++i) {
      group->spawn(evict(api, stop));
    }
  }

  base::VirtualLoop loop{kStart};
  base::Metrics metrics;
  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>(loop);

 private:
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, EachVerbHasItsMethodPathAndBody) {
  transport->answer = [](const ApiRequest&) { return ok({{"kind", "Pod"}}); };
  auto& api = client();
  const json::value pod{{"metadata", {{"name", "web-1"}, {"namespace", "default"}}}};
  const json::value pool{{"metadata", {{"name", "spot"}}}};

  ASSERT_TRUE(run(loop, api.get(model::kPodResource, kWeb)));
  ASSERT_TRUE(run(loop, api.create(model::kPodResource, pod)));
  EXPECT_EQ(parse(last().body).at("apiVersion"), "v1");
  EXPECT_EQ(parse(last().body).at("kind"), "Pod");
  ASSERT_TRUE(run(loop, api.replace(model::kNodePoolResource, pool, "status")));
  ASSERT_TRUE(run(loop, api.patch(model::kPodResource, kWeb, PatchType::Merge, {{"a", 1}})));
  EXPECT_EQ(last().content_type, "application/merge-patch+json");
  ASSERT_TRUE(run(loop, api.patch(model::kPodResource, kWeb, PatchType::Json, json::array())));
  EXPECT_EQ(last().content_type, "application/json-patch+json");
  ASSERT_TRUE(run(loop, api.patch(model::kPodResource, kWeb, PatchType::Strategic, {{"a", 1}})));
  EXPECT_EQ(last().content_type, "application/strategic-merge-patch+json");
  ASSERT_TRUE(run(loop, api.apply(model::kNodePoolResource, pool)));
  EXPECT_EQ(last().content_type, "application/apply-patch+yaml");
  ASSERT_TRUE(run(loop, api.remove(model::kPodResource, kWeb)));

  EXPECT_THAT(transport->paths(),
              ElementsAre("GET /api/v1/namespaces/default/pods/web-1",
                          "POST /api/v1/namespaces/default/pods?fieldManager=millwright",
                          "PUT /apis/karpenter.sh/v1/nodepools/spot/status?fieldManager=millwright",
                          "PATCH /api/v1/namespaces/default/pods/web-1?fieldManager=millwright",
                          "PATCH /api/v1/namespaces/default/pods/web-1?fieldManager=millwright",
                          "PATCH /api/v1/namespaces/default/pods/web-1?fieldManager=millwright",
                          "PATCH /apis/karpenter.sh/v1/nodepools/spot"
                          "?fieldManager=millwright&force=true",
                          "DELETE /api/v1/namespaces/default/pods/web-1"));
}

TEST_F(ClientTest, DeleteCarriesPreconditionsAndGrace) {
  transport->answer = [](const ApiRequest&) { return ok({}); };
  const DeleteOptions options{
      .uid = "u-1", .grace_period_seconds = 5, .propagation_policy = "Background"};
  ASSERT_TRUE(run(loop, client().remove(model::kPodResource, kWeb, options)));
  EXPECT_EQ(parse(last().body), parse(R"({"preconditions":{"uid":"u-1"},"gracePeriodSeconds":5,
      "propagationPolicy":"Background","apiVersion":"v1","kind":"DeleteOptions"})"));
}

TEST_F(ClientTest, EvictionIsPolicyV1WithPreconditions) {
  transport->answer = [](const ApiRequest&) { return ok({{"status", "Success"}}); };
  const DeleteOptions options{.uid = "u-1", .grace_period_seconds = 5};
  ASSERT_TRUE(run(loop, client().evict(kWeb, options)));
  EXPECT_EQ(last().path, "/api/v1/namespaces/default/pods/web-1/eviction");
  EXPECT_EQ(parse(last().body), parse(R"({"apiVersion":"policy/v1","kind":"Eviction",
      "metadata":{"name":"web-1","namespace":"default"},
      "deleteOptions":{"preconditions":{"uid":"u-1"},"gracePeriodSeconds":5}})"));
}

TEST_F(ClientTest, BindingNamesTheNodeAndTheUid) {
  transport->answer = [](const ApiRequest&) { return ok({{"status", "Success"}}); };
  ASSERT_TRUE(run(loop, client().bind(kWeb, "u-1", "node-a")));
  EXPECT_EQ(last().path, "/api/v1/namespaces/default/pods/web-1/binding");
  EXPECT_EQ(parse(last().body), parse(R"({"apiVersion":"v1","kind":"Binding",
      "metadata":{"name":"web-1","namespace":"default","uid":"u-1"},
      "target":{"apiVersion":"v1","kind":"Node","name":"node-a"}})"));
}

TEST_F(ClientTest, KeysThatWouldChangeTheMeaningOfTheUrlAreNeverSent) {
  auto& api = client();
  const ObjectKey bad[] = {{"default", ""},      {"", "web"},         {"default", ".."},
                           {"default", "a/b"},   {"de/fault", "web"}, {"default", "a?b=c"},
                           {"default", "a%2fb"}, {"default", "a b"},  {"default", "a#b"}};
  for (const auto& key : bad) {
    const auto removed = run(loop, api.remove(model::kPodResource, key));
    ASSERT_FALSE(removed) << key.to_string();
    EXPECT_EQ(removed.error().kind, ErrorKind::Invalid);
    EXPECT_THAT(removed.error().message, HasSubstr("delete Pod"));
    EXPECT_FALSE(run(loop, api.get(model::kPodResource, key)));
    EXPECT_FALSE(run(loop, api.evict(key)));
    EXPECT_FALSE(run(loop, api.bind(key, "", "node")));
  }
  EXPECT_FALSE(run(loop, api.bind(kWeb, "", "")));
  EXPECT_FALSE(run(loop, api.create(model::kPodResource, "text")));
  EXPECT_FALSE(run(loop, api.create(model::kPodResource, {{"metadata", {{"name", "a"}}}})));
  EXPECT_TRUE(transport->seen.empty());
}

TEST_F(ClientTest, GeneratedNamesMayBeCreated) {
  transport->answer = [](const ApiRequest&) { return ok({}); };
  EXPECT_TRUE(run(loop, client().create(model::kNodeClaimResource,
                                        {{"metadata", {{"generateName", "spot-"}}}})));
  EXPECT_EQ(last().path, "/apis/karpenter.sh/v1/nodeclaims?fieldManager=millwright");
}

struct StatusCase {
  int code;
  std::string reason;
  ErrorKind kind;
};

TEST(ErrorOf, FollowsTheStatusReasonAndThenTheCode) {
  const StatusCase cases[] = {
      {404, "NotFound", ErrorKind::NotFound},
      {409, "AlreadyExists", ErrorKind::Exists},
      {409, "Conflict", ErrorKind::Conflict},
      {422, "Invalid", ErrorKind::Invalid},
      {400, "BadRequest", ErrorKind::Invalid},
      {401, "Unauthorized", ErrorKind::Unauthorized},
      {403, "Forbidden", ErrorKind::Denied},
      {410, "Gone", ErrorKind::Gone},
      {410, "Expired", ErrorKind::Gone},
      {429, "TooManyRequests", ErrorKind::Throttled},
      {500, "ServerTimeout", ErrorKind::Timeout},
      {500, "InternalError", ErrorKind::Unavailable},
      {503, "SomethingNew", ErrorKind::Unavailable},
      {504, "Timeout", ErrorKind::Timeout},
      {418, "SomethingNew", ErrorKind::Invalid},
      {405, "MethodNotAllowed", ErrorKind::Invalid},
  };
  for (const auto& one : cases) {
    const auto error = error_of(status_answer(one.code, one.reason, "because"), "get Pod a/b");
    EXPECT_EQ(error.kind, one.kind) << one.code << " " << one.reason;
    EXPECT_THAT(error.message, HasSubstr("get Pod a/b: because"));
  }
}

TEST(ErrorOf, ReadsAnswersThatAreNoStatus) {
  const std::pair<int, ErrorKind> cases[] = {
      {302, ErrorKind::Invalid},     {401, ErrorKind::Unauthorized}, {403, ErrorKind::Denied},
      {404, ErrorKind::NotFound},    {409, ErrorKind::Conflict},     {410, ErrorKind::Gone},
      {429, ErrorKind::Throttled},   {408, ErrorKind::Timeout},      {504, ErrorKind::Timeout},
      {500, ErrorKind::Unavailable}, {502, ErrorKind::Unavailable}};
  for (const auto& [code, kind] : cases) {
    net::Response response;
    response.status = code;
    response.body = "<html>\n\x01 gateway</html>";
    const auto error = error_of(response, "list Pod");
    EXPECT_EQ(error.kind, kind) << code;
    EXPECT_THAT(error.message, Not(HasSubstr("\n")));
  }
}

TEST(ErrorOf, TakesRetryAfterFromHeaderOrStatus) {
  auto answer = status_answer(429, "TooManyRequests", "slow down");
  answer.headers.set("Retry-After", "7");
  EXPECT_EQ(error_of(answer, "x").retry_after, 7s);
  answer.headers.set("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT");
  EXPECT_EQ(error_of(answer, "x").retry_after, 0s);
  answer.body = R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":3}})";
  EXPECT_EQ(error_of(answer, "x").retry_after, 3s);
}

TEST_F(ClientTest, ReadsAreTriedAgainAndWritesAreNot) {
  transport->answer = [](const ApiRequest&) {
    return status_answer(503, "ServiceUnavailable", "down");
  };
  auto& api = client();
  const auto read = run(loop, api.get(model::kPodResource, kWeb));
  EXPECT_EQ(read.error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(transport->seen.size(), 4U);
  transport->seen.clear();
  const auto write = run(loop, api.patch(model::kPodResource, kWeb, PatchType::Merge, {{"a", 1}}));
  EXPECT_EQ(write.error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(transport->seen.size(), 1U);
  EXPECT_EQ(metrics.value("client_go_request_total", {{"code", "503"}, {"method", "GET"}}), 4);
}

// The transport has renewed the token, if it can, and sent the request once more.
TEST_F(ClientTest, WhoIsNotKnownToTheServerDoesNotAskAgain) {
  transport->answer = [](const ApiRequest&) {
    return status_answer(401, "Unauthorized", "Unauthorized");
  };
  const auto read = run(loop, client().get(model::kPodResource, kWeb));
  EXPECT_EQ(read.error().kind, ErrorKind::Unauthorized);
  EXPECT_EQ(transport->seen.size(), 1U);
}

TEST_F(ClientTest, FailedConnectionsAreTriedAgainForReads) {
  transport->scripted.push_back(base::fail(ErrorKind::Unavailable, "connection refused"));
  transport->answer = [](const ApiRequest&) { return ok({{"kind", "Pod"}}); };
  EXPECT_TRUE(run(loop, client().get(model::kPodResource, kWeb)));
  EXPECT_EQ(metrics.value("client_go_request_total", {{"code", "<error>"}, {"method", "GET"}}), 1);
}

TEST_F(ClientTest, ThrottledWritesWaitAsLongAsTheServerAsks) {
  auto busy = status_answer(429, "TooManyRequests", "slow down");
  busy.headers.set("Retry-After", "9");
  transport->scripted.push_back(busy);
  transport->answer = [](const ApiRequest&) { return ok({}); };
  ASSERT_TRUE(run(loop, client().patch(model::kPodResource, kWeb, PatchType::Merge, {{"a", 1}})));
  ASSERT_EQ(transport->seen.size(), 2U);
  EXPECT_GE(transport->seen[1].time - transport->seen[0].time, 9s);
}

TEST_F(ClientTest, AServerThatAsksForTooMuchPatienceIsLeftToTheCaller) {
  auto busy = status_answer(429, "TooManyRequests", "slow down");
  busy.headers.set("Retry-After", "3600");
  transport->answer = [busy](const ApiRequest&) { return busy; };
  const auto read = run(loop, client().get(model::kPodResource, kWeb));
  EXPECT_EQ(read.error().retry_after, 1h);
  EXPECT_EQ(transport->seen.size(), 1U);
}

TEST_F(ClientTest, AnEvictionRefusedByABudgetIsNotRepeatedAndNamesIt) {
  transport->answer = [](const ApiRequest&) {
    return net::Response::json(429, R"({"kind":"Status","reason":"TooManyRequests","code":429,
      "message":"Cannot evict pod as it would violate the pod's disruption budget.",
      "details":{"causes":[{"reason":"DisruptionBudget",
                            "message":"The disruption budget web-pdb needs 1 healthy pods"}]}})");
  };
  const auto evicted = run(loop, client().evict(kWeb));
  ASSERT_FALSE(evicted);
  EXPECT_EQ(evicted.error().kind, ErrorKind::Throttled);
  EXPECT_THAT(evicted.error().message, HasSubstr("web-pdb"));
  EXPECT_EQ(transport->seen.size(), 1U);
}

TEST_F(ClientTest, CallsBeyondTheBurstAreSpreadOut) {
  transport->answer = [](const ApiRequest&) { return ok({}); };
  transport->latency = 0ms;
  auto& api = client({.qps = 10, .burst = 2});
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(run(loop, api.get(model::kPodResource, kWeb)));
  }
  std::vector<std::int64_t> at;
  for (const auto& one : transport->seen) {
    at.push_back((one.time - kStart) / 1ms);
  }
  EXPECT_THAT(at, ElementsAre(0, 0, 100, 200, 300));
}

TEST_F(ClientTest, ConcurrentCallsShareTheLimitInOrder) {
  transport->answer = [](const ApiRequest&) { return ok({}); };
  auto& api = client({.qps = 2, .burst = 1});
  base::TaskGroup group(loop);
  const auto fetch = [](Client* c, std::string name) -> base::Task<void> {
    ObjectKey key{.namespace_ = "default", .name = std::move(name)};
    co_await c->get(model::kPodResource, key);
  };
  for (const char* name : {"a", "b", "c"}) {
    group.spawn(fetch(&api, name));
  }
  loop.run_for(10s);
  ASSERT_EQ(transport->seen.size(), 3U);
  EXPECT_THAT(transport->seen[1].request.path, HasSubstr("/b"));
  EXPECT_EQ(transport->seen[2].time - kStart, 1s);
}

TEST_F(ClientTest, StoppingEndsAWaitForTheLimitAtOnce) {
  transport->answer = [](const ApiRequest&) { return ok({}); };
  auto& api = client({.qps = 0.001, .burst = 1});
  ASSERT_TRUE(run(loop, api.get(model::kPodResource, kWeb)));
  std::stop_source stop;
  loop.after(1s, [&] { stop.request_stop(); });
  const auto second = run(loop, api.get(model::kPodResource, kWeb, stop.get_token()));
  EXPECT_EQ(second.error().kind, ErrorKind::Cancelled);
  EXPECT_EQ(loop.now() - kStart, 1s + 1ms);
  // The place in line is free again: the next waits for one token, not for two.
  const auto third = run(loop, api.get(model::kPodResource, kWeb), 1h);
  EXPECT_TRUE(third);
  EXPECT_LE(loop.now() - kStart, 1001s);
}

// They must be sent by a deadline, and nobody repeats them for hours.
TEST_F(ClientTest, DeletionsOfPodsMayTakeTheWholeRate) {
  transport->answer = [](const ApiRequest&) { return ok({}); };
  transport->latency = 0ms;
  auto& api = client({.qps = 10, .burst = 4});
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(run(loop, api.remove(model::kPodResource, kWeb)));
  }
  EXPECT_EQ(transport->seen[3].time, kStart);
  EXPECT_EQ(transport->seen[5].time - kStart, 200ms);
}

TEST_F(ClientTest, AGracePeriodWithAnEndIsWhatIsLeftWhenTheCallIsSent) {
  transport->answer = [](const ApiRequest&) { return ok({}); };
  transport->latency = 0ms;
  auto& api = client({.qps = 0.2, .burst = 1});
  DeleteOptions options;
  options.uid = "u-1";
  options.end_of_grace = kStart + 8500ms;
  std::vector<std::int64_t> sent;
  for (int i = 0; i < 3; ++i) {  // at once, after 5 s and after 10 s
    ASSERT_TRUE(run(loop, api.remove(model::kPodResource, kWeb, options)));
    const auto body = parse(last().body);
    EXPECT_EQ(body.at("preconditions").at("uid"), "u-1");
    sent.push_back(body.at("gracePeriodSeconds").to_number<std::int64_t>());
  }
  EXPECT_THAT(sent, ElementsAre(8, 3, 1));
}

TEST_F(ClientTest, AnEvictionThatIsStoppedKeepsNoPlaceInItsLane) {
  transport->answer = [](const ApiRequest&) { return ok({}); };
  transport->latency = 0ms;
  auto& api = client({.qps = 10, .burst = 4});
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(run(loop, api.get(model::kPodResource, kWeb)));
  }
  // Both of the lane's places are free, but nothing is left of the rate of all calls.
  std::stop_source stop;
  base::TaskGroup group(loop);
  const auto evict = [](Client* c, std::stop_token stopped) -> base::Task<void> {
    DeleteOptions options;
    co_await c->evict(kWeb, options, std::move(stopped));
  };
  group.spawn(evict(&api, stop.get_token()));
  group.spawn(evict(&api, stop.get_token()));
  loop.run_for(10ms);
  stop.request_stop();
  loop.run_for(250ms);
  ASSERT_EQ(transport->seen.size(), 4U);
  group.spawn(evict(&api, {}));
  group.spawn(evict(&api, {}));
  loop.run_for(10ms);
  EXPECT_EQ(transport->seen.size(), 6U);
}

// Thirty seconds long nothing else would be sent: a transport sends 128 requests at once.
TEST_F(ClientTest, EvictionsThatAreAnsweredSlowlyLeaveRoomForOtherCalls) {
  transport->answer = [](const ApiRequest&) { return ok({}); };
  transport->latency = 10s;
  auto& api = client({.qps = 10'000, .burst = 10'000});
  base::TaskGroup group(loop);
  std::stop_source stop;
  evict_many(&group, &api, 200, stop.get_token());
  loop.run_for(9s);
  EXPECT_EQ(transport->seen.size(), 64U);
  transport->latency = 1ms;
  EXPECT_TRUE(run(loop, api.get(model::kPodResource, kWeb), 1s)) << "sent beside them";
  EXPECT_EQ(last().method, "GET");
  transport->latency = 10s;
  loop.run_for(10s);
  EXPECT_EQ(transport->seen.size(), 129U) << "each that is answered lets the next go";
  stop.request_stop();
  loop.run_for(1s);
  EXPECT_TRUE(group.empty()) << "those that wait end, too";
  evict_many(&group, &api, 200, {});
  loop.run_for(1s);
  EXPECT_EQ(transport->seen.size(), 193U) << "all places are free again";
}

// A busy API server asks for patience. Nothing is under way meanwhile.
TEST_F(ClientTest, AnEvictionThatIsTriedAgainLaterKeepsNobodyWaiting) {
  auto busy = status_answer(429, "TooManyRequests", "slow down");
  busy.headers.set("Retry-After", "20");
  transport->answer = [busy](const ApiRequest&) { return busy; };
  auto& api = client({.qps = 10'000, .burst = 10'000});
  base::TaskGroup group(loop);
  evict_many(&group, &api, 200, {});
  loop.run_for(1s);
  EXPECT_EQ(transport->seen.size(), 200U);
}

TEST_F(ClientTest, AServerThatNeverAnswersIsATimeout) {
  transport->latency = 1h;
  const auto write =
      run(loop, client().patch(model::kPodResource, kWeb, PatchType::Merge, {{"a", 1}}));
  EXPECT_EQ(write.error().kind, ErrorKind::Timeout);
  EXPECT_EQ(loop.now() - kStart, 30s);
}

TEST_F(ClientTest, AnAnswerThatIsNoJsonIsAnError) {
  transport->answer = [](const ApiRequest&) { return net::Response::text(200, "<html>"); };
  const auto read = run(loop, client({.attempts = 1}).get(model::kPodResource, kWeb));
  EXPECT_EQ(read.error().kind, ErrorKind::Unavailable);
  EXPECT_THAT(read.error().message, HasSubstr("get Pod default/web-1"));
}

TEST_F(ClientTest, UpdateRetriesWhileItConflicts) {
  int version = 1;
  transport->answer = [&](const ApiRequest& request) -> net::Response {
    if (request.method == "GET") {
      return ok({{"metadata", {{"name", "web-1"}, {"resourceVersion", std::to_string(version)}}}});
    }
    const auto sent = parse(request.body).at("metadata").at("resourceVersion");
    if (version < 4) {
      ++version;  // another writer was faster
    }
    if (sent != json::value(std::to_string(version))) {
      return status_answer(409, "Conflict", "the object has been modified");
    }
    return ok({{"done", version}});
  };
  int changes = 0;
  const auto updated =
      run(loop, client().update(model::kPodResource, kWeb, [&](const json::value&) {
        ++changes;
        return std::optional(json::value{{"metadata", {{"labels", {{"a", "b"}}}}}});
      }));
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_EQ(*updated, (json::value{{"done", 4}}));
  EXPECT_EQ(changes, 4);
  EXPECT_EQ(parse(last().body),
            parse(R"({"metadata":{"labels":{"a":"b"},"resourceVersion":"4"}})"));
}

TEST_F(ClientTest, UpdateGivesUpWhenItAlwaysConflicts) {
  transport->answer = [](const ApiRequest& request) {
    return request.method == "GET" ? ok({{"metadata", {{"resourceVersion", "1"}}}})
                                   : status_answer(409, "Conflict", "modified");
  };
  const auto updated = run(loop, client().update(model::kPodResource, kWeb, [](const json::value&) {
    return std::optional(json::value{{"spec", 1}});
  }));
  EXPECT_EQ(updated.error().kind, ErrorKind::Conflict);
}

TEST_F(ClientTest, UpdateWithNothingToDoWritesNothing) {
  transport->answer = [](const ApiRequest&) { return ok({{"kind", "Pod"}}); };
  const auto updated = run(loop, client().update(model::kPodResource, kWeb, [](const json::value&) {
    return std::optional<json::value>();
  }));
  ASSERT_TRUE(updated);
  EXPECT_EQ(transport->seen.size(), 1U);
}

}  // namespace
}  // namespace millwright::kube::test

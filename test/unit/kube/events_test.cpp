#include "millwright/kube/events.hpp"

#include "fake_store.hpp"
#include "fake_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::kube::test {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::StartsWith;
using testing::UnorderedElementsAre;

Event event_of(std::string_view node, std::string_view reason, std::string_view message) {
  return {.object = {.api_version = "v1",
                     .kind = "Node",
                     .key = {.namespace_ = {}, .name = std::string(node)},
                     .uid = "uid-of-" + std::string(node)},
          .warning = false,
          .reason = std::string(reason),
          .message = std::string(message),
          .dedupe_values = {}};
}

class EventsTest : public testing::Test {
 protected:
  void SetUp() override {
    transport->answer = [this](const ApiRequest& request) { return store.answer(request); };
    group.spawn(recorder.run(group.stop_token()));
  }
  std::vector<std::string> messages() {
    std::vector<std::string> all;
    for (const auto& one : transport->seen) {
      if (one.request.method == "POST") {
        all.emplace_back(parse(one.request.body).at("message").as_string());
      }
    }
    return all;
  }

  base::VirtualLoop loop{kStart};
  FakeStore store;
  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>(loop);
  Client client{loop, transport};
  EventRecorder recorder{client, "millwright", 3, {}};
  base::TaskGroup group{loop};
};

TEST_F(EventsTest, AnEventHasTheFieldsOfCoreV1) {
  auto event = event_of("node-a", "Unconsolidatable", "too busy");
  event.warning = true;
  recorder.record(event);
  loop.run_for(1s);
  ASSERT_EQ(store.objects.size(), 1U);
  auto [path, stored] = *store.objects.begin();
  EXPECT_THAT(path, StartsWith("/api/v1/namespaces/default/events/node-a."));
  stored.at("metadata").as_object().erase("name");
  EXPECT_EQ(stored, parse(R"({"metadata":{"namespace":"default","resourceVersion":"1"},
      "involvedObject":{"apiVersion":"v1","kind":"Node","name":"node-a","uid":"uid-of-node-a"},
      "reason":"Unconsolidatable","message":"too busy","type":"Warning","count":1,
      "firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:00Z",
      "source":{"component":"millwright"},"reportingComponent":"millwright",
      "reportingInstance":"","apiVersion":"v1","kind":"Event"})"));
}

TEST_F(EventsTest, EventsAboutNamespacedObjectsLiveBesideThem) {
  model::ObjectMeta meta;
  meta.name = "web-1";
  meta.namespace_ = "shop";
  meta.uid = "u";
  recorder.record({.object = reference_to(model::kPodResource, meta),
                   .reason = "Nominated",
                   .message = "m",
                   .dedupe_values = {}});
  loop.run_for(1s);
  ASSERT_EQ(store.objects.size(), 1U);
  EXPECT_THAT(store.objects.begin()->first, StartsWith("/api/v1/namespaces/shop/events/web-1."));
  const auto& involved = store.objects.begin()->second.at("involvedObject");
  EXPECT_EQ(involved, parse(R"({"apiVersion":"v1","kind":"Pod","name":"web-1",
                               "namespace":"shop","uid":"u"})"));
}

TEST_F(EventsTest, RepeatsWithinTheirTimeAreNotSent) {
  auto event = event_of("n", "R", "m");
  event.dedupe_for = 5min;
  for (int i = 0; i < 290; ++i) {
    recorder.record(event);
    loop.run_for(1s);
  }
  EXPECT_EQ(transport->seen.size(), 1U);
  recorder.record(event_of("other", "R", "m"));
  recorder.record(event_of("n", "R2", "m"));
  recorder.record(event_of("n", "R", "m2"));
  loop.run_for(1s);
  EXPECT_EQ(transport->seen.size(), 4U);
}

TEST_F(EventsTest, DedupeValuesReplaceTheMessage) {
  auto event = event_of("n", "R", "waited 1s");
  event.dedupe_values = {"n"};
  recorder.record(event);
  event.message = "waited 2s";
  recorder.record(event);
  event.dedupe_values = {"other"};
  recorder.record(event);
  loop.run_for(1s);
  EXPECT_THAT(messages(), ElementsAre("waited 1s", "waited 2s"));
}

TEST_F(EventsTest, ALaterRepeatCountsUpTheSameObject) {
  for (int i = 0; i < 3; ++i) {
    recorder.record(event_of("n", "R", "m"));
    loop.run_for(3min);
  }
  ASSERT_EQ(store.objects.size(), 1U);
  const auto& stored = store.objects.begin()->second;
  EXPECT_EQ(stored.at("count"), 3);
  EXPECT_EQ(stored.at("firstTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(stored.at("lastTimestamp"), "2026-01-01T00:06:00Z");
  // The API server forgot it: a new one begins.
  store.objects.clear();
  recorder.record(event_of("n", "R", "m"));
  loop.run_for(1s);
  ASSERT_EQ(store.objects.size(), 1U);
  EXPECT_EQ(store.objects.begin()->second.at("count"), 1);
}

TEST_F(EventsTest, WhenTheServerIsDownTheOldestAreDropped) {
  bool down = true;
  transport->answer = [&](const ApiRequest& request) -> base::Result<net::Response> {
    if (down) {
      return base::fail(ErrorKind::Unavailable, "refused");
    }
    return store.answer(request);
  };
  for (int i = 0; i < 1500; ++i) {
    recorder.record(event_of("n", "R", std::to_string(i)));
  }
  loop.run_for(1s);
  down = false;
  transport->seen.clear();
  loop.run_for(10min);
  const auto sent = messages();
  ASSERT_EQ(sent.size(), 1000U);
  EXPECT_EQ(sent.front(), "500");
  EXPECT_EQ(sent.back(), "1499");
}

TEST_F(EventsTest, SendingIsRateLimited) {
  for (int i = 0; i < 300; ++i) {
    recorder.record(event_of("n", "R", std::to_string(i)));
  }
  loop.run_for(2s);
  EXPECT_GE(transport->seen.size(), 100U);
  EXPECT_LE(transport->seen.size(), 145U);
  loop.run_for(10s);
  EXPECT_EQ(transport->seen.size(), 300U);
}

TEST_F(EventsTest, OneThatTheServerRefusesDoesNotHoldUpTheNext) {
  transport->scripted.push_back(status_answer(403, "Forbidden", "no"));
  recorder.record(event_of("n", "R", "refused"));
  recorder.record(event_of("n", "R", "sent"));
  loop.run_for(1s);
  ASSERT_EQ(store.objects.size(), 1U);
  EXPECT_EQ(store.objects.begin()->second.at("message"), "sent");
}

TEST_F(EventsTest, ACreateWhoseAnswerWasLostIsNotDoubled) {
  bool lose = true;
  transport->answer = [&](const ApiRequest& request) -> base::Result<net::Response> {
    auto answer = store.answer(request);
    if (std::exchange(lose, false)) {
      return base::fail(ErrorKind::Timeout, "no answer");
    }
    return answer;
  };
  recorder.record(event_of("n", "R", "m"));
  loop.run_for(1min);
  EXPECT_EQ(store.objects.size(), 1U);
  EXPECT_EQ(transport->seen.size(), 2U);
  loop.run_for(5min);
  recorder.record(event_of("n", "R", "m"));
  loop.run_for(1s);
  ASSERT_EQ(store.objects.size(), 1U);
  EXPECT_EQ(store.objects.begin()->second.at("count"), 2);
}

TEST_F(EventsTest, ALaterRepeatWithAnotherMessageIsAnotherObject) {
  auto event = event_of("n", "R", "waited 1m");
  event.dedupe_values = {"n"};
  recorder.record(event);
  loop.run_for(3min);
  event.message = "waited 4m";
  recorder.record(event);
  loop.run_for(3min);
  recorder.record(event);
  loop.run_for(1s);
  std::vector<std::pair<std::string, std::int64_t>> stored;
  for (const auto& [path, object] : store.objects) {
    stored.emplace_back(object.at("message").as_string(), object.at("count").as_int64());
  }
  EXPECT_THAT(stored, UnorderedElementsAre(std::pair("waited 1m", 1), std::pair("waited 4m", 2)));
}

TEST_F(EventsTest, WhatIsQueuedAtTheEndIsSent) {
  for (int i = 0; i < 50; ++i) {
    recorder.record(event_of("n", "R", std::to_string(i)));
  }
  group.request_stop();
  loop.run_for(10s);
  EXPECT_TRUE(group.empty());
  EXPECT_EQ(store.objects.size(), 50U);
}

TEST_F(EventsTest, DrainingEndsInTimeWhenTheServerIsGone) {
  transport->latency = 1h;
  recorder.record(event_of("n", "R", "m"));
  loop.run_for(1s);
  group.request_stop();
  loop.run_for(5100ms);
  EXPECT_TRUE(group.empty());
}

TEST_F(EventsTest, LongTextsAreCutBetweenCharacters) {
  std::string message(1023, 'x');
  message += "\xc3\xa4 and more";
  recorder.record(event_of(std::string(250, 'n') + "...", "R", message));
  loop.run_for(1s);
  ASSERT_EQ(store.objects.size(), 1U);
  const auto& stored = store.objects.begin()->second;
  EXPECT_EQ(stored.at("message").as_string(), std::string(1023, 'x'));
  EXPECT_LE(stored.at("metadata").at("name").as_string().size(), 253U);
}

}  // namespace
}  // namespace millwright::kube::test

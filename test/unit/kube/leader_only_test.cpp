#include "millwright/kube/leader_only.hpp"

#include "fake_transport.hpp"
#include "millwright/kube/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::kube::test {
namespace {

using base::ErrorKind;
using testing::HasSubstr;

const model::ObjectKey kWritten{.namespace_ = "", .name = "n"};

class LeaderOnlyTest : public testing::Test {
 protected:
  LeaderOnlyTest() : client_(loop_, leader_only(transport_, leadership_)) {
    transport_->answer = [](const ApiRequest&) {
      return ok(parse(R"({"metadata":{"name":"n"}})"));
    };
  }
  static json::value object() { return parse(R"({"metadata":{"name":"n"}})"); }

  base::VirtualLoop loop_{kStart};
  base::Leadership leadership_{loop_};
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>(loop_);
  Client client_;
};

TEST_F(LeaderOnlyTest, EveryWriteNeedsATermAndNoReadDoes) {
  struct Case {
    const char* verb;
    bool write;
    std::function<base::Task<base::Result<json::value>>(Client&)> call;
  };
  const Case cases[] = {
      {"get", false, [](Client& c) { return c.get(model::kNodeResource, kWritten); }},
      {"create", true, [](Client& c) { return c.create(model::kNodeResource, object()); }},
      {"replace", true, [](Client& c) { return c.replace(model::kNodeResource, object()); }},
      {"patch", true,
       [](Client& c) {
         return c.patch(model::kNodeResource, kWritten, PatchType::Merge, json::object());
       }},
      {"apply", true, [](Client& c) { return c.apply(model::kNodeResource, object()); }},
      {"delete", true, [](Client& c) { return c.remove(model::kNodeResource, kWritten); }},
      {"evict", true, [](Client& c) { return c.evict({.namespace_ = "d", .name = "p"}); }},
      {"bind", true, [](Client& c) { return c.bind({.namespace_ = "d", .name = "p"}, "", "n"); }},
  };
  for (const auto& one : cases) {
    leadership_.end();
    transport_->seen.clear();
    const auto refused = run(loop_, one.call(client_));
    EXPECT_EQ(refused.has_value(), !one.write) << one.verb;
    EXPECT_EQ(transport_->seen.size(), one.write ? 0U : 1U) << one.verb;
    if (!refused) {
      EXPECT_EQ(refused.error().kind, ErrorKind::Denied) << one.verb;
      EXPECT_THAT(refused.error().message, HasSubstr("does not lead")) << one.verb;
    }
    leadership_.begin(loop_.now() + 10s);
    EXPECT_TRUE(run(loop_, one.call(client_))) << one.verb;
  }
}

TEST_F(LeaderOnlyTest, ATermThatMayBeOverIsOver) {
  leadership_.begin(loop_.now() + 10s);
  loop_.run_for(9s);
  EXPECT_TRUE(run(loop_, client_.create(model::kNodeResource, object())));
  leadership_.begin(loop_.now() + 10s);
  loop_.run_for(10s);
  EXPECT_FALSE(run(loop_, client_.create(model::kNodeResource, object())));
}

// The API server asks for patience, and the term ends meanwhile.
TEST_F(LeaderOnlyTest, ARepetitionAsksAgain) {
  auto throttled = status_answer(429, "TooManyRequests", "slow down");
  throttled.headers.set("Retry-After", "12");
  transport_->scripted.emplace_back(throttled);
  leadership_.begin(loop_.now() + 10s);
  const auto reply = run(loop_, client_.create(model::kNodeResource, object()));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::Denied);
  EXPECT_EQ(transport_->seen.size(), 1U);
}

// 300 calls at once, and one of many waits behind them until the term is over.
TEST_F(LeaderOnlyTest, WhatWaitsForTheClientsOwnRateAsksAgain) {
  Client slow(loop_, leader_only(transport_, leadership_), ClientOptions{.qps = 0.05, .burst = 1});
  leadership_.begin(loop_.now() + 10s);
  EXPECT_TRUE(run(loop_, slow.create(model::kNodeResource, object())));
  EXPECT_FALSE(run(loop_, slow.create(model::kNodeResource, object())));
  EXPECT_EQ(transport_->seen.size(), 1U);
}

TEST_F(LeaderOnlyTest, AWriteUnderWayIsGivenUpWhenTheTermEnds) {
  transport_->latency = 1min;
  leadership_.begin(loop_.now() + 10s);
  const auto begun = loop_.now();
  const auto reply = run(loop_, client_.create(model::kNodeResource, object()));
  ASSERT_FALSE(reply);
  // Its effect is unknown.
  EXPECT_EQ(reply.error().kind, ErrorKind::Timeout);
  EXPECT_EQ(loop_.now() - begun, 10s);
}

TEST_F(LeaderOnlyTest, ReadsUnderWayGoOn) {
  transport_->latency = 20s;
  leadership_.begin(loop_.now() + 10s);
  EXPECT_TRUE(run(loop_, client_.get(model::kNodeResource, kWritten)));
}

TEST_F(LeaderOnlyTest, WhoeverStopsACallIsToldSo) {
  transport_->latency = 1min;
  leadership_.begin(loop_.now() + 1h);
  std::stop_source stop;
  loop_.after(3s, [&stop] { stop.request_stop(); });
  const auto reply = run(loop_, client_.create(model::kNodeResource, object(), stop.get_token()));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::Cancelled);
}

}  // namespace
}  // namespace millwright::kube::test

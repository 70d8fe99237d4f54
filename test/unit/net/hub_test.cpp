// Whose half-sent request makes room when the bytes in flight are full. No sockets are opened: the
// hub counts what its sessions say.
#include "net/server/hub.hpp"

#include "net/server/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace millwright::net::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HubTest : public testing::Test {
 protected:
  using SessionPtr = std::shared_ptr<Session>;

  static ServerOptions hundred_bytes() {
    ServerOptions options;
    options.tls = false;
    options.bytes_in_flight = 100;
    return options;
  }
  ~HubTest() override {
    for (const auto& session : hub->sessions()) {
      hub->leave(session.get());
    }
  }
  SessionPtr join() {
    auto session = std::make_shared<Session>(hub, worker, Session::Socket(worker->io));
    EXPECT_TRUE(hub->admit(session, {}).admitted);
    return session;
  }
  // Of whom room was made; fails the test when there was none.
  std::vector<SessionPtr> hold(const SessionPtr& session, std::size_t bytes) {
    auto room = hub->hold(session.get(), bytes);
    EXPECT_TRUE(room.fits);
    return std::move(room.gone);
  }
  bool is_refused(const SessionPtr& session, std::size_t bytes) {
    const auto room = hub->hold(session.get(), bytes);
    EXPECT_THAT(room.gone, IsEmpty());
    return !room.fits;
  }

  std::shared_ptr<Worker> worker = std::make_shared<Worker>();
  std::shared_ptr<Hub> hub = std::make_shared<Hub>(hundred_bytes(), Handler());
};

// Whoever fills the places of its own address takes none from others.
TEST_F(HubTest, AnAddressMakesRoomAmongItsOwn) {
  ServerOptions options = hundred_bytes();
  options.max_connections_per_address = 2;
  hub = std::make_shared<Hub>(options, Handler());
  const auto admit_from = [&](const char* address, const SessionPtr& session) {
    return hub->admit(session, boost::asio::ip::make_address(address));
  };
  std::vector<SessionPtr> sessions;
  for (int i = 0; i < 4; ++i) {
    sessions.push_back(std::make_shared<Session>(hub, worker, Session::Socket(worker->io)));
  }
  EXPECT_TRUE(admit_from("192.0.2.1", sessions[0]).admitted);
  EXPECT_TRUE(admit_from("192.0.2.2", sessions[1]).admitted);
  EXPECT_EQ(admit_from("192.0.2.2", sessions[2]).goes, nullptr);
  const auto last = admit_from("192.0.2.2", sessions[3]);
  EXPECT_TRUE(last.admitted);
  EXPECT_EQ(last.goes, sessions[1]) << "and not who has waited longest of all";
}

TEST_F(HubTest, TheOldestSendersGoAndNoMoreThanNeeded) {
  const SessionPtr first = join();
  const SessionPtr second = join();
  const SessionPtr third = join();
  const SessionPtr fourth = join();
  EXPECT_THAT(hold(first, 30), IsEmpty());
  EXPECT_THAT(hold(second, 30), IsEmpty());
  EXPECT_THAT(hold(third, 30), IsEmpty());
  EXPECT_THAT(hold(first, 40), IsEmpty()) << "more bytes make nobody younger";
  EXPECT_THAT(hold(fourth, 50), ElementsAre(first, second));
  EXPECT_THAT(hold(third, 50), IsEmpty()) << "all is counted: 50 and 50";
  EXPECT_FALSE(hub->begin_request(first.get())) << "its bytes were given away";
  EXPECT_TRUE(is_refused(second, 1));
}

TEST_F(HubTest, TheOldestOfAllPushesOutNobody) {
  const SessionPtr slow = join();
  const SessionPtr young = join();
  EXPECT_THAT(hold(slow, 60), IsEmpty());
  EXPECT_THAT(hold(young, 40), IsEmpty());
  EXPECT_TRUE(is_refused(slow, 61));
  EXPECT_TRUE(hub->begin_request(young.get()));
}

TEST_F(HubTest, AWholeRequestKeepsItsBytes) {
  const SessionPtr whole = join();
  const SessionPtr slow = join();
  const SessionPtr young = join();
  EXPECT_THAT(hold(whole, 50), IsEmpty());
  EXPECT_TRUE(hub->begin_request(whole.get()));
  EXPECT_THAT(hold(slow, 50), IsEmpty());
  EXPECT_TRUE(is_refused(young, 51)) << "and nobody goes where that would not be enough";
  EXPECT_THAT(hold(young, 50), ElementsAre(slow));
  EXPECT_THAT(hold(whole, 0), IsEmpty());
  hub->end_request(whole.get());
  EXPECT_THAT(hold(young, 100), IsEmpty()) << "what was answered holds nothing";
}

// kube-scheduler's connection may have been idle for long before it sends.
TEST_F(HubTest, AnIdleConnectionIsNotOldWhenItBeginsToSend) {
  const SessionPtr idle = join();
  const SessionPtr slow = join();
  const SessionPtr young = join();
  EXPECT_THAT(hold(slow, 50), IsEmpty());
  EXPECT_THAT(hold(idle, 50), IsEmpty());
  EXPECT_THAT(hold(young, 50), ElementsAre(slow));
}

// The next request's bytes may come before the answer to this one is sent.
TEST_F(HubTest, WhatWasSentAheadCountsOnceTheAnswerIsSent) {
  const SessionPtr ahead = join();
  const SessionPtr young = join();
  EXPECT_TRUE(hub->begin_request(ahead.get()));
  EXPECT_THAT(hold(ahead, 80), IsEmpty());
  EXPECT_TRUE(is_refused(young, 30));
  hub->end_request(ahead.get());
  EXPECT_THAT(hold(young, 30), ElementsAre(ahead));
}

TEST_F(HubTest, WhoLeavesGivesItsBytesBack) {
  const SessionPtr first = join();
  const SessionPtr second = join();
  EXPECT_THAT(hold(first, 100), IsEmpty());
  hub->leave(first.get());
  EXPECT_THAT(hold(second, 100), IsEmpty());
  EXPECT_TRUE(is_refused(first, 1)) << "it is not there any more";
}

}  // namespace
}  // namespace millwright::net::test

// How many connections a server admits, which one makes room, and how much of requests it holds.
#include "unit/net/support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::net::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kMiB = 1U << 20;

// Keeps every exchange unanswered until told.
struct Busy {
  std::mutex mutex;
  std::vector<std::shared_ptr<Exchange>> kept;

  Handler handler() {
    return [this](const Request&, std::shared_ptr<Exchange> exchange) {
      const std::scoped_lock lock(mutex);
      kept.push_back(std::move(exchange));
    };
  }
  std::size_t count() {
    const std::scoped_lock lock(mutex);
    return kept.size();
  }
  void answer_all() {
    const std::scoped_lock lock(mutex);
    for (const auto& exchange : kept) {
      exchange->respond(Response::text(200, "late"));
    }
    kept.clear();
  }
};

std::string head_of(const std::string& path, std::size_t body) {
  return "POST " + path + " HTTP/1.1\r\nContent-Length: " + std::to_string(body) + "\r\n\r\n";
}

bool is_answered(Wire& wire) {
  return wire.send(kGet) && wire.read_answer().starts_with("HTTP/1.1 200");
}

TEST(ServerBudget, TheConnectionThatHasWaitedLongestMakesRoom) {
  ServerOptions options = Site::plain();
  options.max_connections = 2;
  const Site site(echo(), options);
  Wire first(site.port());
  Wire second(site.port());
  ASSERT_TRUE(is_answered(first));
  ASSERT_TRUE(is_answered(second));
  ASSERT_TRUE(is_answered(first)) << "now the second one has waited longer";
  Wire third(site.port());
  EXPECT_TRUE(is_answered(third));
  EXPECT_EQ(second.read_all(), "");
  EXPECT_TRUE(is_answered(first));
}

// As kube-scheduler's connection does between two pods, and strangers who cannot ask anything.
TEST(ServerBudget, WhoNeverAskedPushesOutNobodyWhoDid) {
  ServerOptions options = Site::plain();
  options.max_connections = 4;
  const Site site(echo(), options);
  Wire regular(site.port());
  ASSERT_TRUE(is_answered(regular));
  std::vector<std::unique_ptr<Wire>> strangers;
  for (int i = 0; i < 10; ++i) {
    strangers.push_back(std::make_unique<Wire>(site.port()));
    ASSERT_TRUE(strangers.back()->send("GET"));
  }
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(strangers[i]->read_all(), "") << i;
  }
  EXPECT_TRUE(is_answered(regular));
}

// Else whoever comes would be the next to go.
TEST(ServerBudget, WhoAskedKeepsNobodyFromAsking) {
  ServerOptions options = Site::plain();
  options.max_connections = 4;
  const Site site(echo(), options);
  std::vector<std::unique_ptr<Wire>> regulars;
  for (int i = 0; i < 4; ++i) {
    regulars.push_back(std::make_unique<Wire>(site.port()));
    ASSERT_TRUE(is_answered(*regulars.back()));
  }
  Wire first(site.port());
  EXPECT_EQ(regulars[0]->read_all(), "");
  Wire second(site.port());
  EXPECT_EQ(regulars[1]->read_all(), "");
  EXPECT_TRUE(is_answered(first));
  EXPECT_TRUE(is_answered(second));
}

// What a server told of its refusals.
struct Told {
  std::mutex mutex;
  std::vector<std::string> reasons;

  std::function<void(std::string_view)> listener() {
    return [this](std::string_view reason) {
      const std::scoped_lock lock(mutex);
      reasons.emplace_back(reason);
    };
  }
  std::vector<std::string> take() {
    const std::scoped_lock lock(mutex);
    return std::exchange(reasons, {});
  }
};

TEST(ServerBudget, EachRefusalIsToldWithItsReason) {
  Told told;
  ServerOptions options = Site::plain();
  options.body_limit = 10;
  options.body_limits = {{"/x", 8 * kMiB}};
  options.header_timeout = std::chrono::milliseconds(200);
  options.bytes_in_flight = kMiB;
  options.on_refusal = told.listener();
  const Site site(echo(), options);
  const auto told_of = [&](const std::string& request) {
    Wire wire(site.port());
    wire.send(request);
    wire.read_all();
    return told.take();
  };
  EXPECT_THAT(told_of(head_of("/", 11)), ElementsAre(refusal::kTooLarge));
  EXPECT_THAT(told_of("no request\r\n\r\n"), ElementsAre(refusal::kMalformed));
  EXPECT_THAT(told_of("GET / HT"), ElementsAre(refusal::kTooSlow));
  EXPECT_THAT(told_of(head_of("/x", 2 * kMiB) + std::string(2 * kMiB, 'x')),
              ElementsAre(refusal::kNoRoom));
}

TEST(ServerBudget, AConnectionThatMakesRoomIsTold) {
  Told told;
  ServerOptions options = Site::plain();
  options.max_connections = 1;
  options.on_refusal = told.listener();
  const Site site(echo(), options);
  Wire first(site.port());
  ASSERT_TRUE(is_answered(first));
  EXPECT_THAT(told.take(), ElementsAre());
  Wire second(site.port());
  ASSERT_TRUE(is_answered(second));
  EXPECT_THAT(told.take(), ElementsAre(refusal::kConnections));
}

TEST(ServerBudget, ASlowSenderMakesRoomToo) {
  ServerOptions options = Site::plain();
  options.max_connections = 1;
  const Site site(echo(), options);
  Wire slow(site.port());
  ASSERT_TRUE(slow.send("POST /x HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf"));
  Wire other(site.port());
  EXPECT_TRUE(is_answered(other));
  EXPECT_EQ(slow.read_all(), "");
}

TEST(ServerBudget, ARequestThatIsBeingAnsweredIsNeverCut) {
  Busy busy;
  ServerOptions options = Site::plain();
  options.max_connections = 1;
  const Site site(busy.handler(), options);
  Wire first(site.port());
  ASSERT_TRUE(first.send(kGet));
  Event waiting;
  ASSERT_TRUE(waiting.wait_for([&] { return busy.count() == 1; }));
  Wire second(site.port());
  EXPECT_EQ(second.read_all(), "") << "refused: nobody can make room";
  busy.answer_all();
  EXPECT_THAT(first.read_answer(), StartsWith("HTTP/1.1 200"));
}

TEST(ServerBudget, OneAddressMakesRoomAmongItsOwn) {
  ServerOptions options = Site::plain();
  options.max_connections = 100;
  options.max_connections_per_address = 2;
  const Site site(echo(), options);
  std::vector<std::unique_ptr<Wire>> wires;
  for (int i = 0; i < 6; ++i) {
    wires.push_back(std::make_unique<Wire>(site.port()));
    ASSERT_TRUE(is_answered(*wires.back()));
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(wires[i]->read_all(), "") << i;
  }
  EXPECT_TRUE(is_answered(*wires[4]));
  EXPECT_TRUE(is_answered(*wires[5]));
}

// What ends without being closed for others gives its place back too.
TEST(ServerBudget, PlacesAreGivenBack) {
  ServerOptions options = Site::plain();
  options.max_connections = 1;
  const Site site(echo(), options);
  for (int i = 0; i < 100; ++i) {
    Event waiting;
    ASSERT_TRUE(waiting.wait_for([&] {
      Wire wire(site.port());
      return is_answered(wire);
    })) << i;
  }
}

TEST(ServerBudget, EachPathHasItsOwnLimitOfBodies) {
  ServerOptions options = Site::plain();
  options.body_limit = 10;
  options.body_limits = {{"/x", 100}, {"/x/y", 1000}};
  const Site site(echo(), options);
  const auto status = [&](const std::string& path, std::size_t size) {
    Wire wire(site.port());
    wire.send("POST " + path + " HTTP/1.1\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
              std::string(size, 'x'));
    return wire.read_answer().substr(9, 3);
  };
  EXPECT_EQ(status("/", 10), "200");
  EXPECT_EQ(status("/", 11), "413");
  EXPECT_EQ(status("/xy", 11), "413") << "a prefix covers whole segments";
  EXPECT_EQ(status("/x", 100), "200");
  EXPECT_EQ(status("/x?y=1", 101), "413");
  EXPECT_EQ(status("/x/z", 101), "413");
  EXPECT_EQ(status("/x/y", 1000), "200");
  EXPECT_EQ(status("/x/y/z", 1001), "413");
}

TEST(ServerBudget, BytesBeyondTheBudgetAreRefusedAndGivenBack) {
  Busy busy;
  ServerOptions options = Site::plain();
  options.bytes_in_flight = kMiB;
  const Site site(busy.handler(), options);
  const std::string body(kMiB - 100'000, 'x');
  Wire first(site.port());
  ASSERT_TRUE(first.send(head_of("/x", body.size()) + body));
  Event waiting;
  ASSERT_TRUE(waiting.wait_for([&] { return busy.count() == 1; }));
  Wire second(site.port());
  second.send(head_of("/x", body.size()) + body);
  EXPECT_THAT(second.read_answer(), StartsWith("HTTP/1.1 503 "));
  Wire small(site.port());
  ASSERT_TRUE(small.send(head_of("/x", 1000) + std::string(1000, 'x')));
  ASSERT_TRUE(waiting.wait_for([&] { return busy.count() == 2; })) << "small ones are always read";
  busy.answer_all();
  EXPECT_THAT(first.read_answer(), StartsWith("HTTP/1.1 200"));
  ASSERT_TRUE(small.send(head_of("/x", body.size()) + body)) << "what was held is given back";
  ASSERT_TRUE(waiting.wait_for([&] { return busy.count() == 1; }));
  busy.answer_all();
}

// All but the end of the body. When the server reads it is its own affair.
void send_most_of(Wire& wire, const std::string& body) {
  ASSERT_TRUE(wire.send("POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n"));
  ASSERT_THAT(wire.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 100 "));
  ASSERT_TRUE(wire.send(body.substr(1000)));
}

// Slow senders would else hold the budget until their time limits end.
TEST(ServerBudget, WhoSendsSlowlyMakesRoomForWhoSendsFast) {
  ServerOptions options = Site::plain();
  options.bytes_in_flight = kMiB;
  const Site site(echo(), options);
  const std::string body(kMiB - 100'000, 'x');
  Event waiting;
  std::string refusal;
  // Until the server has read enough of a slow one for the two not to fit, and before it read
  // anything of the fast one.
  ASSERT_TRUE(waiting.wait_for([&] {
    Wire slow(site.port());
    send_most_of(slow, body);
    while (!slow.readable() && !HasFailure()) {
      Wire fast(site.port());
      fast.send(head_of("/x", body.size()) + body);
      EXPECT_THAT(fast.read_answer(), StartsWith("HTTP/1.1 200 "));
    }
    refusal = slow.read_all();
    EXPECT_THAT(refusal, StartsWith("HTTP/1.1 503 "));
    return HasFailure() || refusal.find("too slowly") != std::string::npos;
  }));
}

TEST(ServerBudget, WhatIsBeingAnsweredMakesNoRoom) {
  Busy busy;
  ServerOptions options = Site::plain();
  options.bytes_in_flight = 2 * kMiB;
  const Site site(busy.handler(), options);
  const std::string body(kMiB - 100'000, 'x');
  Wire oldest(site.port());
  ASSERT_TRUE(oldest.send(head_of("/x", body.size()) + body));
  Event waiting;
  ASSERT_TRUE(waiting.wait_for([&] { return busy.count() == 1; }));
  Wire slow(site.port());
  ASSERT_NO_FATAL_FAILURE(send_most_of(slow, body));
  Wire fast(site.port());
  fast.send(head_of("/x", body.size()) + body);
  ASSERT_TRUE(waiting.wait_for([&] { return busy.count() == 2; }));
  EXPECT_THAT(slow.read_all(), StartsWith("HTTP/1.1 503 "));
  busy.answer_all();
  EXPECT_THAT(oldest.read_answer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(fast.read_answer(), StartsWith("HTTP/1.1 200 "));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryTells = false;
#else
constexpr bool kMemoryTells = true;
#endif

// In KiB, of /proc/self/status: VmHWM is the most that was ever resident.
long memory_of_process(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) {
      return std::strtol(line.c_str() + field.size() + 1, nullptr, 10);
    }
  }
  return -1;
}

// 64 senders of 8 MiB each that never end their requests: half a gibibyte, were it kept.
bool is_modest_under_greedy_senders() {
  ServerOptions options = Site::plain();
  options.bytes_in_flight = 16 * kMiB;
  const Site site(echo(), options);
  const long before = memory_of_process("VmRSS");
  const std::string block(kMiB, 'x');
  std::vector<std::unique_ptr<Wire>> wires;
  std::size_t refused = 0;
  for (int i = 0; i < 64; ++i) {
    wires.push_back(std::make_unique<Wire>(site.port()));
    wires.back()->send(head_of("/x", 8 * kMiB));
    for (int sent = 0; sent < 7 && !wires.back()->readable(); ++sent) {
      wires.back()->send(block);
    }
  }
  for (auto& wire : wires) {
    wire->finish_sending();
    refused += wire->read_all().starts_with("HTTP/1.1 503 ") ? 1 : 0;
  }
  const long grown = memory_of_process("VmHWM") - before;
  std::fprintf(stderr, "%zu refused, %ld KiB more\n", refused, grown);
  expect_alive(site);
  return refused >= 32 && before > 0 && grown < 96 * 1024;
}

TEST(ServerBudgetDeathTest, GreedySendersCostNoMoreMemoryThanTheBudget) {
  if (!kMemoryTells) {
    GTEST_SKIP() << "sanitizers use memory of their own";
  }
  // A process of its own: the most that was ever resident is not that of other tests.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(is_modest_under_greedy_senders() ? 0 : 1), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace millwright::net::test

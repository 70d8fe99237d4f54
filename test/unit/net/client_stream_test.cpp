// Streams as the client sees them.
#include "unit/net/caller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace millwright::net::test {
namespace {

using base::ErrorKind;
using std::chrono::milliseconds;

TEST(ClientStream, ChunksComeInOrderOnTheLoop) {
  Event finished;
  std::thread writer;
  const Site site([&](const Request&, std::shared_ptr<Exchange> exchange) {
    exchange->start(200, {});
    writer = std::thread([exchange = std::move(exchange)] {
      for (int i = 0; i < 1000; ++i) {
        exchange->write(std::to_string(i) + "\n");
      }
      exchange->finish();
    });
  });
  Caller caller;
  std::string got;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    expected += std::to_string(i) + "\n";
  }
  const auto self = std::this_thread::get_id();
  const auto answer =
      caller.stream({.url = site.url(), .timeout = milliseconds(0)}, [&](std::string_view chunk) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        got += chunk;
      });
  writer.join();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(got, expected);
}

// A watch of what seldom changes: that it was accepted is news.
TEST(ClientStream, TheHeadOfAnAnswerIsToldBeforeAnythingElseComes) {
  Event begun;
  const FakePeer peer([&](int fd) {
    read_head(fd);
    write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
    begun.wait();
    write_all(fd, "news");
  });
  Caller caller;
  std::vector<std::string> chunks;
  const auto answer =
      caller.stream({.url = peer.url(), .timeout = milliseconds(0)}, [&](std::string_view chunk) {
        chunks.emplace_back(chunk);
        begun.set();
      });
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(chunks, testing::ElementsAre("", "news"));
}

TEST(ClientStream, ASlowReaderHoldsThePeerBackAndLosesNothing) {
  constexpr std::size_t kTotal = 48U << 20;
  const FakePeer peer([](int fd) {
    read_head(fd);
    write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kTotal) + "\r\n\r\n");
    std::string block(1U << 20, ' ');
    for (std::size_t i = 0; i < kTotal; i += block.size()) {
      block.assign(block.size(), static_cast<char>('a' + i / block.size() % 26));
      write_all(fd, block);
    }
    wait_for_end(fd);
  });
  Caller caller;
  std::size_t at = 0;
  std::size_t largest = 0;
  bool right = true;
  const auto answer =
      caller.stream({.url = peer.url(), .timeout = milliseconds(0)}, [&](std::string_view chunk) {
        largest = std::max(largest, chunk.size());
        for (std::size_t i = 0; i < chunk.size(); i += 4096) {
          right = right && chunk[i] == static_cast<char>('a' + ((at + i) >> 20U) % 26);
        }
        at += chunk.size();
      });
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(at, kTotal);
  EXPECT_TRUE(right);
  EXPECT_LE(largest, 4U << 20);
}

TEST(ClientStream, AnotherStatusIsReturnedWithItsBody) {
  const Site site([](const Request&, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond(Response::text(410, "too old"));
  });
  Caller caller;
  const auto answer =
      caller.stream({.url = site.url()}, [](std::string_view) { ADD_FAILURE() << "no chunk"; });
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 410);
  EXPECT_EQ(answer->body, "too old");
}

TEST(ClientStream, SilenceBeyondTheIdleTimeoutIsATimeout) {
  const FakePeer peer([](int fd) {
    read_head(fd);
    write_all(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
    wait_for_end(fd);
  });
  Caller caller;
  std::string got;
  const auto answer = caller.stream(
      {.url = peer.url(), .timeout = milliseconds(0), .idle_timeout = milliseconds(100)},
      [&](std::string_view chunk) { got += chunk; });
  expect_error(answer, ErrorKind::Timeout, "nothing arrived for 100 ms");
  EXPECT_EQ(got, "x");
}

TEST(ClientStream, ATruncatedStreamIsUnavailable) {
  const FakePeer peer([](int fd) {
    read_head(fd);
    write_all(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
  });
  Caller caller;
  std::string got;
  const auto answer =
      caller.stream({.url = peer.url()}, [&](std::string_view chunk) { got += chunk; });
  expect_error(answer, ErrorKind::Unavailable, "GET " + peer.url());
  EXPECT_EQ(got, "x");
}

TEST(ClientStream, StopFromWithinAChunkEndsItAndTheServerNotices) {
  Event gone;
  const Site site([&](const Request&, const std::shared_ptr<Exchange>& exchange) {
    exchange->start(200, {});
    exchange->on_close([&gone, exchange] { gone.set(); });
    exchange->write("event\n");
  });
  Caller caller;
  const auto answer = caller.stream({.url = site.url(), .timeout = milliseconds(0)},
                                    [&](std::string_view) { caller.stop.request_stop(); });
  expect_error(answer, ErrorKind::Cancelled, "cancelled");
  EXPECT_TRUE(gone.wait());
}

TEST(ClientStream, TheServersEndIsTheEnd) {
  Event started;
  Site site([&](const Request&, const std::shared_ptr<Exchange>& exchange) {
    exchange->start(200, {});
    exchange->write("event\n");
    exchange->on_close([exchange] {});
    started.set();
  });
  Caller caller;
  std::thread stopper([&] {
    EXPECT_TRUE(started.wait());
    site.server().stop(kPatience);
  });
  std::string got;
  const auto answer = caller.stream({.url = site.url(), .timeout = milliseconds(0)},
                                    [&](std::string_view chunk) { got += chunk; });
  stopper.join();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(got, "event\n");
}

}  // namespace
}  // namespace millwright::net::test

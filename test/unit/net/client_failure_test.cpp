// Peers that misbehave and requests that cannot be sent: every failure is an error of the right
// kind that says which request it was and keeps its secrets.
#include "unit/net/caller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace millwright::net::test {
namespace {

using base::ErrorKind;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Client, ARefusedConnectionIsUnavailable) {
  std::uint16_t port = 0;
  {
    const FakePeer gone([](int) {});
    port = gone.port();
  }
  Caller caller;
  expect_error(caller.blocking({.url = "http://127.0.0.1:" + std::to_string(port) + "/x"}),
               ErrorKind::Unavailable, "GET http://127.0.0.1:" + std::to_string(port) + "/x: ");
}

TEST(Client, SilenceIsATimeout) {
  const FakePeer peer([](int fd) { wait_for_end(fd); });
  Caller caller;
  expect_error(caller.blocking({.url = peer.url(), .timeout = milliseconds(50)}),
               ErrorKind::Timeout, "GET " + peer.url());
}

TEST(Client, AHandshakeThatDoesNotEndIsUnavailable) {
  const FakePeer peer([](int fd) { wait_for_end(fd); });
  Caller caller({.insecure_skip_verify = true});
  expect_error(caller.blocking({.url = "https://127.0.0.1:" + std::to_string(peer.port()),
                                .connect_timeout = milliseconds(50)}),
               ErrorKind::Unavailable, "https://127.0.0.1");
}

TEST(Client, AnswersBeyondTheLimitAreCut) {
  Event ended;
  const FakePeer peer([&](int fd) {
    read_head(fd);
    write_all(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "1000\r\n" + std::string(0x1000, 'x') + "\r\n";
    for (int i = 0; i < 100'000; ++i) {
      write_all(fd, chunk);
    }
    ended.set();
  });
  Caller caller;
  expect_error(caller.blocking({.url = peer.url(), .body_limit = 100'000}), ErrorKind::Invalid,
               "larger than the limit of 100000 bytes");
  EXPECT_TRUE(ended.wait());
}

TEST(Client, ARequestThatAsksForAFreshConnectionArrivesOnce) {
  std::atomic<int> orders{0};
  const FakePeer peer([&](int fd) {
    std::string head;
    while (read_head(fd, &head)) {
      if (head.starts_with("POST")) {
        ++orders;
        return;  // closes: the answer is lost
      }
      write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  Caller caller;
  ASSERT_TRUE(caller.blocking({.url = peer.url()})) << "leaves a connection to use again";
  expect_error(
      caller.blocking(
          {.method = "POST", .url = peer.url(), .body = "order", .fresh_connection = true}),
      ErrorKind::Unavailable, "POST " + peer.url());
  EXPECT_EQ(orders, 1);
}

struct Misbehaviour {
  const char* what;
  std::string answer;
};

TEST(Client, BrokenAnswersAreUnavailable) {
  const std::vector<Misbehaviour> cases{
      {"nothing", ""},
      {"half a head", "HTTP/1.1 200 OK\r\nContent-Le"},
      {"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"},
      {"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhalf"},
      {"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"},
      {"nonsense chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhalf\r\n"},
      {"not HTTP", "SSH-2.0-OpenSSH\r\n\r\n"},
      {"endless headers", "HTTP/1.1 200 OK\r\n" +
                              [] {
                                std::string lines;
                                for (int i = 0; i < 6000; ++i) {
                                  lines += "X-Header-" + std::to_string(i) + ": " +
                                           std::string(80, 'x') + "\r\n";
                                }
                                return lines;
                              }()},
  };
  for (const Misbehaviour& c : cases) {
    const FakePeer peer([&](int fd) {
      read_head(fd);
      write_all(fd, c.answer);
    });
    Caller caller;
    ClientRequest request{.method = "POST", .url = peer.url("/x?sig=hidden"), .body = "hush"};
    request.headers.set("Authorization", "Bearer hidden");
    const auto answer = caller.blocking(request);
    expect_error(answer, ErrorKind::Unavailable, "POST " + peer.url("/x"), c.what);
    EXPECT_THAT(answer.error().message, AllOf(Not(HasSubstr("hidden")), Not(HasSubstr("hush"))));
  }
}

TEST(Client, BadRequestsAreInvalidAndNotSent) {
  struct Case {
    const char* what;
    ClientRequest request;
  };
  ClientRequest forged{.url = "http://127.0.0.1:1"};
  forged.headers.set("X", "a\r\nY: hidden");
  ClientRequest nameless{.url = "http://127.0.0.1:1"};
  nameless.headers.set("", "hidden");
  const std::vector<Case> cases{
      {"no URL", {}},
      {"no host", {.url = "https://"}},
      {"other protocol", {.url = "file:///etc/passwd"}},
      {"unknown protocol", {.url = "gopher://x"}},
      {"line break", {.url = "http://127.0.0.1:1/\r\nX: y"}},
      {"space in the host", {.url = "http://a b/"}},
      {"method", {.method = "GET / HTTP/1.1\r\nX: y\r\n", .url = "http://127.0.0.1:1"}},
      {"forged header", forged},
      {"header without name", nameless},
  };
  Caller caller;
  for (const Case& c : cases) {
    const auto answer = caller.blocking(c.request);
    expect_error(answer, ErrorKind::Invalid, "", c.what);
    EXPECT_THAT(answer.error().message, Not(HasSubstr("hidden"))) << c.what;
  }
}

TEST(Client, ErrorsDoNotRepeatSecretsOfTheUrl) {
  Caller caller;
  const auto answer =
      caller.blocking({.url = "http://user:hidden@127.0.0.1:1/path?token=hidden#hidden"});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, AllOf(HasSubstr("http://127.0.0.1:1/path"),
                                            Not(HasSubstr("hidden")), Not(HasSubstr("user"))));
}

}  // namespace
}  // namespace millwright::net::test

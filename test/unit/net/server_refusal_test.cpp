// What the server refuses, drops and survives.
#include "unit/net/support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace millwright::net::test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// A request with so many of the shortest header fields.
std::string get_with_fields(int count) {
  std::string request = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < count; ++i) {
    request += "a:\r\n";
  }
  return request + "\r\n";
}

struct Refusal {
  const char* what;
  std::string request;
  int status;
};

TEST(Server, RefusesWhatItCannotServeAndLives) {
  ServerOptions options = Site::plain();
  options.body_limit = 1000;
  const Site site(echo(), options);
  const std::vector<Refusal> cases{
      {"nonsense", "nonsense\r\n\r\n", 400},
      {"binary", std::string("\x16\x03\x01\x00\xa5\x01\x00\r\n\r\n", 11), 400},
      {"no version", "GET /\r\n\r\n", 400},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"header without a colon", "GET / HTTP/1.1\r\nhello\r\n\r\n", 400},
      {"space before the colon", "GET / HTTP/1.1\r\nA : b\r\n\r\n", 400},
      {"bare line feed", "GET / HTTP/1.1\nHost: h\n\n", 400},
      {"length of letters", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400},
      {"negative length", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"length and chunks",
       "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"chunks and length",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400},
      {"unknown coding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
      {"coding on top", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400},
      {"bad chunk size", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"bad chunk end", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", 400},
      {"endless chunk extension",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(400'000, 'x'), 400},
      {"body one byte too long", post(std::string(1001, 'x')), 413},
      {"huge length", "POST / HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n", 413},
      {"chunks too long",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x'),
       413},
      {"many chunks too long",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1f4\r\n" + std::string(500, 'x') +
           "\r\n1f5\r\n" + std::string(501, 'x') + "\r\n0\r\n\r\n",
       413},
      {"long header", "GET / HTTP/1.1\r\nA: " + std::string(40'000, 'x') + "\r\n\r\n", 431},
      {"long target", "GET /" + std::string(40'000, 'x') + " HTTP/1.1\r\n\r\n", 431},
      {"many headers", get_with_fields(101), 431},
      {"as many headers as there is room for", get_with_fields(8000), 431},
      {"endless header", "GET / HTTP/1.1\r\nA: " + std::string(300'000, 'x'), 431},
  };
  for (const Refusal& c : cases) {
    Wire wire(site.port());
    wire.send(c.request);
    const std::string answer = wire.read_answer();
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 " + std::to_string(c.status) + " "),
                              HasSubstr("Connection: close\r\n")))
        << c.what;
    wire.finish_sending();
    EXPECT_EQ(wire.read_all(), "") << c.what << ": must close after the refusal";
  }
  expect_alive(site);
}

TEST(Server, AHundredHeaderFieldsAreServed) {
  const Site site(echo());
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(get_with_fields(100)));
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(Server, ABodyOfExactlyTheLimitIsServed) {
  ServerOptions options = Site::plain();
  options.body_limit = 1000;
  const Site site(echo(), options);
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(post(std::string(1000, 'x'))));
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(Server, ARefusalReachesAPeerThatGoesOnSending) {
  const Site site(echo());
  Wire wire(site.port());
  ASSERT_TRUE(wire.send("POST / HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n"));
  const std::string block(1U << 20, 'x');
  for (int i = 0; i < 4; ++i) {
    wire.send(block);
  }
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 413 "));
  expect_alive(site);
}

TEST(Server, TruncatedRequestsNeverReachTheHandler) {
  std::atomic<int> calls{0};
  ServerOptions options = Site::plain();
  const Site site(
      [&](const Request&, const std::shared_ptr<Exchange>& exchange) {
        ++calls;
        exchange->respond(Response::text(200, ""));
      },
      options);
  const std::string whole = post("0123456789");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Wire wire(site.port());
    wire.send(whole.substr(0, size));
    wire.finish_sending();
    EXPECT_EQ(wire.read_all(), "") << size;
  }
  EXPECT_EQ(calls, 0);
  Wire wire(site.port());
  wire.send(whole);
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 200"));
}

TEST(Server, PeersThatResetAreForgotten) {
  const Site site(echo());
  for (int i = 0; i < 50; ++i) {
    Wire wire(site.port());
    wire.send(i % 2 == 0 ? kGet : "GET / HT");
    wire.reset();
  }
  expect_alive(site);
}

TEST(Server, SlowSendersAreDroppedAtTheirDeadline) {
  ServerOptions options = Site::plain();
  options.header_timeout = milliseconds(30);
  options.body_timeout = milliseconds(30);
  options.idle_timeout = milliseconds(30);
  const Site site(echo(), options);
  struct Case {
    const char* what;
    std::string sent;
    const char* answer;
  };
  const std::vector<Case> cases{
      {"silence", "", ""},
      {"half a start line", "GET /", "HTTP/1.1 408 "},
      {"half a head", "GET / HTTP/1.1\r\nHost: h\r\n", "HTTP/1.1 408 "},
      {"half a body", post("12345").substr(0, post("12345").size() - 2), "HTTP/1.1 408 "},
      {"silence after an answer", kGet, "HTTP/1.1 200 "},
  };
  for (const Case& c : cases) {
    Wire wire(site.port());
    ASSERT_TRUE(wire.send(c.sent));
    EXPECT_THAT(wire.read_answer(), StartsWith(c.answer)) << c.what;
    EXPECT_EQ(wire.read_all(), "") << c.what;
  }
}

TEST(Server, DripFeedingDoesNotPostponeTheDeadline) {
  ServerOptions options = Site::plain();
  options.header_timeout = milliseconds(50);
  const Site site(echo(), options);
  Wire wire(site.port());
  wire.send("GET / HTTP/1.1\r\nA: ");
  // Each byte comes long before the deadline would end if it started anew.
  Event waiting;
  EXPECT_TRUE(waiting.wait_for([&] {
    wire.send("x");
    return wire.readable();
  }));
  EXPECT_THAT(wire.read_answer(), StartsWith("HTTP/1.1 408 "));
}

}  // namespace
}  // namespace millwright::net::test

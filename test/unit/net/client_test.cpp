// The client against our own server and against peers that misbehave.
#include "unit/net/support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace millwright::net::test {
namespace {

using base::ErrorKind;
using base::Result;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// One client on one loop, driven from the test's thread.
struct Caller {
  base::RealLoop loop;
  std::unique_ptr<Client> client;
  std::stop_source stop;

  explicit Caller(ClientTls tls = {}) : client(make_client(loop, std::move(tls))) {}
  Result<Response> blocking(ClientRequest request) const {
    return client->send_blocking(std::move(request));
  }
  Result<Response> send(ClientRequest request) {
    Result<Response> out;
    run_on(loop, send_task(std::move(request), out));
    return out;
  }
  base::Task<void> send_task(ClientRequest request, Result<Response>& out) {
    out = co_await client->send(std::move(request), stop.get_token());
  }
  Result<Response> stream(ClientRequest request, std::function<void(std::string_view)> on_chunk) {
    Result<Response> out;
    run_on(loop, stream_task(std::move(request), std::move(on_chunk), out));
    return out;
  }
  base::Task<void> stream_task(ClientRequest request,
                               std::function<void(std::string_view)> on_chunk,
                               Result<Response>& out) {
    out = co_await client->stream(std::move(request), std::move(on_chunk), stop.get_token());
  }
};

void expect_error(const Result<Response>& result, ErrorKind kind, const std::string& part,
                  const std::string& what = "") {
  ASSERT_FALSE(result) << what;
  EXPECT_EQ(base::to_string(result.error().kind), base::to_string(kind))
      << what << ": " << result.error().message;
  EXPECT_THAT(result.error().message, HasSubstr(part)) << what;
}

TEST(Client, SendsWhatItIsGiven) {
  Request seen;
  const Site site([&](Request request, const std::shared_ptr<Exchange>& exchange) {
    seen = std::move(request);
    Response response = Response::json(201, "{}");
    response.headers.add("Warning", "one");
    response.headers.add("Warning", "two");
    exchange->respond(std::move(response));
  });
  Caller caller;
  ClientRequest request{.method = "PATCH", .url = site.url("/a/../b?x=1"), .body = "[]"};
  request.headers.set("Content-Type", "application/json-patch+json");
  request.headers.set("X-Empty", "");
  const auto answer = caller.send(request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "{}");
  EXPECT_EQ(answer->headers.get("content-type"), "application/json");
  int warnings = 0;
  for (const auto& [name, value] : answer->headers) {
    warnings += name == "Warning" ? 1 : 0;
  }
  EXPECT_EQ(warnings, 2);
  EXPECT_EQ(seen.method, "PATCH");
  EXPECT_EQ(seen.target, "/a/../b?x=1");
  EXPECT_EQ(seen.body, "[]");
  EXPECT_EQ(seen.headers.get("Content-Type"), "application/json-patch+json");
  ASSERT_NE(seen.headers.find("X-Empty"), nullptr);
  EXPECT_EQ(seen.headers.get("Host"), "127.0.0.1:" + std::to_string(site.port()));
  EXPECT_THAT(std::string(seen.headers.get("User-Agent")), testing::StartsWith("millwright/"));
  EXPECT_EQ(seen.headers.find("Expect"), nullptr);
}

TEST(Client, EveryMethodArrivesWithItsBodyAndNothingInvented) {
  Request seen;
  const Site site([&](Request request, const std::shared_ptr<Exchange>& exchange) {
    seen = std::move(request);
    exchange->respond(Response::text(200, "ok"));
  });
  Caller caller;
  struct Case {
    const char* method;
    const char* body;
    const char* length;
  };
  for (const Case& c : {Case{"GET", "", ""}, Case{"POST", "", "0"}, Case{"POST", "x", "1"},
                        Case{"PUT", "xy", "2"}, Case{"DELETE", "", ""}, Case{"DELETE", "xyz", "3"},
                        Case{"GET", "x", "1"}, Case{"HEAD", "", ""}, Case{"OPTIONS", "", ""}}) {
    ClientRequest request{.method = c.method, .url = site.url(), .body = c.body};
    request.headers.set("User-Agent", "own");
    const auto answer = caller.blocking(request);
    ASSERT_TRUE(answer) << c.method << answer.error().message;
    EXPECT_EQ(seen.method, c.method);
    EXPECT_EQ(seen.body, c.body) << c.method;
    EXPECT_EQ(seen.headers.get("Content-Length"), c.length) << c.method;
    EXPECT_EQ(seen.headers.find("Content-Type"), nullptr) << c.method;
    EXPECT_EQ(seen.headers.get("User-Agent"), "own");
    EXPECT_EQ(answer->body, std::string(c.method) == "HEAD" ? "" : "ok");
  }
}

TEST(Client, KeepsItsConnections) {
  std::atomic<int> connections{0};
  const FakePeer peer([&](int fd) {
    ++connections;
    while (read_head(fd)) {
      write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  });
  Caller caller;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(caller.blocking({.url = peer.url()}));
  }
  EXPECT_EQ(connections, 1);
}

base::Task<void> send_one(Client* client, ClientRequest request, int* good, int* left,
                          base::Signal* done) {
  const std::string expected = request.body;
  const auto answer = co_await client->send(std::move(request));
  *good += answer && answer->body == expected ? 1 : 0;
  if (--*left == 0) {
    done->notify();
  }
}

base::Task<void> send_many(base::Loop* loop, Client* client, std::string url, int count,
                           int* good) {
  base::TaskGroup group(*loop);
  base::Signal done(*loop);
  int left = count;
  for (int i = 0; i < count; ++i) {
    group.spawn(send_one(client, {.method = "POST", .url = url, .body = std::to_string(i)}, good,
                         &left, &done));
  }
  co_await group.join();
}

TEST(Client, CarriesManyRequestsAtOnce) {
  ServerOptions options = Site::tls();
  options.threads = 2;
  const Site site(echo(), options);
  Caller caller({.ca_pem = identities().ca.certificate_pem});
  int good = 0;
  run_on(caller.loop, send_many(&caller.loop, caller.client.get(), site.url(), 400, &good));
  EXPECT_EQ(good, 400);
}

TEST(Client, TrustsOnlyItsCaAndTheNameAskedFor) {
  const Site site(echo(), Site::tls());
  const Identities& id = identities();
  struct Case {
    const char* what;
    ClientTls tls;
    bool trusted;
  };
  const std::vector<Case> cases{
      {"right CA", {.ca_pem = id.ca.certificate_pem}, true},
      {"two CAs", {.ca_pem = id.other_ca.certificate_pem + id.ca.certificate_pem}, true},
      {"wrong CA", {.ca_pem = id.other_ca.certificate_pem}, false},
      {"the system's CAs", {}, false},
      {"no check", {.insecure_skip_verify = true}, true},
      {"another valid name", {.ca_pem = id.ca.certificate_pem, .server_name = "localhost"}, true},
      {"another name", {.ca_pem = id.ca.certificate_pem, .server_name = "elsewhere"}, false},
      {"name no check", {.server_name = "elsewhere", .insecure_skip_verify = true}, true},
  };
  for (const Case& c : cases) {
    Caller caller(c.tls);
    const auto answer = caller.blocking({.url = site.url("/x?token=secret")});
    EXPECT_EQ(answer.has_value(), c.trusted) << c.what;
    if (!answer) {
      expect_error(answer, ErrorKind::Unavailable, "https://127.0.0.1", c.what);
      EXPECT_THAT(answer.error().message, AllOf(HasSubstr("CA"), Not(HasSubstr("secret"))));
    }
  }
}

TEST(Client, AnotherServerNameIsForTlsOnly) {
  Request seen;
  const Site site(
      [&](Request request, const std::shared_ptr<Exchange>& exchange) {
        seen = std::move(request);
        exchange->respond(Response::text(200, ""));
      },
      Site::tls());
  Caller caller({.ca_pem = identities().ca.certificate_pem, .server_name = "localhost"});
  ASSERT_TRUE(caller.blocking({.url = site.url("/p?q=1")}));
  EXPECT_EQ(seen.target, "/p?q=1");
  EXPECT_EQ(seen.headers.get("Host"), "127.0.0.1:" + std::to_string(site.port()));
}

TEST(Client, ShowsItsCertificate) {
  const Site site(echo(), Site::tls(), server_identity(identities().ca.certificate_pem));
  const std::string ca = identities().ca.certificate_pem;
  const certs::KeyPair& own = identities().client;
  const certs::KeyPair& foreign = identities().foreign_client;
  EXPECT_TRUE(Caller({ca, own.certificate_pem, own.key_pem}).blocking({.url = site.url()}));
  EXPECT_FALSE(
      Caller({ca, foreign.certificate_pem, foreign.key_pem}).blocking({.url = site.url()}));
  EXPECT_FALSE(Caller({.ca_pem = ca}).blocking({.url = site.url()}));
  expect_error(Caller({ca, own.certificate_pem, "no key"}).blocking({.url = site.url()}),
               ErrorKind::Invalid, "check the client certificate");
}

TEST(Client, RefusesOldTls) {
  // A server that would speak only TLS 1.1, as far as the client can tell: it answers with that.
  const FakePeer peer([](int fd) {
    write_all(fd, std::string("\x15\x03\x02\x00\x02\x02\x46", 7));  // alert: protocol version
    wait_for_end(fd);
  });
  Caller caller({.insecure_skip_verify = true});
  expect_error(caller.blocking({.url = "https://127.0.0.1:" + std::to_string(peer.port())}),
               ErrorKind::Unavailable, "127.0.0.1");
}

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

TEST(Client, CancellingEndsTheCallAndTheConnection) {
  Event asked;
  Event ended;
  const FakePeer peer([&](int fd) {
    read_head(fd);
    asked.set();
    wait_for_end(fd);
    ended.set();
  });
  Caller caller;
  std::thread canceller([&] {
    EXPECT_TRUE(asked.wait());
    caller.stop.request_stop();
  });
  expect_error(caller.send({.url = peer.url()}), ErrorKind::Cancelled, "cancelled");
  canceller.join();
  EXPECT_TRUE(ended.wait());
}

TEST(Client, ACallAfterStopIsCancelledUnsent) {
  Caller caller;
  caller.stop.request_stop();
  expect_error(caller.send({.url = "http://127.0.0.1:1"}), ErrorKind::Cancelled, "cancelled");
}

TEST(Client, DestroyingTheClientCancelsWhatIsInFlight) {
  Event asked;
  const FakePeer peer([&](int fd) {
    read_head(fd);
    asked.set();
    wait_for_end(fd);
  });
  Caller caller;
  std::thread destroyer([&] {
    EXPECT_TRUE(asked.wait());
    caller.loop.post([&] { caller.client.reset(); });
  });
  expect_error(caller.send({.url = peer.url()}), ErrorKind::Cancelled, "cancelled");
  destroyer.join();
}

base::Task<void> forget(base::Loop* loop, Client* client, std::string url, Event* asked) {
  base::TaskGroup group(*loop);
  int good = 0;
  int left = 1;
  base::Signal done(*loop);
  group.spawn(send_one(client, {.url = url}, &good, &left, &done));
  while (!asked->is_set()) {
    co_await base::sleep(*loop, milliseconds(1));
  }
}

TEST(Client, ATaskThatGoesAwayTakesItsRequestWithIt) {
  Event asked;
  Event ended;
  const FakePeer peer([&](int fd) {
    read_head(fd);
    asked.set();
    wait_for_end(fd);
    ended.set();
  });
  Caller caller;
  run_on(caller.loop, forget(&caller.loop, caller.client.get(), peer.url(), &asked));
  EXPECT_TRUE(ended.wait());
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

TEST(Client, AnyStatusIsAResponse) {
  const Site site([](const Request& request, const std::shared_ptr<Exchange>& exchange) {
    exchange->respond(Response::text(std::stoi(request.target.substr(1)), "why"));
  });
  Caller caller;
  for (const int status : {200, 202, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503}) {
    const auto answer = caller.blocking({.url = site.url("/" + std::to_string(status))});
    ASSERT_TRUE(answer) << status;
    EXPECT_EQ(answer->status, status);
    EXPECT_EQ(answer->body, "why");
  }
}

TEST(Client, RedirectsAreFollowedOnlyWhenAsked) {
  const Site site([](const Request& request, const std::shared_ptr<Exchange>& exchange) {
    Response response = Response::text(request.path() == "/from" ? 307 : 200, request.method);
    response.headers.set("Location", "/to");
    response.headers.set("X-Step", request.target);
    exchange->respond(std::move(response));
  });
  Caller caller;
  const auto stayed = caller.blocking({.url = site.url("/from")});
  ASSERT_TRUE(stayed);
  EXPECT_EQ(stayed->status, 307);
  EXPECT_EQ(stayed->headers.get("Location"), "/to");
  const auto followed = caller.blocking(
      {.method = "PUT", .url = site.url("/from"), .body = "x", .follow_redirects = true});
  ASSERT_TRUE(followed);
  EXPECT_EQ(followed->status, 200);
  EXPECT_EQ(followed->body, "PUT");
  int steps = 0;
  for (const auto& [name, value] : followed->headers) {
    steps += name == "X-Step" ? 1 : 0;
  }
  EXPECT_EQ(steps, 1) << "only the last answer's headers";
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

// ---- streams

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

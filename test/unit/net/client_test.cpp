// The client against our own server: what is sent, what comes back, and cancelling.
#include "unit/net/caller.hpp"
#include "unit/net/sockets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <atomic>
#include <thread>

namespace millwright::net::test {
namespace {

using base::ErrorKind;
using base::Result;
using std::chrono::milliseconds;
using testing::HasSubstr;

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

// The descriptor of the other end of `fd`, which this process has, too; -1: there is none.
int client_end_of(int fd) {
  sockaddr_in peer{};
  socklen_t size = sizeof(peer);
  ::getpeername(fd, static_cast<sockaddr*>(static_cast<void*>(&peer)), &size);
  for (int each = 0; each < 1024; ++each) {
    sockaddr_in own{};
    size = sizeof(own);
    if (::getsockname(each, static_cast<sockaddr*>(static_cast<void*>(&own)), &size) == 0 &&
        own.sin_family == AF_INET && own.sin_port == peer.sin_port) {
      return each;
    }
  }
  return -1;
}

// What the system is told of a client's connections.
struct DeadPeerLimits {
  int unacknowledged = 0;  // milliseconds
  int first_probe = 0;     // seconds, as those below
  int next_probes = 0;
};

DeadPeerLimits limits_of_connection(ClientOptions options) {
  DeadPeerLimits found;
  {
    const FakePeer peer([&](int fd) {
      read_head(fd);
      const int client = client_end_of(fd);
      const auto option = [client](int name) {
        int value = 0;
        socklen_t size = sizeof(value);
        ::getsockopt(client, IPPROTO_TCP, name, &value, &size);
        return value;
      };
      found = {.unacknowledged = option(TCP_USER_TIMEOUT),
               .first_probe = option(TCP_KEEPIDLE),
               .next_probes = option(TCP_KEEPINTVL)};
      write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    Caller caller({}, options);
    EXPECT_TRUE(caller.blocking({.url = peer.url()}));
  }  // the peer has ended
  return found;
}

// By default the system would send again for 15 minutes, on the connection that all requests share.
TEST(Client, AConnectionWhosePeerIsGoneEndsWhenTheOptionsSay) {
  EXPECT_EQ(limits_of_connection({}).unacknowledged, 35'000);
  EXPECT_EQ(limits_of_connection({.unacknowledged_limit = milliseconds(4'000)}).unacknowledged,
            4'000);
}

// Or libcurl would send it again, over another connection, while its effect is unknown.
TEST(Client, ARequestFailsAsTimeoutBeforeItsConnectionEnds) {
  EXPECT_LT(ClientRequest().timeout, ClientOptions().unacknowledged_limit);
}

// The system ends an idle connection at the limit, however few probes were lost.
TEST(Client, AProbeThatIsLostEndsNoConnection) {
  for (const int limit : {4'000, 35'000}) {
    const auto limits = limits_of_connection({.unacknowledged_limit = milliseconds(limit)});
    EXPECT_LT(1'000 * (limits.first_probe + limits.next_probes), limit);
  }
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

TEST(Client, ABurstDoesNotOpenAConnectionEach) {
  std::atomic<int> connections{0};
  const FakePeer peer([&](int fd) {
    ++connections;
    std::string head;
    while (read_head(fd, &head)) {
      char body[3] = {};
      const std::size_t size = std::stoul(head.substr(head.find("Content-Length: ") + 16));
      for (std::size_t i = 0; i < size && ::recv(fd, &body[i], 1, 0) == 1; ++i) {
      }
      write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
                        std::string(body, size));
    }
  });
  Caller caller;
  int good = 0;
  run_on(caller.loop, send_many(&caller.loop, caller.client.get(), peer.url(), 500, &good));
  EXPECT_EQ(good, 500);
  EXPECT_LE(connections, 128);
}

base::Task<void> crowd_out(base::Loop* loop, Client* client, std::string url,
                           std::atomic<int>* arrived, Result<Response>* late, bool* stream_ended) {
  base::TaskGroup group(*loop);
  base::Signal done(*loop);
  int good = 0;
  int left = 128;
  for (int i = 0; i < 128; ++i) {
    group.spawn(send_one(client, {.url = url}, &good, &left, &done));
  }
  while (*arrived < 128) {
    co_await base::sleep(*loop, milliseconds(1));
  }
  ClientRequest request{.url = url, .timeout = milliseconds(50)};
  *late = co_await client->send(std::move(request));
  // Streams do not wait for their turn.
  ClientRequest watch{.url = url, .timeout = milliseconds(0), .idle_timeout = milliseconds(50)};
  const auto ended = co_await client->stream(std::move(watch), [](std::string_view) {}, {});
  *stream_ended = !ended && ended.error().kind == base::ErrorKind::Timeout;
}

TEST(Client, ARequestThatGetsNoTurnInTimeIsUnavailable) {
  std::atomic<int> arrived{0};
  const FakePeer peer([&](int fd) {
    if (read_head(fd)) {
      ++arrived;
      wait_for_end(fd);
    }
  });
  Caller caller;
  Result<Response> late;
  bool stream_ended = false;
  run_on(caller.loop,
         crowd_out(&caller.loop, caller.client.get(), peer.url(), &arrived, &late, &stream_ended));
  expect_error(late, ErrorKind::Unavailable, "too many requests were under way");
  EXPECT_EQ(arrived, 129) << "only the stream came beside the 128";
  EXPECT_TRUE(stream_ended);
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

// Sets a variable for as long as it lives; no other thread may be reading the environment.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Client, GoesThroughTheProxyOfTheEnvironment) {
  std::string asked;
  const FakePeer proxy([&](int fd) {
    if (read_head(fd, &asked)) {
      write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nproxied");
    }
  });
  const Variable variable("http_proxy", proxy.url());
  const Variable exceptions("no_proxy", "127.0.0.1");
  const Site site(echo());
  {
    Caller caller;
    const auto answer = caller.blocking({.url = "http://cluster.invalid/x"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "proxied");
    const auto direct = caller.blocking({.method = "POST", .url = site.url(), .body = "direct"});
    ASSERT_TRUE(direct) << direct.error().message;
    EXPECT_EQ(direct->body, "direct");
  }
  EXPECT_THAT(asked, testing::StartsWith("GET http://cluster.invalid/x HTTP/1.1\r\n"));
}

}  // namespace
}  // namespace millwright::net::test

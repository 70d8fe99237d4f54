// Hostile answers over real HTTP: each ends in an error that says what was asked and what is wrong,
// within the call's deadline, and nothing is sent anywhere else.
#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/calls/services.hpp"
#include "unit/cloud/aws/fakes/fake_http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::HasSubstr;

// What the peer does once it has read a request.
using Behaviour = std::function<void(int connection)>;

bool say(int connection, const std::string& text) {
  return send(connection, text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

// One connection at a time on a port of its own.
class Peer {
 public:
  explicit Peer(Behaviour behaviour) : behaviour_(std::move(behaviour)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = static_cast<sockaddr*>(static_cast<void*>(&address));
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, generic, size), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    EXPECT_EQ(getsockname(listener_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~Peer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int requests() const { return requests_; }

 private:
  void serve() {
    for (;;) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) {
        return;
      }
      // Whoever sends too slowly for us, or hears us not, has gone.
      const timeval patience{2, 0};
      setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
      std::string head(8192, '\0');
      if (recv(connection, head.data(), head.size(), 0) > 0) {
        ++requests_;
        behaviour_(connection);
      }
      close(connection);
    }
  }

  Behaviour behaviour_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> requests_{0};
  std::thread thread_;
};

void wait_for_the_end(int connection) {
  char byte = 0;
  while (recv(connection, &byte, 1, 0) > 0) {
  }
}

std::string answer(const std::string& body, const std::string& type = "text/xml") {
  return "HTTP/1.1 200 OK\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct Outcome {
  base::Error error;
  std::chrono::steady_clock::duration took{};
};

template <class T>
base::Task<void> keep(base::Task<T> task, std::optional<T>& out, base::RealLoop& loop) {
  auto value = co_await std::move(task);
  out.emplace(std::move(value));
  loop.stop();
}

template <class T>
T run(base::RealLoop& loop, base::Task<T> task) {
  std::optional<T> out;
  base::TaskGroup group(loop);
  group.spawn(keep(std::move(task), out, loop));
  loop.run();
  return *std::move(out);
}

// Asks once, with two attempts of half a second each, and expects to fail.
template <class Ask>
Outcome ask(const Peer& peer, Ask question) {
  base::RealLoop loop;
  const auto client = net::make_client(loop);
  FakeMachine machine;
  machine.variables["AWS_ENDPOINT_URL"] = peer.url();
  const auto endpoints = *Endpoints::make("us-west-2", machine.environment());
  Api api({.loop = loop, .client = *client, .endpoints = endpoints, .log = {}, .seed = 1});
  Patience patience;
  patience.timeout = std::chrono::milliseconds(500);
  patience.attempts = 2;
  const auto begun = std::chrono::steady_clock::now();
  auto task = question(api, patience);
  auto answered = run(loop, std::move(task));
  Outcome outcome;
  outcome.took = std::chrono::steady_clock::now() - begun;
  EXPECT_FALSE(answered);
  if (!answered) {
    outcome.error = answered.error();
  }
  return outcome;
}

Outcome describe(const Peer& peer) {
  return ask(peer, [](Api& api, Patience patience) {
    return api.query(Service::Ec2, Form("DescribeSubnets", kEc2Version), std::move(patience));
  });
}
Outcome parameter(const Peer& peer) {
  return ask(peer, [](Api& api, Patience patience) {
    return api.json(Service::Ssm, "GetParameter", boost::json::object{}, std::move(patience));
  });
}

void expect_in_time(const Outcome& outcome) {
  // Two attempts of half a second and the pause between them, on a machine that may be busy.
  EXPECT_LT(outcome.took, std::chrono::seconds(20));
}

TEST(Wire, ABodyWithoutEndIsGivenUp) {
  const Peer peer([](int connection) {
    say(connection, "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n");
    const std::string piece(1 << 16, 'x');
    while (say(connection, piece)) {
    }
  });
  const auto outcome = describe(peer);
  expect_in_time(outcome);
  EXPECT_THAT(outcome.error.message, HasSubstr("ec2 DescribeSubnets"));
  EXPECT_LT(outcome.error.message.size(), 500U) << "shows the body";
}

TEST(Wire, AnAnswerThatTricklesIsGivenUpAtTheDeadline) {
  const Peer peer([](int connection) {
    say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n<R>");
    while (say(connection, " ")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const auto outcome = describe(peer);
  expect_in_time(outcome);
  EXPECT_EQ(outcome.error.kind, ErrorKind::Timeout) << outcome.error.message;
  EXPECT_EQ(peer.requests(), 2);
}

TEST(Wire, SilenceIsGivenUpAtTheDeadline) {
  const Peer peer(wait_for_the_end);
  const auto outcome = describe(peer);
  expect_in_time(outcome);
  EXPECT_EQ(outcome.error.kind, ErrorKind::Timeout) << outcome.error.message;
}

TEST(Wire, ATruncatedAnswerIsTriedAgainAndThenAnError) {
  const Peer peer([](int connection) {
    say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n<R><subnetSet>");
  });
  const auto outcome = describe(peer);
  expect_in_time(outcome);
  EXPECT_EQ(outcome.error.kind, ErrorKind::Unavailable) << outcome.error.message;
  EXPECT_EQ(peer.requests(), 2);
}

TEST(Wire, ARedirectIsNotFollowed) {
  Peer elsewhere([](int connection) { say(connection, answer("<R/>")); });
  const Peer peer([&](int connection) {
    say(connection,
        "HTTP/1.1 302 Found\r\nLocation: " + elsewhere.url() + "/\r\nContent-Length: 0\r\n\r\n");
  });
  const auto outcome = describe(peer);
  expect_in_time(outcome);
  EXPECT_THAT(outcome.error.message, HasSubstr("302"));
  EXPECT_EQ(elsewhere.requests(), 0) << "a signed request was carried to another host";
}

TEST(Wire, WhatIsNoHttpIsAnError) {
  const Peer peer([](int connection) { say(connection, "SSH-2.0-OpenSSH_9.2\r\n"); });
  const auto outcome = describe(peer);
  expect_in_time(outcome);
  EXPECT_THAT(outcome.error.message, HasSubstr("ec2 DescribeSubnets"));
}

TEST(Wire, OtherTypesThanExpectedAreSaid) {
  for (const auto* body : {"<html><p>proxy", "{}", "", "\xff\xfe\x01", "<a/><b/>"}) {
    const Peer peer([&](int connection) { say(connection, answer(body)); });
    const auto outcome = describe(peer);
    expect_in_time(outcome);
    EXPECT_THAT(outcome.error.message, HasSubstr("ec2 DescribeSubnets")) << body;
  }
  for (const auto* body : {"[1]", "5", "<xml/>", "{\"a\":", "\"\\ud800\""}) {
    const Peer peer([&](int connection) { say(connection, answer(body, "application/json")); });
    const auto outcome = parameter(peer);
    expect_in_time(outcome);
    EXPECT_THAT(outcome.error.message, HasSubstr("ssm GetParameter")) << body;
  }
}

}  // namespace
}  // namespace millwright::cloud::aws

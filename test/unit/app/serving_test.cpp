// What callers may make the program hold.
#include "app/serving/serving.hpp"

#include "millwright/base/loop.hpp"
#include "millwright/net/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace millwright::app {
namespace {

constexpr std::size_t kOneMiB = 1U << 20;

int status_of(const net::Server& server, const std::string& path, std::size_t body) {
  base::RealLoop loop;
  const auto client = net::make_client(loop);
  const auto answer =
      client->send_blocking({.method = "POST",
                             .url = "http://127.0.0.1:" + std::to_string(server.port()) + path,
                             .body = std::string(body, 'x')});
  return answer ? answer->status : 0;
}

std::unique_ptr<net::Server> serve(net::ServerOptions options) {
  options.tls = false;
  auto server = net::Server::start(
      options, [](const net::Request&, const std::shared_ptr<net::Exchange>& exchange) {
        exchange->respond(net::Response::text(200, ""));
      });
  EXPECT_TRUE(server) << server.error().message;
  return *std::move(server);
}

TEST(Serving, NamesAreSmallerThanReviewsAndWholeNodesAreChosen) {
  net::ServerOptions options;
  limit_callers(options, false);
  const auto server = serve(options);
  EXPECT_EQ(status_of(*server, "/scheduler/filter", 2 * kOneMiB), 200);
  EXPECT_EQ(status_of(*server, "/scheduler/filter", 2 * kOneMiB + 1), 413);
  EXPECT_EQ(status_of(*server, "/scheduler/preempt", 3 * kOneMiB), 413);
  EXPECT_EQ(status_of(*server, "/validate", 8 * kOneMiB), 200);
  EXPECT_EQ(status_of(*server, "/mutate", 8 * kOneMiB + 1), 413);
  EXPECT_EQ(status_of(*server, "/", 5000), 413) << "nothing is served there";
  limit_callers(options, true);
  const auto whole = serve(options);
  EXPECT_EQ(status_of(*whole, "/scheduler/filter", 63 * kOneMiB), 200);
  EXPECT_EQ(status_of(*whole, "/validate", 9 * kOneMiB), 413);
}

// One request of the largest size always fits, and what all may hold is far below the memory limit
// of the manifests (1 GiB).
TEST(Serving, AllCallersTogetherHoldLittle) {
  for (const bool full_nodes : {false, true}) {
    net::ServerOptions options;
    limit_callers(options, full_nodes);
    for (const net::BodyLimit& limit : options.body_limits) {
      EXPECT_GE(options.bytes_in_flight, 2 * limit.bytes);
    }
    EXPECT_LE(options.bytes_in_flight, 128 * kOneMiB);
    EXPECT_LE(options.max_connections, 512U);
    EXPECT_LE(2 * options.max_connections_per_address, options.max_connections);
  }
  net::ServerOptions plain;
  limit_readers(plain);
  EXPECT_LE(plain.max_connections, 64U);
  EXPECT_LE(plain.body_limit, 4096U);
}

}  // namespace
}  // namespace millwright::app

#include "millwright/kube/informer.hpp"
#include "real_server.hpp"
#include "temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::kube::test {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Answer = base::Result<net::Response>;

// One request through a fresh transport.
Answer ask(const Config& config, ApiRequest request = {.path = "/api/v1/pods"}) {
  RealRun run;
  const auto transport = make_transport(run.loop, config, {}, "millwright/test");
  return run(transport->call(std::move(request), {}));
}

TEST(HttpsTransport, SendsMethodPathBodyAndHeaders) {
  const RealServer server([](const net::Request&, const std::shared_ptr<net::Exchange>& exchange) {
    exchange->respond(net::Response::json(201, R"({"ok":true})"));
  });
  auto config = server.config();
  config.token = "t0ken";
  const auto answer = ask(config, {.method = "PATCH",
                                   .path = "/api/v1/nodes/a?fieldManager=x%20y",
                                   .body = R"({"a":1})",
                                   .content_type = "application/merge-patch+json"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, R"({"ok":true})");
  ASSERT_EQ(server.seen().size(), 1U);
  const auto seen = server.seen()[0];
  EXPECT_EQ(seen.method, "PATCH");
  EXPECT_EQ(seen.target, "/api/v1/nodes/a?fieldManager=x%20y");
  EXPECT_EQ(seen.body, R"({"a":1})");
  EXPECT_EQ(seen.headers.get("Content-Type"), "application/merge-patch+json");
  EXPECT_EQ(seen.headers.get("User-Agent"), "millwright/test");
  EXPECT_EQ(seen.headers.get("Accept"), "application/json");
  EXPECT_EQ(seen.headers.get("Authorization"), "Bearer t0ken");
}

TEST(HttpsTransport, AnUntrustedServerGetsNoToken) {
  const RealServer server(wants_token("s3cret"));
  auto config = server.config();
  config.token = "s3cret";
  config.tls.ca_pem = must(certs::make_ca("another CA", pki().validity)).certificate_pem;
  const auto answer = ask(config);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, Not(HasSubstr("s3cret")));
  EXPECT_TRUE(server.seen().empty());
  config.tls.insecure_skip_verify = true;
  EXPECT_TRUE(ask(config));
}

TEST(HttpsTransport, TheServerNameMayDifferFromTheAddress) {
  const RealServer server(wants_token("t"));
  auto config = server.config();
  config.token = "t";
  config.tls.server_name = "kubernetes";
  EXPECT_TRUE(ask(config));
  config.tls.server_name = "elsewhere";
  EXPECT_FALSE(ask(config));
}

TEST(HttpsTransport, ClientCertificates) {
  const RealServer server(
      [](const net::Request&, const std::shared_ptr<net::Exchange>& exchange) {
        exchange->respond(ok({}));
      },
      true);
  auto config = server.config();
  EXPECT_FALSE(ask(config));
  config.tls.certificate_pem = pki().client.certificate_pem;
  config.tls.key_pem = pki().client.key_pem;
  const auto answer = ask(config);
  EXPECT_TRUE(answer) << answer.error().message;
}

TEST(HttpsTransport, BasicAuthentication) {
  const RealServer server([](const net::Request&, const std::shared_ptr<net::Exchange>& exchange) {
    exchange->respond(ok({}));
  });
  auto config = server.config();
  config.username = "me";
  config.password = "pass";
  ASSERT_TRUE(ask(config));
  EXPECT_THAT(server.authorizations(), ElementsAre("Basic bWU6cGFzcw=="));
}

TEST(HttpsTransport, AFixedTokenThatIsRefusedIsNotSentAgain) {
  const RealServer server(wants_token("right"));
  auto config = server.config();
  config.token = "wrong";
  const auto answer = ask(config);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 401);
  EXPECT_EQ(server.seen().size(), 1U);
}

base::Task<Answer> ask_around_a_rotation(Transport& transport, const TempDir& dir) {
  ApiRequest request{.path = "/a"};
  auto first = co_await transport.call(request, {});
  if (first) {
    dir.write("token", "new\n");
    first = co_await transport.call(request, {});
  }
  co_return first;
}

TEST(HttpsTransport, ARotatedTokenFileIsReadAgainWhenTheOldOneIsRefused) {
  const TempDir dir;
  std::atomic<int> asked = 0;
  const RealServer server(
      [&](const net::Request& request, const std::shared_ptr<net::Exchange>& exchange) {
        const std::string wanted = ++asked == 1 ? "Bearer old" : "Bearer new";
        exchange->respond(request.headers.get("Authorization") == wanted
                              ? ok({})
                              : status_answer(401, "Unauthorized", "Unauthorized"));
      });
  auto config = server.config();
  config.token_file = dir.write("token", "old\n");
  RealRun run;
  const auto transport = make_transport(run.loop, config, {}, "test");
  const auto answer = run(ask_around_a_rotation(*transport, dir));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(server.authorizations(), ElementsAre("Bearer old", "Bearer old", "Bearer new"));
}

TEST(HttpsTransport, AMissingOrUnusableTokenFileIsAnError) {
  const TempDir dir;
  const RealServer server(wants_token("x"));
  auto config = server.config();
  config.token_file = dir.path("token");
  EXPECT_THAT(ask(config).error().message, HasSubstr(config.token_file));
  dir.write("token", "s3cret\nX-Evil: 1");
  const auto answer = ask(config);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr(config.token_file));
  EXPECT_THAT(answer.error().message, Not(HasSubstr("s3cret")));
  EXPECT_TRUE(server.seen().empty());
}

TEST(HttpsTransport, NobodyListeningIsUnavailable) {
  Config config;
  {
    const RealServer server(wants_token("x"));
    config = server.config();
  }
  const auto answer = ask(config);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::Unavailable);
}

// A list, a watch that comes in pieces and ends, then a watch that stays open.
class WatchedNodes {
 public:
  void answer(const net::Request& request, const std::shared_ptr<net::Exchange>& exchange) {
    if (request.query("watch") != "true") {
      exchange->respond(net::Response::json(
          200, R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a",)"
               R"("uid":"ua","resourceVersion":"4"}}]})"));
      return;
    }
    exchange->start(200, {});
    if (request.query("resourceVersion") == "5") {
      exchange->write(R"({"type":"ADDED","object":{"metadata":{"name":"b","uid":"ub",)");
      exchange->write("\"resourceVersion\":\"6\"}}}\n");
      exchange->finish();
    } else {
      exchange->write(R"({"type":"DELETED","object":{"metadata":{"name":"a","uid":"ua",)"
                      "\"resourceVersion\":\"7\"}}}\n");
      const std::scoped_lock lock(mutex_);
      open_.push_back(exchange);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<net::Exchange>> open_;
};

base::Task<std::vector<std::string>> watch_until_removed(base::RealLoop& loop, Client& client) {
  std::vector<std::string> reports;
  base::Promise<bool> removed(loop);
  base::TaskGroup group(loop);
  InformerHandlers handlers{
      .upsert =
          [&](const json::value& object) {
            reports.push_back("+" + std::string(object.at("metadata").at("name").as_string()));
          },
      .remove =
          [&](const model::ObjectKey& key, const std::string&) {
            reports.push_back("-" + key.name);
            removed.set(true);
          },
      .synced = [&] { reports.emplace_back("synced"); }};
  InformerOptions options{.resource = model::kNodeResource};
  group.spawn(run_informer(client, std::move(options), std::move(handlers), group.stop_token()));
  co_await removed.get();
  group.request_stop();
  co_await group.join();
  co_return reports;
}

TEST(HttpsTransport, CarriesAnInformer) {
  WatchedNodes nodes;
  const RealServer server(
      [&](const net::Request& request, const std::shared_ptr<net::Exchange>& exchange) {
        nodes.answer(request, exchange);
      });
  RealRun run;
  Client client(run.loop, make_transport(run.loop, server.config(), {}, "test"));
  EXPECT_THAT(run(watch_until_removed(run.loop, client)), ElementsAre("+a", "synced", "+b", "-a"));
}

}  // namespace
}  // namespace millwright::kube::test

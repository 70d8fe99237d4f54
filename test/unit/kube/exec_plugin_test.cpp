#include "real_server.hpp"
#include "temp_dir.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace millwright::kube::test {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using PluginAnswer = base::Result<net::Response>;
constexpr const char* kVersion = "client.authentication.k8s.io/v1";

std::string print_status(const std::string& status) {
  return std::string("cat <<'END'\n{\"apiVersion\":\"") + kVersion +
         "\",\"kind\":\"ExecCredential\",\"status\":" + status + "}\nEND\n";
}

std::string print_token(const std::string& token) {
  return print_status("{\"token\":\"" + token + "\"}");
}

base::Task<std::vector<int>> ask_at_once(base::RealLoop& loop, Transport& transport, int times) {
  std::vector<int> statuses;
  const auto one = [](Transport* t, std::vector<int>* out) -> base::Task<void> {
    ApiRequest request{.path = "/a"};
    auto answer = co_await t->call(request, {});
    out->push_back(answer ? answer->status : 0);
  };
  base::TaskGroup group(loop);
  for (int i = 0; i < times; ++i) {
    group.spawn(one(&transport, &statuses));
  }
  co_await group.join();
  co_return statuses;
}

class ExecPluginTest : public testing::Test {
 protected:
  // A configuration whose plugin is the shell script `body`; every run adds a line to "runs".
  Config config_for(const RealServer& server, const std::string& body) {
    auto config = server.config();
    config.exec = ExecPlugin{
        .api_version = kVersion,
        .command = dir.script("plugin", "echo run >> " + dir.path("runs") + "\n" + body)};
    return config;
  }
  PluginAnswer ask(const Config& config) {
    RealRun run;
    const auto transport = make_transport(run.loop, config, {}, "test");
    return run(transport->call({.path = "/api/v1/pods"}, {}));
  }
  auto runs() const {
    const auto text = dir.read("runs");
    return std::count(text.begin(), text.end(), '\n');
  }
  TempDir dir;
};

TEST_F(ExecPluginTest, ItsTokenIsSentAndKept) {
  const RealServer server(wants_token("fr3sh"));
  RealRun run;
  const auto transport =
      make_transport(run.loop, config_for(server, print_token("fr3sh")), {}, "test");
  EXPECT_THAT(run(ask_at_once(run.loop, *transport, 5)), ElementsAre(200, 200, 200, 200, 200));
  EXPECT_EQ(runs(), 1);
}

TEST_F(ExecPluginTest, GetsItsArgumentsItsEnvironmentAndTheCluster) {
  const RealServer server(wants_token("t"));
  auto config = config_for(server, "echo \"$1 $2 $PROFILE ${HOME:+home}\" > " + dir.path("args") +
                                       "\necho \"$KUBERNETES_EXEC_INFO\" > " + dir.path("info") +
                                       "\n" + print_token("t"));
  config.exec->args = {"get-token", "a b"};
  config.exec->env = {{"PROFILE", "prod"}};
  ::setenv("HOME", "/root", 0);
  ASSERT_TRUE(ask(config));
  EXPECT_EQ(dir.read("args"), "get-token a b prod home\n");
  EXPECT_EQ(parse(dir.read("info")),
            parse(R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
                      "spec":{"interactive":false}})"));
  config.exec->provide_cluster_info = true;
  ASSERT_TRUE(ask(config));
  const auto cluster = parse(dir.read("info")).at("spec").at("cluster");
  EXPECT_EQ(cluster.at("server").as_string(), config.server);
  EXPECT_TRUE(cluster.as_object().contains("certificate-authority-data"));
}

TEST_F(ExecPluginTest, RunsAgainWhenItsTokenIsRefused) {
  const RealServer server(wants_token("token-2"));
  const auto config = config_for(
      server, "n=$(wc -l < " + dir.path("runs") + " | tr -d ' ')\ncat <<END\n" +
                  "{\"apiVersion\":\"" + kVersion +
                  "\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"token-$n\"}}\nEND\n");
  const auto answer = ask(config);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(server.authorizations(), ElementsAre("Bearer token-1", "Bearer token-2"));
}

TEST_F(ExecPluginTest, ATokenThatIsAlwaysRefusedEndsIn401) {
  const RealServer server(wants_token("right"));
  const auto answer = ask(config_for(server, print_token("wrong")));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 401);
  EXPECT_EQ(runs(), 2);
}

base::Task<bool> ask_again_after(base::RealLoop& loop, Transport& transport, base::Duration wait) {
  ApiRequest request{.path = "/a"};
  auto first = co_await transport.call(request, {});
  co_await base::sleep(loop, wait);
  auto second = co_await transport.call(request, {});
  co_return first&& second && first->status == 200 && second->status == 200;
}

TEST_F(ExecPluginTest, RunsAgainWhenItsTokenExpires) {
  const RealServer server(wants_token("t"));
  const auto config = config_for(
      server, std::string("end=$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%SZ)\ncat <<END\n") +
                  "{\"apiVersion\":\"" + kVersion + "\",\"kind\":\"ExecCredential\",\"status\":" +
                  "{\"token\":\"t\",\"expirationTimestamp\":\"$end\"}}\nEND\n");
  RealRun run;
  const auto transport = make_transport(run.loop, config, {}, "test");
  EXPECT_TRUE(run(ask_again_after(run.loop, *transport, 2s)));
  EXPECT_EQ(runs(), 2);
}

TEST_F(ExecPluginTest, MayGiveAClientCertificate) {
  const RealServer server(
      [](const net::Request&, const std::shared_ptr<net::Exchange>& exchange) {
        exchange->respond(ok({}));
      },
      true);
  const json::value status{{"clientCertificateData", pki().client.certificate_pem},
                           {"clientKeyData", pki().client.key_pem}};
  const auto answer = ask(config_for(server, print_status(json::serialize(status))));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
}

TEST_F(ExecPluginTest, AFixedTokenMakesItUnnecessary) {
  const RealServer server(wants_token("fixed"));
  auto config = config_for(server, print_token("plugin"));
  config.token = "fixed";
  EXPECT_EQ(ask(config)->status, 200);
  EXPECT_EQ(runs(), 0);
}

struct BadPlugin {
  std::string body;
  std::string message_has;
};

TEST_F(ExecPluginTest, FailuresAreExplainedWithoutSecrets) {
  const std::string secret(50, 'S');
  const auto prefix = std::string("{\"apiVersion\":\"") + kVersion + "\",\"kind\":";
  const BadPlugin cases[] = {
      {"echo 'please log in' >&2; exit 3", "exit code 3: please log in"},
      {"echo \"token is " + secret + "\" >&2; exit 1", "[masked]"},
      {"kill -9 $$", "signal 9"},
      {"exit 0", "not JSON"},
      {"echo '" + secret + "'", "not JSON"},
      {"echo '[]'", "ExecCredential"},
      {"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"v9\"}'", "apiVersion"},
      {"echo '" + prefix + "\"ExecCredential\"}'", "status.token"},
      {print_status("{\"token\":\"\"}"), "status.token"},
      {print_status("{\"token\":\"" + secret + "\\n\\nX: 1\"}"), "header"},
      {print_status("{\"token\":\"" + secret + "\",\"expirationTimestamp\":\"tomorrow\"}"),
       "expirationTimestamp"},
      {print_status("{\"token\":\"" + secret +
                    "\",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"}"),
       "expired"},
      {print_status("{\"clientCertificateData\":\"x\"}"), "clientKeyData"},
      {print_status("{\"clientCertificateData\":\"x\",\"clientKeyData\":\"" + secret + "\"}"),
       "PEM"},
      {"head -c 3000000 /dev/zero", "more than"},
      {"while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "more than"},
  };
  const RealServer server(wants_token("x"));
  for (const auto& one : cases) {
    const auto answer = ask(config_for(server, one.body));
    ASSERT_FALSE(answer) << one.body;
    EXPECT_EQ(answer.error().kind, ErrorKind::Unavailable) << one.body;
    EXPECT_THAT(answer.error().message, HasSubstr(one.message_has)) << one.body;
    EXPECT_THAT(answer.error().message, HasSubstr("plugin")) << one.body;
    EXPECT_THAT(answer.error().message, Not(HasSubstr("SSSSSSSS"))) << one.body;
  }
  EXPECT_TRUE(server.seen().empty());
}

TEST_F(ExecPluginTest, AMissingCommandGivesTheInstallHint) {
  const RealServer server(wants_token("x"));
  auto config = config_for(server, "");
  config.exec->command = dir.path("nothing-here");
  config.exec->install_hint = "get it from the package manager";
  const auto answer = ask(config);
  EXPECT_THAT(answer.error().message, HasSubstr("nothing-here"));
  EXPECT_THAT(answer.error().message, HasSubstr("get it from the package manager"));
  config.exec->command = dir.path();  // a directory
  EXPECT_FALSE(ask(config));
}

// Waits for the last writer of a FIFO to be gone.
bool ends_soon(int fifo) {
  char byte = 0;
  pollfd waited{fifo, POLLIN, 0};
  while (::read(fifo, &byte, 1) != 0) {
    if (::poll(&waited, 1, 30'000) == 0) {
      return false;
    }
  }
  return true;
}

TEST_F(ExecPluginTest, OneThatHangsIsKilledWithItsChildren) {
  const RealServer server(wants_token("x"));
  ASSERT_EQ(::mkfifo(dir.path("alive").c_str(), 0600), 0);
  const int fifo = ::open(dir.path("alive").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  auto config = config_for(server, "sleep 600 > " + dir.path("alive") + " &\nwait\n");
  config.exec->timeout = 500ms;
  const auto answer = ask(config);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::Timeout);
  EXPECT_TRUE(ends_soon(fifo));
  ::close(fifo);
}

TEST_F(ExecPluginTest, AChildLeftBehindNeitherHoldsItUpNorLivesOn) {
  const RealServer server(wants_token("t"));
  ASSERT_EQ(::mkfifo(dir.path("alive").c_str(), 0600), 0);
  const int fifo = ::open(dir.path("alive").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  // The file is opened before the fork, so that the child has it when the plugin ends.
  auto config =
      config_for(server, "exec 9> " + dir.path("alive") + "\nsleep 600 &\n" + print_token("t"));
  config.exec->timeout = 300s;
  EXPECT_EQ(ask(config)->status, 200);
  EXPECT_TRUE(ends_soon(fifo));
  ::close(fifo);
}

TEST_F(ExecPluginTest, StandardInputIsEmpty) {
  const RealServer server(wants_token("t"));
  EXPECT_EQ(ask(config_for(server, "cat\n" + print_token("t")))->status, 200);
}

base::Task<PluginAnswer> ask_and_stop(base::RealLoop& loop, Transport& transport,
                                      const TempDir& dir) {
  std::stop_source stop;
  base::TaskGroup group(loop);
  const auto stop_when_running = [](base::RealLoop* l, const TempDir* d,
                                    std::stop_source source) -> base::Task<void> {
    while (d->read("runs").empty()) {
      co_await base::sleep(*l, 5ms);
    }
    source.request_stop();
  };
  group.spawn(stop_when_running(&loop, &dir, stop));
  ApiRequest request{.path = "/a"};
  auto answer = co_await transport.call(request, stop.get_token());
  co_await group.join();
  co_return answer;
}

TEST_F(ExecPluginTest, StoppingARequestAndTheTransportDoesNotWaitForIt) {
  const RealServer server(wants_token("x"));
  auto config = config_for(server, "sleep 600\n");
  config.exec->timeout = 600s;
  RealRun run;
  auto transport = make_transport(run.loop, config, {}, "test");
  const auto answer = run(ask_and_stop(run.loop, *transport, dir));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::Cancelled);
  transport.reset();  // would take ten minutes
}

}  // namespace
}  // namespace millwright::kube::test

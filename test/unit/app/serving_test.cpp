// What callers may make the program hold, and when its HTTPS ports are open.
#include "app/serving/serving.hpp"

#include "app/serving/servers.hpp"
#include "app/serving/stop_servers.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/net/client.hpp"
#include "unit/kube/fake_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace millwright::app {
namespace {

using std::chrono::milliseconds;

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

std::unique_ptr<net::Server> serve(net::ServerOptions options, net::Handler handler) {
  options.tls = false;
  auto server = net::Server::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server) << server.error().message;
  return *std::move(server);
}

std::unique_ptr<net::Server> serve(net::ServerOptions options) {
  return serve(std::move(options),
               [](const net::Request&, const std::shared_ptr<net::Exchange>& exchange) {
                 exchange->respond(net::Response::text(200, ""));
               });
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

// A server, and somebody whose request it was sent and has not answered.
class Asked {
 public:
  Asked() : caller_([this] { status_ = status_of(*server_, "/", 0); }) {
    exchange_ = came_.get_future().get();
  }
  net::Server* server() const { return server_.get(); }
  const std::shared_ptr<net::Exchange>& exchange() const { return exchange_; }
  // Of the answer; 0: there was none.
  int status() {
    caller_.join();
    return status_;
  }

 private:
  std::promise<std::shared_ptr<net::Exchange>> came_;
  std::shared_ptr<net::Exchange> exchange_;
  int status_ = 0;
  std::unique_ptr<net::Server> server_ =
      serve({}, [this](const net::Request&, const std::shared_ptr<net::Exchange>& exchange) {
        came_.set_value(exchange);
      });
  std::thread caller_;
};

base::Task<void> stop_and_leave(base::RealLoop* loop, std::vector<net::Server*> servers,
                                milliseconds grace) {
  co_await stop_servers(loop, std::move(servers), grace);
  loop->stop();
}

TEST(StoppingServers, LeavesTheLoopToRequestsThatNeedItForTheirAnswer) {
  base::RealLoop loop;
  Asked asked;
  base::TaskGroup group(loop);
  group.spawn(stop_and_leave(&loop, {asked.server()}, milliseconds(5'000)));
  loop.after(milliseconds(50),
             [&asked] { asked.exchange()->respond(net::Response::text(200, "")); });
  loop.run();
  EXPECT_EQ(asked.status(), 200);
}

// Where threads wait for each other.
class Meeting {
 public:
  explicit Meeting(int expected) : missing_(expected) {}
  // False: somebody did not come.
  bool wait() {
    std::unique_lock lock(mutex_);
    --missing_;
    complete_.notify_all();
    return complete_.wait_for(lock, std::chrono::seconds(10), [this] { return missing_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable complete_;
  int missing_;
};

// Is stopped once all that meet are being stopped.
class MeetingServer final : public net::Server {
 public:
  explicit MeetingServer(Meeting* meeting) : meeting_(*meeting) {}
  std::uint16_t port() const override { return 0; }
  base::Result<> set_identity(net::TlsIdentity /*identity*/) override { return {}; }
  void stop(milliseconds grace) override {
    grace_ = grace;
    met_ = meeting_.wait();
  }
  bool met() const { return met_; }
  milliseconds grace() const { return grace_; }

 private:
  Meeting& meeting_;
  bool met_ = false;
  milliseconds grace_{0};
};

// One after another they would use up the time that the process has to end in good order.
TEST(StoppingServers, TakesNoLongerForManyThanForOne) {
  constexpr milliseconds kGrace{5'000};
  base::RealLoop loop;
  Meeting meeting(3);
  MeetingServer first(&meeting);
  MeetingServer second(&meeting);
  MeetingServer third(&meeting);
  base::TaskGroup group(loop);
  group.spawn(stop_and_leave(&loop, {&first, &second, &third}, kGrace));
  loop.run();
  for (const MeetingServer* server : {&first, &second, &third}) {
    EXPECT_TRUE(server->met());
    EXPECT_EQ(server->grace(), kGrace);
  }
}

class HttpsPorts : public testing::Test {
 protected:
  HttpsPorts() {
    settings_.bind_address = "127.0.0.1";
    settings_.serving_port = 0;
    settings_.extender_port = 0;
    settings_.asking_port = 0;
    bundle_ = *certs::reconcile({}, {.dns_names = {"millwright"}}, loop_.now());
  }
  void use(const certs::Bundle& bundle) { servers().use(bundle, {}); }
  Servers& servers() {
    if (!servers_) {
      servers_ = std::make_unique<Servers>(
          ServersParts{.settings = settings_,
                       .engine = engine_,
                       .client = client_,
                       .newcomers_client = client_,
                       .renewals_client = client_,
                       .metrics = metrics_,
                       .heartbeat = heartbeat_,
                       .leadership = leadership_,
                       .log = {},
                       .on_closed = [this](const std::string& why) { problems_.push_back(why); }});
    }
    return *servers_;
  }

  base::VirtualLoop loop_{kube::test::kStart};
  base::InlineCompute compute_;
  kube::Client client_{loop_, std::make_shared<kube::test::FakeTransport>(loop_)};
  cloud::ProviderSet providers_;
  base::Metrics metrics_;
  Engine engine_{EngineParts{.loop = loop_,
                             .compute = compute_,
                             .client = client_,
                             .providers = providers_,
                             .metrics = metrics_,
                             .log = {},
                             .options = {},
                             .policy = {}}};
  Heartbeat heartbeat_{loop_};
  base::Leadership leadership_{loop_};
  Settings settings_;
  certs::Bundle bundle_;
  std::vector<std::string> problems_;
  std::unique_ptr<Servers> servers_;
};

// A process that stays would lead, and nobody would answer kube-scheduler.
TEST_F(HttpsPorts, ThatAreTakenEndTheProcess) {
  const auto other = serve({.address = "127.0.0.1", .port = 0});
  for (int Settings::*port : {&Settings::serving_port, &Settings::extender_port}) {
    settings_.*port = other->port();
    use(bundle_);
    ASSERT_EQ(problems_.size(), 1U);
    EXPECT_THAT(problems_.front(), testing::HasSubstr(std::to_string(other->port())));
    servers_.reset();
    problems_.clear();
    settings_.*port = 0;
  }
  use(bundle_);
  EXPECT_THAT(problems_, testing::IsEmpty());
  EXPECT_TRUE(servers().serving() && servers().serving_extender());
}

// Somebody else keeps the Secret, and added its ca.crt later.
TEST_F(HttpsPorts, TheExtenderIsServedOnceThereIsACaToCheckCallersBy) {
  certs::Bundle without = bundle_;
  without.ca = {};
  use(without);
  EXPECT_TRUE(servers().serving());
  EXPECT_FALSE(servers().serving_extender());
  use(bundle_);
  EXPECT_TRUE(servers().serving_extender());
  EXPECT_THAT(problems_, testing::IsEmpty());
}

// A process that left would read the same Secret again when it starts.
TEST_F(HttpsPorts, ACertificateThatCannotBeUsedEndsNothingThatRuns) {
  certs::Bundle bundle = bundle_;
  bundle.ca = {};
  use(bundle);
  bundle.ca.certificate_pem = "not a certificate";
  use(bundle);
  EXPECT_THAT(problems_, testing::IsEmpty());
  EXPECT_TRUE(servers().serving());
  EXPECT_FALSE(servers().serving_extender());
  use(bundle_);
  EXPECT_TRUE(servers().serving_extender());
}

// They would be open, and the replica ready, for as long as it takes to end.
TEST_F(HttpsPorts, AreNotOpenedByAReplicaThatEnds) {
  servers().retire();
  use(bundle_);
  EXPECT_FALSE(servers().serving() || servers().serving_extender());
}

TEST_F(HttpsPorts, OpenWithTheFirstCertificateThatCanBeUsed) {
  certs::Bundle bundle = bundle_;
  bundle.leaf.certificate_pem = "not a certificate";
  use(bundle);
  EXPECT_THAT(problems_, testing::IsEmpty());
  EXPECT_FALSE(servers().serving());
  use(bundle_);
  EXPECT_TRUE(servers().serving() && servers().serving_extender());
}

}  // namespace
}  // namespace millwright::app

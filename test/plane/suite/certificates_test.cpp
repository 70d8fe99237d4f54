// Certificates change while the API server and kube-scheduler call, and no call fails.

#include "millwright/base/base64.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/certs/certs.hpp"
#include "plane/suite/fixture.hpp"

#include <fmt/format.h>

#include <atomic>
#include <thread>

namespace millwright::plane {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kSecret =
    fmt::format("/api/v1/namespaces/{}/secrets/millwright-certs", kNamespace);

// One request after the other on a thread of its own, each over a new connection: what was agreed
// on in an older handshake must not hide a certificate that nobody trusts.
class Calls {
 public:
  Calls(net::ClientTls tls, net::ClientRequest request)
      : thread_([this, tls = std::move(tls), request = std::move(request)] { run(tls, request); }) {
  }
  ~Calls() { stop(); }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  void stop() {
    stop_ = true;
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  std::size_t made() const { return made_; }
  std::size_t failed() const { return failed_; }
  // Only after stop().
  const std::string& first_failure() const { return first_failure_; }

 private:
  void run(const net::ClientTls& tls, const net::ClientRequest& request) {
    base::RealLoop loop;  // never run: calls block
    while (!stop_) {
      const auto client = net::make_client(loop, tls);
      const auto response = client->send_blocking(request);
      ++made_;
      if (!response || response->status != 200) {
        ++failed_;
        if (first_failure_.empty()) {
          first_failure_ = response ? std::to_string(response->status) + " " + response->body
                                    : response.error().message;
        }
      }
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> made_{0};
  std::atomic<std::size_t> failed_{0};
  std::string first_failure_;
  std::thread thread_;
};

// The same with a client certificate of a CA that nobody trusts.
net::ClientTls foreign_client(net::ClientTls tls) {
  const auto now = base::system_now();
  const certs::Validity validity{now - std::chrono::hours(1), now + std::chrono::hours(1)};
  const auto ca = certs::make_ca("foreign", validity);
  const auto client = certs::make_client_leaf(*ca, "kube-scheduler", {}, validity);
  tls.certificate_pem = client->certificate_pem;
  tls.key_pem = client->key_pem;
  return tls;
}

class Certificates : public testing::Test {
 protected:
  // Looked at every second, and a CA change lasts 24 s: its leaf changes after 12.
  void SetUp() override {
    ClusterOptions options;
    options.controller.flags = {"--certificate-check=1s", "--certificate-overlap=24s"};
    cluster_ = Cluster::start(std::move(options));
    ASSERT_NE(cluster_, nullptr);
    ASSERT_TRUE(cluster_->controller().register_webhooks("Fail").has_value());
    cluster_->apply(node_pool("certified", "Never"));
  }
  Plane& plane() { return cluster_->plane(); }

  std::string secret(const std::string& key) {
    return text_at(plane().call("GET", kSecret).body, "/data/" + key);
  }
  void empty(const std::string& key) {
    cluster_->kubectl({"-n", std::string(kNamespace), "patch", "secret", "millwright-certs",
                       "--type=merge", "-p", fmt::format("{{\"data\":{{\"{}\":\"\"}}}}", key)});
  }
  std::string ca_bundle_of(const std::string& kind) {
    return text_at(
        plane()
            .call("GET", fmt::format("/apis/admissionregistration.k8s.io/v1/{}/millwright", kind))
            .body,
        "/webhooks/0/clientConfig/caBundle");
  }
  static std::size_t certificates_in(const std::string& base64) {
    const std::string pem = base::decode_base64(base64).value_or("");
    std::size_t count = 0;
    for (auto at = pem.find("BEGIN CERT"); at != std::string::npos;
         at = pem.find("BEGIN CERT", at + 1)) {
      ++count;
    }
    return count;
  }
  // The certificate that a new connection is shown.
  std::string served() {
    const std::string file = plane().directory() + "/served.txt";
    ProcessSpec spec;
    spec.program = "/bin/sh";
    spec.arguments = {"-c", fmt::format("openssl s_client -connect 127.0.0.1:{} </dev/null "
                                        "2>/dev/null | openssl x509",
                                        cluster_->controller().serving_port())};
    spec.log = file;
    const auto process = Process::start(std::move(spec));
    EXPECT_TRUE(process.has_value());
    (*process)->wait(milliseconds(10'000));
    return read_text(file);
  }
  // A change of the pool that both webhooks are asked about, and that is not stored.
  std::unique_ptr<Calls> admission_calls() {
    net::ClientRequest request;
    request.method = "PATCH";
    request.url = plane().url() + std::string(kPools) + "/certified?dryRun=All";
    request.body = R"({"spec":{"weight":7}})";
    request.headers.set("Content-Type", "application/merge-patch+json");
    return std::make_unique<Calls>(plane().admin_tls(), std::move(request));
  }
  net::ClientRequest filter_request(int port) {
    net::ClientRequest request;
    request.method = "POST";
    request.url = fmt::format("https://127.0.0.1:{}/scheduler/filter", port);
    request.headers.set("Content-Type", "application/json");
    request.body = json::serialize(json::object{
        {"Pod",
         {{"metadata", {{"name", "asked"}, {"namespace", "default"}, {"uid", "asked"}}},
          {"spec", {{"schedulerName", "default-scheduler"}, {"containers", json::array{}}}}}},
        {"NodeNames", json::array{"nowhere"}}});
    return request;
  }
  // As kube-scheduler asks, with the certificates that the stanza had when it started.
  std::unique_ptr<Calls> extender_calls() {
    return std::make_unique<Calls>(cluster_->controller().scheduler_tls(),
                                   filter_request(cluster_->controller().extender_port()));
  }
  // The status of one call over a new connection; 0: there was no connection.
  int filter_status(int port, net::ClientTls tls) {
    base::RealLoop loop;  // never run: calls block
    const auto client = net::make_client(loop, std::move(tls));
    const auto response = client->send_blocking(filter_request(port));
    return response ? response->status : 0;
  }
  double filter_calls() {
    return cluster_->controller().metric("millwright_extender_requests_total", "verb=\"filter\"");
  }
  // Pods that kube-scheduler asks about come until `seen`.
  void wait_while_pods_come(const std::string& what, const std::function<bool()>& seen) {
    int pods = 0;
    cluster_->wait(what, seconds(60), [&] {
      if (pods++ % 100 == 0) {
        cluster_->apply(deployment({.name = fmt::format("passing-{}", pods), .cpu = "10m"}));
      }
      return seen();
    });
  }
  static void expect_no_failure(const char* what, Calls& calls) {
    calls.stop();
    EXPECT_GT(calls.made(), 20U) << what;
    EXPECT_EQ(calls.failed(), 0U) << what << ", of " << calls.made() << ": "
                                  << calls.first_failure();
    std::printf("%s: %zu calls over new connections, %zu failed\n", what, calls.made(),
                calls.failed());
  }

  std::unique_ptr<Cluster> cluster_;
};

TEST_F(Certificates, ChangeUnderLoadWithoutAFailedCall) {
  const auto admission = admission_calls();
  const auto extender = extender_calls();
  // The real scheduler asks all the while, too.
  cluster_->apply(deployment({.name = "load", .replicas = 2, .cpu = "100m", .pool = "certified"}));
  cluster_->wait_running("load", 2);
  constexpr int kTimes = 6;
  for (int time = 0; time < kTimes; ++time) {
    const std::string before = served();
    EXPECT_THAT(before, HasSubstr("BEGIN CERTIFICATE"));
    empty("tls.crt");
    cluster_->wait("another certificate is served", seconds(20),
                   [&] { return served() != before; });
    cluster_->kubectl({"scale", "deployment", "load", fmt::format("--replicas={}", 3 + time)});
    cluster_->wait_running("load", static_cast<std::size_t>(3 + time));
  }
  // Deleted, it is put back: no new CA, that nobody would trust.
  const std::string authority = secret("ca.crt");
  cluster_->kubectl({"-n", std::string(kNamespace), "delete", "secret", "millwright-certs"});
  cluster_->wait("the Secret is back", seconds(20), [&] { return !secret("ca.crt").empty(); });
  EXPECT_EQ(secret("ca.crt"), authority);
  expect_no_failure("admission", *admission);
  expect_no_failure("extender", *extender);
  EXPECT_THAT(read_text(plane().directory() + "/kube-scheduler.log"),
              Not(HasSubstr("Skipping extender")));
}

TEST_F(Certificates, ACaChangesWhileBothAreTrusted) {
  const auto admission = admission_calls();
  const std::string old_authority = secret("ca.crt");
  const std::string old_leaf = served();
  empty("ca.key");
  cluster_->wait("both are trusted", seconds(10), [&] {
    return certificates_in(secret("ca.crt")) == 2 &&
           certificates_in(ca_bundle_of("mutatingwebhookconfigurations")) == 2 &&
           certificates_in(ca_bundle_of("validatingwebhookconfigurations")) == 2;
  });
  EXPECT_EQ(served(), old_leaf) << "the leaf changed before everybody could trust the new CA";
  // Whoever reads the CA now trusts both: what is served now and what will be.
  const auto extender = extender_calls();
  ASSERT_TRUE(plane().start_scheduler(cluster_->controller().extender()).has_value());
  cluster_->wait("the new CA's leaf is served", seconds(30), [&] { return served() != old_leaf; });
  cluster_->wait("the old CA is gone", seconds(30), [&] {
    return certificates_in(secret("ca.crt")) == 1 &&
           certificates_in(ca_bundle_of("mutatingwebhookconfigurations")) == 1 &&
           certificates_in(ca_bundle_of("validatingwebhookconfigurations")) == 1;
  });
  EXPECT_NE(secret("ca.crt"), old_authority);
  cluster_->apply(deployment({.name = "load", .replicas = 2, .cpu = "100m", .pool = "certified"}));
  cluster_->wait_running("load", 2);
  expect_no_failure("admission", *admission);
  expect_no_failure("extender", *extender);
}

TEST_F(Certificates, TheExtenderAnswersNobodyWithoutTheClientCertificate) {
  const int port = cluster_->controller().extender_port();
  const net::ClientTls right = cluster_->controller().scheduler_tls();
  EXPECT_EQ(filter_status(port, right), 200);
  net::ClientTls none = right;
  none.certificate_pem.clear();
  none.key_pem.clear();
  EXPECT_EQ(filter_status(port, none), 0);
  net::ClientTls of_server = right;
  of_server.certificate_pem =
      base::decode_base64(cluster_->controller().certificate("tls.crt")).value_or("");
  of_server.key_pem =
      base::decode_base64(cluster_->controller().certificate("tls.key")).value_or("");
  EXPECT_EQ(filter_status(port, of_server), 0);
  EXPECT_EQ(filter_status(port, foreign_client(right)), 0);
  EXPECT_EQ(filter_status(cluster_->controller().serving_port(), none), 404)
      << "the webhooks' port is not a way around";
}

// It begins with a certificate that is refused: so its calls tell what it shows.
TEST_F(Certificates, KubeSchedulerReadsItsCertificateFromFilesAgainWithoutARestart) {
  const std::string prefix = plane().directory() + "/client-";
  const auto write = [&](const net::ClientTls& tls) {
    write_text(prefix + "ca.crt", tls.ca_pem);
    write_text(prefix + "client.crt", tls.certificate_pem);
    write_text(prefix + "client.key", tls.key_pem);
  };
  const net::ClientTls right = cluster_->controller().scheduler_tls();
  write(foreign_client(right));
  auto extenders = json::parse(cluster_->controller().extender()).as_array();
  extenders.at(0).as_object()["tlsConfig"] = json::object{{"caFile", prefix + "ca.crt"},
                                                          {"certFile", prefix + "client.crt"},
                                                          {"keyFile", prefix + "client.key"}};
  plane().stop("kube-scheduler");
  ASSERT_TRUE(plane().start_scheduler(json::serialize(extenders)).has_value());
  cluster_->apply(deployment({.name = "load", .replicas = 1, .cpu = "100m", .pool = "certified"}));
  cluster_->wait_running("load", 1);  // ignorable: without us
  const std::string log = plane().directory() + "/kube-scheduler.log";
  wait_while_pods_come("the extender is skipped", [&] {
    return read_text(log).find("Skipping extender") != std::string::npos;
  });
  const double before = filter_calls();
  write(right);
  wait_while_pods_come("it is called", [&] { return filter_calls() > before; });
  // A renewed one counts beside it, and is accepted as well.
  empty("client.key");
  cluster_->wait("another client certificate is there", seconds(20), [&] {
    const std::string now = cluster_->controller().scheduler_tls().certificate_pem;
    return !now.empty() && now != right.certificate_pem;
  });
  const int port = cluster_->controller().extender_port();
  EXPECT_EQ(filter_status(port, right), 200);
  EXPECT_EQ(filter_status(port, cluster_->controller().scheduler_tls()), 200);
}

TEST_F(Certificates, WhatSomebodyWroteIntoTheWebhooksIsMadeGood) {
  for (const std::string kind :
       {"mutatingwebhookconfiguration", "validatingwebhookconfiguration"}) {
    const std::string wanted = ca_bundle_of(kind + "s");
    cluster_->kubectl({"patch", kind, "millwright", "--type=json", "-p",
                       R"([{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}])"});
    cluster_->wait("the CA is there again", seconds(20),
                   [&] { return ca_bundle_of(kind + "s") == wanted; });
  }
  cluster_->wait("the webhooks can be called", seconds(10), [&] {
    return plane()
               .kubectl({"apply", "--dry-run=server", "-f", "-"}, node_pool("again"))
               .exit_code == 0;
  });
}

}  // namespace
}  // namespace millwright::plane

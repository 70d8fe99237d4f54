// Where the facts about the cluster come from: the settings, EKS, or both.
#include "cloud/aws/cluster.hpp"

#include "unit/cloud/aws/fakes/fake_aws.hpp"

namespace millwright::cloud::aws {
namespace {

using namespace std::chrono_literals;

class ClusterTest : public testing::Test {
 protected:
  ClusterTest()
      : loop(kStart),
        http(loop),
        aws(http),
        endpoints(Endpoints::make("us-west-2", machine.environment()).value()),
        api({.loop = loop, .client = http, .endpoints = endpoints, .log = {}, .seed = 1}) {
    aws.on("GET", [this](const Asked&) {
      if (!answers) {
        return net::Response::json(refusal, R"({"message":"no"})");
      }
      return net::Response::json(
          200, R"({"cluster":{"arn":"arn:x","endpoint":"https://eks","version":")" + version +
                   R"(","kubernetesNetworkConfig":{"serviceIpv4Cidr":"10.100.0.0/16"}}})");
    });
    settings.cluster_name = "demo";
    settings.cluster_endpoint = "https://mine";
    settings.kubernetes_version = "1.31";
  }
  ClusterFacts facts(Cluster& cluster) { return wait(loop, cluster.facts()).value(); }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
  FakeAws aws;
  Endpoints endpoints;
  Api api;
  AwsSettings settings;
  std::string version = "1.33";
  bool answers = true;
  int refusal = 403;
};

TEST_F(ClusterTest, EksIsNotAskedForWhatTheSettingsSay) {
  Cluster cluster(api, settings, {});
  EXPECT_EQ(facts(cluster).version, "1.31");
  EXPECT_EQ(facts(cluster).endpoint, "https://mine");
  EXPECT_TRUE(aws.calls("GET").empty());
}

TEST_F(ClusterTest, EksCompletesTheSettingsOnceInFiveMinutes) {
  settings.kubernetes_version.clear();
  Cluster cluster(api, settings, {});
  EXPECT_EQ(facts(cluster).version, "1.33");
  EXPECT_EQ(facts(cluster).endpoint, "https://mine");
  EXPECT_EQ(facts(cluster).service_cidr, "10.100.0.0/16");
  EXPECT_EQ(aws.calls("GET").size(), 1U);
  version = "1.34";
  loop.run_for(5min);
  EXPECT_EQ(facts(cluster).version, "1.34");
}

TEST_F(ClusterTest, WithAnEksControlPlaneItsVersionCountsAndTheEndpointOfTheSettings) {
  settings.eks_control_plane = true;
  Cluster cluster(api, settings, {});
  EXPECT_EQ(facts(cluster).version, "1.33");
  EXPECT_EQ(facts(cluster).service_cidr, "10.100.0.0/16");
  EXPECT_EQ(facts(cluster).endpoint, "https://mine");
}

TEST_F(ClusterTest, TheLastAnswerOfEksCountsWhileItGivesNone) {
  settings.kubernetes_version.clear();
  Cluster cluster(api, settings, {});
  EXPECT_EQ(facts(cluster).version, "1.33");
  answers = false;
  loop.run_for(5min);
  EXPECT_EQ(facts(cluster).version, "1.33");
  EXPECT_EQ(facts(cluster).service_cidr, "10.100.0.0/16");
  EXPECT_EQ(aws.calls("GET").size(), 2U) << "once in five minutes";
  answers = true;
  version = "1.34";
  loop.run_for(5min);
  EXPECT_EQ(facts(cluster).version, "1.34");
}

// A cluster outside EKS.
class UnknownToEks : public ClusterTest {
 protected:
  UnknownToEks() {
    answers = false;
    settings.kubernetes_version.clear();
    settings.cluster_ca_bundle = "Q0E=";
    settings.ask_version = [this] { return version_of_the_api_server(); };
  }
  base::Task<base::Result<std::string>> version_of_the_api_server() { co_return version; }
};

TEST_F(UnknownToEks, TheApiServerTellsTheVersion) {
  Cluster cluster(api, settings, {});
  EXPECT_EQ(facts(cluster).version, "1.33");
  EXPECT_EQ(facts(cluster).endpoint, "https://mine");
  EXPECT_EQ(facts(cluster).ca_bundle, "Q0E=");
  EXPECT_EQ(aws.calls("GET").size(), 1U);
  version = "1.34";
  loop.run_for(5min);
  EXPECT_EQ(facts(cluster).version, "1.34");
}

TEST_F(UnknownToEks, EksIsAskedAgainSoonWhereItOnlyCouldNotAnswer) {
  refusal = 503;
  Cluster cluster(api, settings, {});
  EXPECT_EQ(facts(cluster).version, "1.33");
  EXPECT_EQ(facts(cluster).service_cidr, "");
  loop.run_for(10s);
  EXPECT_EQ(facts(cluster).service_cidr, "") << "nor the second time";
  answers = true;
  loop.run_for(10s);
  EXPECT_EQ(facts(cluster).service_cidr, "10.100.0.0/16");
}

TEST_F(UnknownToEks, NothingIsMadeUp) {
  settings.cluster_ca_bundle.clear();
  Cluster without_ca(api, settings, {});
  EXPECT_FALSE(wait(loop, without_ca.facts()));
  settings.cluster_ca_bundle = "Q0E=";
  settings.eks_control_plane = true;
  Cluster of_eks(api, settings, {});
  EXPECT_FALSE(wait(loop, of_eks.facts()));
}

}  // namespace
}  // namespace millwright::cloud::aws

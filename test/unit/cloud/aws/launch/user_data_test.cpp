#include "cloud/aws/launch/user_data.hpp"

#include "millwright/model/codec.hpp"
#include "unit/cloud/aws/fakes/fake_http.hpp"

#include <boost/json.hpp>
#include <rapidcheck/gtest.h>

namespace millwright::cloud::aws {
namespace {

using testing::HasSubstr;
using testing::Not;

Boot boot_for(Family family, std::string user_data = "") {
  Boot boot;
  boot.cluster = {.name = "demo",
                  .endpoint = "https://api.example",
                  .ca_bundle = "Q0E=",
                  .version = "1.31",
                  .service_cidr = "10.100.0.0/16",
                  .ipv6 = false,
                  .dns_address = "10.100.0.10"};
  boot.family = family;
  boot.user_data = std::move(user_data);
  boot.max_pods = 29;
  boot.labels = {{"karpenter.sh/nodepool", "default"}, {"team", "a"}};
  boot.taints = {{.key = "karpenter.sh/unregistered", .value = "", .effect = "NoExecute"},
                 {.key = "k", .value = "v", .effect = "NoSchedule"}};
  return boot;
}

std::string text(const Boot& boot) {
  const auto made = make_user_data(boot);
  return made ? *made : made.error().message;
}

TEST(UserData, Al2023IsANodeConfig) {
  auto boot = boot_for(Family::Al2023);
  boot.kubelet.all = {{"evictionHard", {{"memory.available", "200Mi"}}}};
  boot.raid0 = true;
  const auto made = text(boot);
  EXPECT_THAT(made, testing::StartsWith(
                        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n"
                        "--//\nContent-Type: application/node.eks.aws\n\n"));
  EXPECT_THAT(made, testing::EndsWith("\n--//--\n"));
  const auto begin = made.find("apiVersion");
  const auto yaml = model::parse_yaml(made.substr(begin, made.rfind("--//--") - begin));
  ASSERT_TRUE(yaml) << yaml.error().message;
  const auto expected = boost::json::parse(R"({
    "apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig",
    "spec": {
      "cluster": {"name": "demo", "apiServerEndpoint": "https://api.example",
                  "certificateAuthority": "Q0E=", "cidr": "10.100.0.0/16"},
      "kubelet": {
        "config": {"evictionHard": {"memory.available": "200Mi"}, "maxPods": 29,
                   "clusterDNS": ["10.100.0.10"],
                   "registerWithTaints": [
                     {"key": "karpenter.sh/unregistered", "effect": "NoExecute"},
                     {"key": "k", "effect": "NoSchedule", "value": "v"}]},
        "flags": ["--node-labels=karpenter.sh/nodepool=default,team=a"]},
      "instance": {"localStorage": {"strategy": "RAID0"}}}})");
  EXPECT_EQ(yaml->front(), expected) << boost::json::serialize(yaml->front());
}

TEST(UserData, Al2023GetsEveryDnsAddressOfTheKubelet) {
  auto boot = boot_for(Family::Al2023);
  boot.kubelet.cluster_dns = {"169.254.20.10", "10.100.0.10"};
  boot.kubelet.all = {{"clusterDNS", boost::json::array{"169.254.20.10", "10.100.0.10"}}};
  const auto made = text(boot);
  const auto begin = made.find("apiVersion");
  const auto yaml = model::parse_yaml(made.substr(begin, made.rfind("--//--") - begin));
  ASSERT_TRUE(yaml) << yaml.error().message;
  EXPECT_EQ(yaml->front().at_pointer("/spec/kubelet/config/clusterDNS"),
            boot.kubelet.all.at("clusterDNS"));
}

TEST(UserData, Al2023IsRefusedWithoutServiceAddresses) {
  const auto made = [](Family family, const std::string& own) {
    auto boot = boot_for(family, own);
    boot.cluster.service_cidr.clear();
    return make_user_data(boot);
  };
  const auto refused = made(Family::Al2023, "#!/bin/bash\necho cidr: 10.0.0.0/16\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::Invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("eks:DescribeCluster"));
  EXPECT_THAT(refused.error().message, HasSubstr("spec.cluster.cidr"));
  const std::string config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n";
  const auto with_cidr = config + "  cluster:\n    cidr: 10.0.0.0/16\n";
  EXPECT_TRUE(made(Family::Al2023, with_cidr));
  EXPECT_FALSE(made(Family::Al2023, config + "  kubelet: {}\n"));
  EXPECT_TRUE(made(Family::Al2023,
                   "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n"
                   "--B\nContent-Type: text/x-shellscript\n\necho hello\n"
                   "--B\nContent-Type: application/node.eks.aws; charset=us-ascii\n\n" +
                       with_cidr + "--B--\n"));
  EXPECT_TRUE(made(Family::Al2, ""));
  EXPECT_TRUE(made(Family::Bottlerocket, ""));
}

TEST(UserData, ThePersonsPartsComeFirst) {
  const auto shell = text(boot_for(Family::Al2023, "#!/bin/bash\r\necho hello\r\n"));
  EXPECT_LT(shell.find("echo hello"), shell.find("kind: NodeConfig"));
  EXPECT_THAT(shell, HasSubstr("Content-Type: text/x-shellscript; charset=\"us-ascii\"\n\n"
                               "#!/bin/bash\necho hello\n"));
  EXPECT_THAT(shell, Not(HasSubstr("\r")));

  const auto config = text(
      boot_for(Family::Al2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"));
  EXPECT_THAT(config, Not(HasSubstr("shellscript")));
  EXPECT_LT(config.find("spec: {}"), config.find("apiServerEndpoint"));

  const auto mime = text(boot_for(Family::Al2,
                                  "MIME-Version: 1.0\nContent-Type: multipart/mixed; "
                                  "boundary=\"B\"\n\n--B\nContent-Type: text/cloud-config\n\n"
                                  "packages: [a]\n--B\nContent-Type: text/x-shellscript\n\n"
                                  "echo two\n--B--\n"));
  EXPECT_THAT(mime, HasSubstr("--//\nContent-Type: text/cloud-config\n\npackages: [a]\n"));
  EXPECT_LT(mime.find("packages"), mime.find("echo two"));
  EXPECT_LT(mime.find("echo two"), mime.find("bootstrap.sh"));
  EXPECT_THAT(mime, Not(HasSubstr("--B")));
  EXPECT_THAT(text(boot_for(Family::Al2, "MIME-Version: 1.0\n\nno boundary")),
              HasSubstr("needs a boundary"));
}

TEST(UserData, Al2RunsTheBootstrapScript) {
  auto boot = boot_for(Family::Al2);
  boot.raid0 = true;
  boot.kubelet.system_reserved = {{"cpu", "100m"}};
  boot.kubelet.eviction_hard = model::StringMap{{"memory.available", "5%"}};
  EXPECT_THAT(text(boot),
              HasSubstr("/etc/eks/bootstrap.sh 'demo' --apiserver-endpoint 'https://api.example' "
                        "--b64-cluster-ca 'Q0E=' --dns-cluster-ip '10.100.0.10' "
                        "--use-max-pods false --kubelet-extra-args "
                        "'--node-labels=\"karpenter.sh/nodepool=default,team=a\" "
                        "--register-with-taints=\"karpenter.sh/unregistered=:NoExecute,"
                        "k=v:NoSchedule\" --max-pods=29 --system-reserved=\"cpu=100m\" "
                        "--eviction-hard=\"memory.available<5%\"' --local-disks raid0\n"));
  boot.cluster.ipv6 = true;
  EXPECT_THAT(text(boot), HasSubstr(" --ip-family ipv6"));
}

TEST(UserData, BottlerocketKeepsThePersonsTables) {
  auto boot = boot_for(Family::Bottlerocket,
                       "[settings.kernel]\nlockdown = \"integrity\"\n"
                       "[settings.kubernetes]\napi-server = \"theirs\"\n"
                       "cluster-domain = \"x.local\"\n"
                       "[settings.kubernetes.node-labels]\nmine = \"1\"\n");
  boot.kubelet.kube_reserved = {{"cpu", "70m"}};
  boot.kubelet.all = {{"imageGCHighThresholdPercent", 80}, {"cpuCFSQuota", false}};
  boot.taints.push_back({.key = "k", .value = "w", .effect = "NoExecute"});
  boot.raid0 = true;
  const auto made = text(boot);
  for (const auto* part :
       {"lockdown = 'integrity'", "api-server = 'https://api.example'",
        "cluster-domain = 'x.local'", "cluster-name = 'demo'", "cluster-certificate = 'Q0E='",
        "cluster-dns-ip = '10.100.0.10'", "max-pods = 29", "mine = '1'", "team = 'a'",
        "'v:NoSchedule', 'w:NoExecute'", "':NoExecute'", "cpu = '70m'",
        "image-gc-high-threshold-percent = '80'", "cpu-cfs-quota-enforced = false",
        "000-mount-instance-storage"}) {
    EXPECT_THAT(made, HasSubstr(part));
  }
  EXPECT_THAT(made, Not(HasSubstr("theirs")));
  boot.user_data = "not = = toml";
  EXPECT_THAT(text(boot), HasSubstr("spec.userData is not TOML"));
  // What the library would trip over.
  for (const auto* malformed :
       {"[\x06any", "[}", "[[,", "a.}=1", "[a.\x01]", "a = \u042b", "\u00e9 = 1",
        "a = \"b\" \u00e9", "a = [2\"\u042b\"]", "\"\\", "'''a"}) {
    boot.user_data = malformed;
    EXPECT_THAT(text(boot), HasSubstr("spec.userData is not TOML")) << malformed;
  }
  // Strings and comments may hold anything.
  boot.user_data =
      "# caf\u00e9\n[settings]\nmotd = \"\u042b \\\" # \u00e9\"\nb = '\u00e9\\'\n"
      "c = \"\"\"a \" \u00e9\n\"\"\"\n";
  EXPECT_THAT(text(boot), HasSubstr("motd = "));
}

TEST(UserData, WindowsCallsItsBootstrapScript) {
  const auto made = text(boot_for(Family::Windows2022, "Write-Host hello"));
  EXPECT_THAT(made, testing::StartsWith("<powershell>\nWrite-Host hello\n"));
  EXPECT_THAT(made, HasSubstr("-EKSClusterName 'demo' -APIServerEndpoint 'https://api.example' "
                              "-Base64ClusterCA 'Q0E=' -KubeletExtraArgs '--node-labels="));
  EXPECT_THAT(made, testing::EndsWith("-DNSClusterIP '10.100.0.10'\n</powershell>\n"));
}

TEST(UserData, CustomIsTakenAsItIs) {
  EXPECT_EQ(text(boot_for(Family::Custom, "anything at all")), "anything at all");
}

TEST(UserData, TooMuchIsRefusedBeforeEc2Does) {
  EXPECT_THAT(text(boot_for(Family::Custom, std::string(16'385, 'x'))),
              HasSubstr("EC2 takes 16384"));
  EXPECT_EQ(text(boot_for(Family::Custom, std::string(16'384, 'x'))).size(), 16'384U);
}

TEST(UserData, KubeletsMaySetOnlySomeLabels) {
  const model::StringMap labels{{"team", "a"},
                                {"karpenter.sh/nodepool", "p"},
                                {"topology.kubernetes.io/zone", "z"},
                                {"kubernetes.io/hostname", "h"},
                                {"node.kubernetes.io/x", "1"},
                                {"sub.node.kubernetes.io/y", "2"},
                                {"kubelet.kubernetes.io/z", "3"},
                                {"example.k8s.io/q", "4"},
                                {"topology.k8s.aws/zone-id", "usw2-az1"}};
  const auto kept = kubelet_labels(labels);
  EXPECT_EQ(kept, (model::StringMap{{"team", "a"},
                                    {"karpenter.sh/nodepool", "p"},
                                    {"node.kubernetes.io/x", "1"},
                                    {"sub.node.kubernetes.io/y", "2"},
                                    {"kubelet.kubernetes.io/z", "3"},
                                    {"topology.k8s.aws/zone-id", "usw2-az1"}}));
}

RC_GTEST_PROP(UserData, NoTextOfThePersonsBreaksIt, (const std::string& own)) {
  for (const auto family :
       {Family::Al2, Family::Al2023, Family::Bottlerocket, Family::Windows2022, Family::Custom}) {
    const auto made = make_user_data(boot_for(family, own));
    RC_ASSERT(made.has_value() || made.error().kind == base::ErrorKind::Invalid);
  }
}

}  // namespace
}  // namespace millwright::cloud::aws

#include "millwright/kube/config.hpp"
#include "temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace millwright::kube::test {
namespace {

using base::ErrorKind;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

// "-----BEGIN CERTIFICATE-----\nca\n-----END CERTIFICATE-----\n" and the like, in base64.
constexpr const char* kCaData =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmNhCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K";
constexpr const char* kCaPem = "-----BEGIN CERTIFICATE-----\nca\n-----END CERTIFICATE-----\n";
constexpr const char* kKeyPem =
    "-----BEGIN EC PRIVATE KEY-----\nkey\n-----END EC PRIVATE KEY-----\n";

std::string config_with(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
         "contexts:\n- name: main\n  context: {cluster: c1, user: u1, namespace: team}\n"
         "- name: bare\n  context: {cluster: c1}\n"
         "clusters:\n- name: c1\n  cluster: " +
         cluster + "\nusers:\n- name: u1\n  user: " + user + "\n";
}

TEST(Kubeconfig, InlineDataAndToken) {
  const auto config = parse_kubeconfig(
      config_with("{server: 'https://api.example:6443/k8s/', certificate-authority-data: " +
                      std::string(kCaData) + ", tls-server-name: kubernetes}",
                  "{token: abc.def}"),
      "/etc/kube");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://api.example:6443/k8s");
  EXPECT_EQ(config->tls.ca_pem, kCaPem);
  EXPECT_EQ(config->tls.server_name, "kubernetes");
  EXPECT_FALSE(config->tls.insecure_skip_verify);
  EXPECT_EQ(config->token, "abc.def");
  EXPECT_EQ(config->namespace_, "team");
}

TEST(Kubeconfig, FilesAreRelativeToIt) {
  const TempDir dir;
  std::filesystem::create_directory(dir.path("pki"));
  dir.write("pki/ca.pem", kCaPem);
  dir.write("pki/user.pem", kCaPem);
  dir.write("pki/user.key", kKeyPem);
  const auto path = dir.write(
      "config", config_with("{server: 'https://[::1]:6443', certificate-authority: pki/ca.pem}",
                            "{client-certificate: pki/user.pem, client-key: pki/user.key, "
                            "tokenFile: pki/token}"));
  const auto config = load_kubeconfig(path);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://[::1]:6443");
  EXPECT_EQ(config->tls.ca_pem, kCaPem);
  EXPECT_EQ(config->tls.certificate_pem, kCaPem);
  EXPECT_EQ(config->tls.key_pem, kKeyPem);
  EXPECT_EQ(config->token_file, dir.path("pki/token"));
}

TEST(Kubeconfig, AContextMayBeChosenAndNeedsNoUser) {
  const auto config =
      parse_kubeconfig(config_with("{server: 'http://localhost:8080'}", "{}"), ".", "bare");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->namespace_, "default");
  EXPECT_TRUE(config->token.empty());
}

TEST(Kubeconfig, ExecPlugins) {
  const auto yaml = config_with("{server: 'https://api'}", R"({exec: {
      apiVersion: client.authentication.k8s.io/v1beta1, command: bin/login, args: [get-token, "-c"],
      env: [{name: PROFILE, value: prod}], installHint: install it, provideClusterInfo: true,
      interactiveMode: IfAvailable}})");
  const auto config = parse_kubeconfig(yaml, "/etc/kube");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_TRUE(config->exec);
  EXPECT_EQ(config->exec->api_version, "client.authentication.k8s.io/v1beta1");
  EXPECT_EQ(config->exec->command, "/etc/kube/bin/login");
  EXPECT_THAT(config->exec->args, ElementsAre("get-token", "-c"));
  EXPECT_THAT(config->exec->env, ElementsAre(Pair("PROFILE", "prod")));
  EXPECT_EQ(config->exec->install_hint, "install it");
  EXPECT_TRUE(config->exec->provide_cluster_info);
}

TEST(Kubeconfig, SeveralFilesAreMergedAndTheFirstWins) {
  const TempDir dir;
  const auto first = dir.write("one",
                               "current-context: b\nclusters:\n"
                               "- {name: c, cluster: {server: 'https://one'}}\n");
  const auto second = dir.write(
      "two",
      "current-context: ignored\ncontexts:\n- {name: b, context: {cluster: c, user: u}}\n"
      "clusters:\n- {name: c, cluster: {server: 'https://two'}}\nusers:\n- {name: u, user: "
      "{username: me, password: secret}}\n");
  const auto config = load_kubeconfig(first + ":" + dir.path("missing") + ":" + second);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://one");
  EXPECT_EQ(config->username, "me");
  EXPECT_EQ(config->password, "secret");
}

TEST(Kubeconfig, AMissingFileIsNotFound) {
  EXPECT_EQ(load_kubeconfig("/nowhere/config").error().kind, ErrorKind::NotFound);
  EXPECT_EQ(load_kubeconfig("/nowhere/a:/nowhere/b").error().kind, ErrorKind::NotFound);
  EXPECT_EQ(load_kubeconfig("").error().kind, ErrorKind::NotFound);
  const TempDir dir;
  EXPECT_FALSE(load_kubeconfig(dir.path()));
}

struct Malformed {
  std::string cluster;
  std::string user;
  std::vector<std::string> message_has;
};

TEST(Kubeconfig, RefusalsNameTheEntryAndTheFieldAndNoSecret) {
  const std::string server = "server: 'https://api'";
  const std::string good = "{" + server + "}";
  const std::string exec = "{exec: {apiVersion: client.authentication.k8s.io/v1, ";
  const Malformed cases[] = {
      {"{}", "{}", {"cluster \"c1\"", "server", "missing"}},
      {"{server: 7}", "{}", {"cluster \"c1\"", "server", "not a string"}},
      {"{server: 'api:6443'}", "{}", {"server", "https://"}},
      {"{server: 'https://'}", "{}", {"server"}},
      {"{server: 'https://user@host'}", "{}", {"server"}},
      {"{server: 'https://host/?a=b'}", "{}", {"server"}},
      {"[]", "{}", {"clusters \"c1\"", "cluster"}},
      {"{" + server + ", certificate-authority-data: '!s3cret!'}",
       "{}",
       {"certificate-authority-data", "base64"}},
      {"{" + server + ", certificate-authority-data: czNjcmV0}",
       "{}",
       {"certificate-authority-data", "PEM"}},
      {"{" + server + ", certificate-authority: /nowhere/ca}",
       "{}",
       {"certificate-authority", "/nowhere/ca"}},
      {"{" + server + ", insecure-skip-tls-verify: maybe}", "{}", {"insecure-skip-tls-verify"}},
      {"{" + server + ", insecure-skip-tls-verify: true, certificate-authority-data: " +
           std::string(kCaData) + "}",
       "{}",
       {"insecure-skip-tls-verify", "exclude"}},
      {"{" + server + ", proxy-url: 'http://s3cret@proxy'}", "{}", {"proxy-url", "HTTPS_PROXY"}},
      {good, "{token: 12}", {"user \"u1\"", "token", "quotes"}},
      {good, "{token: 's3cret with space'}", {"user \"u1\"", "token"}},
      {good, "{token: \"s3cret\\nX-Evil: 1\"}", {"user \"u1\"", "token"}},
      {good, "{token: s3cret, username: me, password: s3cret}", {"username", "exclude"}},
      {good, "{password: s3cret}", {"username", "missing"}},
      {good, "{client-certificate-data: " + std::string(kCaData) + "}", {"client-key", "missing"}},
      {good, "{client-key-data: czNjcmV0}", {"client-key-data", "PRIVATE KEY"}},
      {good, "{auth-provider: {name: gcp}}", {"auth-provider", "exec plugin"}},
      {good, "{token: s3cret, as: admin}", {"user \"u1\"", "as is not supported"}},
      {good, "{exec: 7}", {"exec", "mapping"}},
      {good, "{exec: {command: x}}", {"exec", "apiVersion"}},
      {good,
       "{exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}}",
       {"exec", "apiVersion", "v1beta1"}},
      {good, exec + "args: [a]}}", {"exec", "command", "missing"}},
      {good, exec + "command: x, args: [1]}}", {"args", "string"}},
      {good, exec + "command: x, args: a}}", {"args", "list"}},
      {good, exec + "command: x, env: {A: b}}}", {"env", "list"}},
      {good, exec + "command: x, env: [{name: A}]}}", {"env"}},
      {good, exec + "command: x, env: [{name: 'A=B', value: s3cret}]}}", {"env"}},
      {good, exec + "command: x, interactiveMode: Always}}", {"interactiveMode"}},
  };
  for (const auto& one : cases) {
    const auto config = parse_kubeconfig(config_with(one.cluster, one.user), "/etc/kube");
    ASSERT_FALSE(config) << one.cluster << one.user;
    EXPECT_EQ(config.error().kind, ErrorKind::Invalid);
    for (const auto& part : one.message_has) {
      EXPECT_THAT(config.error().message, HasSubstr(part)) << one.cluster << one.user;
    }
    EXPECT_THAT(config.error().message, Not(HasSubstr("s3cret")));
  }
}

TEST(Kubeconfig, WholeFilesThatAreWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "empty"},
      {"# nothing\n", "empty"},
      {"[1, 2]", "mapping"},
      {"a: b\n---\nc: d\n", "more than one"},
      {"kind: Pod\n", "Pod"},
      {"a: [", "kubeconfig"},
      {"\t: x", "kubeconfig"},
      {"kind: Config\n", "current-context"},
      {"current-context: [a]\n", "current-context"},
      {"current-context: x\n", "\"x\" does not exist; known: none"},
      {"current-context: x\ncontexts: {}\n", "contexts is not a list"},
      {"current-context: x\ncontexts: [7]\n", "without a name"},
      {"current-context: x\ncontexts: [{name: other, context: {}}]\n", "known: other"},
      {"current-context: x\ncontexts: [{name: x}]\n", "context is missing"},
      {"current-context: x\ncontexts: [{name: x, context: {user: u}}]\n", "cluster is missing"},
      {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n",
       "cluster \"c\" does not exist"},
      {"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
       "clusters: [{name: c, cluster: {server: 'https://a'}}]\n",
       "user \"u\" does not exist"},
  };
  for (const auto& [yaml, part] : cases) {
    const auto config = parse_kubeconfig(yaml, ".");
    ASSERT_FALSE(config) << yaml;
    EXPECT_THAT(config.error().message, AllOf(HasSubstr("kubeconfig"), HasSubstr(part))) << yaml;
  }
  EXPECT_THAT(
      parse_kubeconfig(config_with("{server: 'https://a'}", "{}"), ".", "nope").error().message,
      HasSubstr("known: main, bare"));
}

class InCluster : public testing::Test {
 protected:
  base::Result<Config> read() {
    return in_cluster_config(
        [this](const std::string& name) -> std::optional<std::string> {
          const auto found = environment.find(name);
          return found == environment.end() ? std::nullopt : std::optional(found->second);
        },
        dir.path());
  }
  TempDir dir;
  std::map<std::string, std::string> environment{{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                                                 {"KUBERNETES_SERVICE_PORT", "443"}};
};

TEST_F(InCluster, ReadsTheMountedAccount) {
  dir.write("token", "t0ken\n");
  dir.write("ca.crt", kCaPem);
  dir.write("namespace", "kube-system\n");
  const auto config = read();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->token_file, dir.path("token"));
  EXPECT_EQ(config->tls.ca_pem, kCaPem);
  EXPECT_EQ(config->namespace_, "kube-system");
  environment["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(read()->server, "https://[fd00::1]:443");
}

TEST_F(InCluster, SaysWhatIsMissing) {
  EXPECT_THAT(read().error().message, HasSubstr("automountServiceAccountToken"));
  dir.write("token", "t0ken");
  EXPECT_THAT(read().error().message, HasSubstr("ca.crt"));
  dir.write("ca.crt", "not a certificate");
  EXPECT_THAT(read().error().message, HasSubstr("ca.crt"));
  environment.clear();
  EXPECT_THAT(read().error().message, HasSubstr("KUBERNETES_SERVICE_HOST"));
}

}  // namespace
}  // namespace millwright::kube::test

// `why` and `top` asked of the running program, and what kubectl says of an edit, on a real API
// server under the roles of `millwright install`.
#include "millwright/base/base64.hpp"
#include "plane/suite/fixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace millwright::plane {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Asking : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    port_ = free_port();
    cluster_ = Cluster::start({.controller = {.flags = {fmt::format("--asking-port={}", port_)}}});
    if (cluster_ != nullptr) {
      allow_asking();
    }
  }
  static void TearDownTestSuite() { cluster_.reset(); }
  void SetUp() override { ASSERT_NE(cluster_, nullptr) << "the control plane is not up"; }

  // As docs/asking.md says: the roles of the installation, and one account that may ask.
  static void allow_asking() {
    auto objects = install_objects(cluster_->plane(), {"--no-crds", "--asking-port", "8445"});
    ASSERT_TRUE(objects.has_value()) << objects.error().message;
    for (const auto& object : *objects) {
      const std::string name = text_at(object, "/metadata/name");
      if (name == "millwright-asking" || name == "millwright-viewer") {
        cluster_->apply(json::serialize(object));
      }
    }
    for (const std::string account : {"viewer", "stranger"}) {
      cluster_->kubectl({"create", "serviceaccount", account});
      write_text(token_file(account), cluster_->kubectl({"create", "token", account}));
    }
    cluster_->kubectl({"create", "clusterrolebinding", "viewers", "--clusterrole=millwright-viewer",
                       "--serviceaccount=default:viewer"});
    write_text(ca_file(),
               base::decode_base64(cluster_->controller().certificate("ca.crt")).value_or(""));
  }
  static std::string token_file(const std::string& account) {
    return cluster_->plane().directory() + "/" + account + ".token";
  }
  static std::string ca_file() { return cluster_->plane().directory() + "/asking-ca.crt"; }

  static Output ask(std::vector<std::string> arguments, const std::string& account) {
    for (const auto& each :
         {fmt::format("--server=https://localhost:{}", port_),
          "--certificate-authority=" + ca_file(), "--token-file=" + token_file(account)}) {
      arguments.push_back(each);
    }
    return run_millwright(cluster_->plane(), arguments);
  }

  inline static int port_ = 0;
  inline static std::unique_ptr<Cluster> cluster_;
};

TEST_F(Asking, TopShowsTheClusterToThoseWhoMaySeeIt) {
  cluster_->apply(node_pool("shown", "Never"));
  cluster_->apply(deployment({.name = "shop", .replicas = 6, .pool = "shown"}));
  cluster_->wait_running("shop", 6);
  cluster_->apply(deployment(
      {.name = "stuck",
       .replicas = 2,
       .pod_spec =
           "      nodeSelector: {karpenter.sh/nodepool: shown, kubernetes.io/arch: s390x}\n"}));
  const std::string node = text_at(cluster_->nodes("shown").at(0), "/metadata/name");
  Output top;
  cluster_->wait("top shows the pods that wait", seconds(30), [&] {
    top = ask({"top", "--once"}, "viewer");
    return top.text.find("stuck") != std::string::npos;
  });
  std::puts(top.text.c_str());
  EXPECT_EQ(top.exit_code, 0);
  EXPECT_THAT(top.text, AllOf(HasSubstr(node), HasSubstr("Ready"), HasSubstr("6 pods on nodes"),
                              HasSubstr("2 waiting")));

  const Output why = ask({"why", "node", node}, "viewer");
  std::puts(why.text.c_str());
  EXPECT_EQ(why.exit_code, 0);
  EXPECT_THAT(why.text, HasSubstr(node));

  const Output refused = ask({"top", "--once"}, "stranger");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.text, AllOf(HasSubstr("403"), HasSubstr("default:stranger")));
  cluster_->kubectl({"delete", "deployment", "stuck"});
  cluster_->clean_up("shop", "shown");
}

TEST_F(Asking, ApplyTellsWhatAnEditReplaces) {
  cluster_->apply(node_pool("edited", "Never"));
  cluster_->apply(deployment({.name = "edited", .replicas = 3, .pool = "edited"}));
  cluster_->wait_running("edited", 3);
  const std::size_t nodes = cluster_->nodes("edited").size();
  const Output tried = cluster_->plane().kubectl(
      {"patch", "nodepool", "edited", "--type=merge", "--dry-run=server", "-p",
       R"({"spec": {"template": {"metadata": {"labels": {"team": "shop"}}}}})"});
  std::puts(tried.text.c_str());
  EXPECT_EQ(tried.exit_code, 0);
  EXPECT_THAT(tried.text, AllOf(HasSubstr(fmt::format("this drifts {} of {}", nodes, nodes)),
                                HasSubstr("stays about the same")));
  cluster_->clean_up("edited", "edited");
}

}  // namespace
}  // namespace millwright::plane

// One control plane for the tests of a suite, with `millwright controller` wired into it as
// extender and webhook. Tests of one suite share the cluster: each uses names of its own and
// leaves nothing behind.
#pragma once

#include "plane/runner/controller.hpp"
#include "plane/runner/proxy.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millwright::plane {

inline constexpr std::string_view kNodes = "/api/v1/nodes";
inline constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
inline constexpr std::string_view kClaims = "/apis/karpenter.sh/v1/nodeclaims";
inline constexpr std::string_view kPools = "/apis/karpenter.sh/v1/nodepools";

struct ClusterOptions {
  ControllerOptions controller;
  PlaneOptions plane;
  // Given: the cloud is a process of its own, with these flags.
  std::optional<std::vector<std::string>> cloud;
  bool extender = true;  // wired into the scheduler
  // Given: stands between the controller and the API server.
  std::optional<ProxyFaults> faults;
};

// A plane with everything: the real scheduler with our extender, controller manager, kwok, us.
class Cluster {
 public:
  // Fails the current test when something does not come up.
  static std::unique_ptr<Cluster> start(ClusterOptions options = {});
  ~Cluster();

  Plane& plane() { return *plane_; }
  Controller& controller() { return *controller_; }
  Proxy& proxy() { return *proxy_; }
  CloudProcess& cloud() { return *cloud_; }  // when it was asked for
  void set_controller(std::unique_ptr<Controller> controller) {
    controller_ = std::move(controller);
  }

  // kubectl, expected to succeed.
  std::string kubectl(const std::vector<std::string>& arguments, const std::string& input = {});
  // kubectl, expected to fail.
  std::string refused(const std::vector<std::string>& arguments, const std::string& input = {});
  void apply(const std::string& yaml) { kubectl({"apply", "-f", "-"}, yaml); }

  std::vector<json::value> pods(const std::string& app);
  std::size_t running(const std::string& app);
  std::vector<json::value> nodes(const std::string& pool = {});
  std::vector<json::value> claims(const std::string& pool = {});
  // Fails the current test, with what the controller said last, when it takes longer.
  void wait(const std::string& what, seconds limit, const std::function<bool()>& seen);
  void wait_running(const std::string& app, std::size_t count, seconds limit = seconds(60));
  void wait_no_nodes(const std::string& pool, seconds limit = seconds(90));
  // Deletes the app and the pool and waits until their nodes are gone.
  void clean_up(const std::string& app, const std::string& pool);

 private:
  base::Result<> start_parts(ClusterOptions options);

  std::unique_ptr<Plane> plane_;
  std::unique_ptr<CloudProcess> cloud_;
  std::unique_ptr<Proxy> proxy_;
  std::unique_ptr<Controller> controller_;
};

// Shares a Cluster between the tests of a suite: `using ScaleUp = OnCluster<struct ScaleUpTag>`.
template <class Tag>
class OnCluster : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = Cluster::start(); }
  static void TearDownTestSuite() { cluster_.reset(); }
  void SetUp() override {
    if (cluster_ == nullptr) {
      GTEST_FAIL() << "the control plane is not up";
    }
  }
  static Cluster& cluster() { return *cluster_; }

 private:
  inline static std::unique_ptr<Cluster> cluster_;
};

// A NodePool of the kwok cloud. `extra` is YAML of the spec, indented by two.
std::string node_pool(const std::string& name, const std::string& consolidate_after = "0s",
                      const std::string& extra = {});
std::string kwok_node_class();
struct DeploymentSpec {
  std::string name;
  int replicas = 1;
  std::string cpu = "1";
  std::string pool;      // node selector; empty: none
  std::string pod_spec;  // YAML, indented by six
  std::string pod_annotations = "{}";
};
std::string deployment(const DeploymentSpec& spec);

}  // namespace millwright::plane

#include "plane/field/side.hpp"

#include "plane/runner/replica_set.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace millwright::field {
namespace {

constexpr auto kStartLimit = std::chrono::seconds(60);

std::string our_account() {
  return fmt::format("system:serviceaccount:{}:millwright", plane::kNamespace);
}

class Ours final : public Side {
 public:
  std::vector<std::string> users() const override { return {our_account()}; }
  base::Result<> start(plane::Plane& plane) override {
    auto applied = plane::apply_crds(plane);
    if (!applied) {
      return applied;
    }
    MW_TRY(controller, plane::Controller::start(plane, {}));
    controller_ = std::move(controller);
    return controller_->register_webhooks();
  }
  std::string extenders() override { return controller_->extender(); }
  std::vector<plane::Process*> processes() override { return {&controller_->process()}; }

 private:
  std::unique_ptr<plane::Controller> controller_;
};

class OurReplicas final : public Side {
 public:
  explicit OurReplicas(std::size_t replicas) : replicas_(replicas) {}

  std::vector<std::string> users() const override { return {our_account()}; }
  base::Result<> start(plane::Plane& plane) override {
    auto applied = plane::apply_crds(plane);
    if (!applied) {
      return applied;
    }
    MW_TRY(cloud, plane::CloudProcess::start(plane));
    cloud_ = std::move(cloud);
    MW_TRY(set, plane::ReplicaSet::start(
                    plane, {.replicas = replicas_, .cloud_url = cloud_->url(), .environment = {}}));
    set_ = std::move(set);
    return set_->all().front()->register_webhooks();
  }
  std::string extenders() override { return set_->extender(); }
  std::vector<plane::Process*> processes() override {
    std::vector<plane::Process*> processes;
    for (const auto& replica : set_->all()) {
      processes.push_back(&replica->process());
    }
    return processes;
  }

 private:
  std::size_t replicas_;
  std::unique_ptr<plane::CloudProcess> cloud_;
  std::unique_ptr<plane::ReplicaSet> set_;
};

class Peer final : public Side {
 public:
  explicit Peer(std::string folder) : folder_(std::move(folder)) {}

  std::vector<std::string> users() const override { return {"karpenter"}; }

  base::Result<> start(plane::Plane& plane) override {
    for (const auto& arguments :
         {std::vector<std::string>{"apply", "--server-side", "-f", folder_ + "/crds"},
          {"wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"},
          {"create", "namespace", "karpenter"}}) {
      const auto done = plane.kubectl(arguments);
      if (done.exit_code != 0) {
        return base::fail(base::ErrorKind::Invalid, done.text);
      }
    }
    const int health = plane::free_port();
    MW_TRY(
        process,
        plane::Process::start(
            {.program = folder_ + "/karpenter",
             .arguments = {},
             .environment = {{"KUBECONFIG", plane.kubeconfig_of("karpenter", {"system:masters"})},
                             {"SYSTEM_NAMESPACE", "karpenter"},
                             {"LEADER_ELECTION_NAMESPACE", "karpenter"},
                             {"LOG_LEVEL", "info"},
                             {"METRICS_PORT", std::to_string(plane::free_port())},
                             {"HEALTH_PROBE_PORT", std::to_string(health)}},
             .log = plane.directory() + "/karpenter.log",
             .input = {},
             .append_log = true}));
    process_ = std::move(process);
    const bool leads = plane::wait_until(kStartLimit, [&] {
      return !process_->running() || !plane
                                          .list(
                                              "/apis/coordination.k8s.io/v1/namespaces/"
                                              "karpenter/leases")
                                          .empty();
    });
    if (!leads || !process_->running()) {
      return base::fail(base::ErrorKind::Unavailable,
                        "Karpenter did not come up; it said:\n" + process_->log_tail());
    }
    return {};
  }
  std::vector<plane::Process*> processes() override { return {process_.get()}; }

 private:
  std::string folder_;
  std::unique_ptr<plane::Process> process_;
};

}  // namespace

std::unique_ptr<Side> make_ours(std::size_t replicas) {
  if (replicas > 1) {
    return std::make_unique<OurReplicas>(replicas);
  }
  return std::make_unique<Ours>();
}
std::unique_ptr<Side> make_peer(std::string folder) {
  return std::make_unique<Peer>(std::move(folder));
}

}  // namespace millwright::field

// The legacy manifests: Provisioners and AWSNodeTemplates, used with `kubectl create`.
#include "sandbox/stories/stage.hpp"

namespace millwright::sandbox {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const std::string kLegacyApp = "inflate";

// Both Provisioners, then, once their NodePools are Ready, the workload.
base::Task<bool> create_all(Stage& stage, std::string provisioner_file, std::string provisioner,
                            std::string workload_file) {
  const std::vector<std::string> files{"aws-legacy-default.yaml", provisioner_file};
  const std::vector<std::string> pools{"default", provisioner};
  for (const auto& file : files) {
    const bool created = co_await stage.create_file(file);
    if (!created) {
      co_return false;
    }
  }
  for (const auto& pool : pools) {
    const bool ready = co_await stage.wait_pool_ready(pool);
    if (!ready) {
      co_return false;
    }
  }
  co_return co_await stage.create_file(workload_file);
}

// ttlSecondsAfterEmpty: 30.
base::Task<void> remove_workload(Stage& stage) {
  const model::ObjectKey workload{.namespace_ = "default", .name = kLegacyApp};
  const bool removed = co_await stage.remove(model::kDeploymentResource, workload);
  if (!removed) {
    co_return;
  }
  co_await stage.wait_idle_end(kLegacyApp, seconds(30),
                               "empty nodes were kept for ttlSecondsAfterEmpty, 30 s");
}

}  // namespace

base::Task<void> tell_aws_team(Stage& stage) {
  const bool created = co_await create_all(stage, "aws-legacy-team.yaml", "team-provisioner",
                                           "aws-team-workload.yaml");
  if (!created) {
    co_return;
  }
  const bool up = co_await stage.wait(
      "the pod runs", [&stage] { return stage.running(kLegacyApp) == 1; }, minutes(10));
  if (!up) {
    co_return;
  }
  stage.expect(stage.nodes().size() == 1, "one node was bought: " + stage.nodes_text());
  for (const auto* node : stage.nodes()) {
    stage.expect(node->last->meta.label(model::kInstanceTypeLabel) == "t3.large",
                 "it is the t3.large that the pod asks for");
    stage.expect(node->last->meta.label(model::kNodePoolLabel) == "team-provisioner",
                 "it belongs to team-provisioner, not to default");
    stage.expect(node->last->meta.label("eks-immersion-team") == "team-provisioner",
                 "it carries the Provisioner's label");
  }
  co_await remove_workload(stage);
}

base::Task<void> tell_aws_weight(Stage& stage) {
  const bool created = co_await create_all(stage, "aws-legacy-weight.yaml", "weight-provisioner",
                                           "aws-weight-workload.yaml");
  if (!created) {
    co_return;
  }
  const bool up = co_await stage.wait(
      "8 pods run", [&stage] { return stage.running(kLegacyApp) == 8; }, minutes(10));
  if (!up) {
    co_return;
  }
  stage.say("bought " + stage.nodes_text());
  for (const auto* node : stage.nodes()) {
    const std::string& type = node->last->meta.label(model::kInstanceTypeLabel);
    stage.expect(type.starts_with("t") &&
                     node->last->meta.label(model::kNodePoolLabel) == "weight-provisioner",
                 "node " + node->last->meta.name + " is a " + type +
                     " of weight-provisioner, the heavier one");
  }
  co_await remove_workload(stage);
}

}  // namespace millwright::sandbox

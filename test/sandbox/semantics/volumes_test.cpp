// Attach limits, seen from outside: what is bought for pods with a volume each, and that all of
// them run although the scheduler refuses more than a CSINode admits.
#include "sandbox/semantics/semantics_fixture.hpp"

namespace millwright::test {
namespace {

constexpr int kPods = 40;

class AttachLimits : public Semantics {
 protected:
  AttachLimits()
      : Semantics([] {
          auto options = gated();
          options.world.kubelet.volume_limits = {{"disk.example.com", 25}};
          return options;
        }()) {
    create(R"(
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: late}
provisioner: disk.example.com
volumeBindingMode: WaitForFirstConsumer
)");
    create(pool("default", ""));
  }
  void create_pods(const std::string& app) {
    for (int i = 0; i < kPods; ++i) {
      const std::string name = app + "-" + std::to_string(i);
      create("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name +
             ", namespace: default}\nspec: {storageClassName: late, accessModes: "
             "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n");
      create("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
             ", namespace: default, labels: {app: " + app +
             "}}\nspec:\n  nodeSelector: {node.kubernetes.io/instance-type: "
             "c-4x-amd64-linux}\n  volumes: [{name: data, persistentVolumeClaim: {claimName: " +
             name +
             "}}]\n  containers: [{name: work, image: work, resources: {requests: "
             "{cpu: 10m}}}]\n");
    }
  }
};

TEST_F(AttachLimits, PodsBeyondTheLimitGetAnotherMachine) {
  create_pods("first");
  ASSERT_TRUE(soon([&] { return running("first") == kPods; }))
      << "nothing was known about the type, so all were planned onto one machine at first";
  EXPECT_EQ(claims(), 2U);
}

TEST_F(AttachLimits, WhatOneNodeSaidCountsForTheNextPlan) {
  create_pods("first");
  ASSERT_TRUE(soon([&] { return running("first") == kPods; }));
  create_pods("second");
  ASSERT_TRUE(soon([&] { return running("second") == kPods; }, minutes(3)));
  EXPECT_GE(claims(), 4U) << "10 go to the second node, 25 and 5 to new ones";
  EXPECT_LE(claims(), 5U) << "one more if they are planned in parts";
  for (const auto& record : nodes()) {
    EXPECT_LE(record->pods.size(), 25U) << record->name();
  }
}

}  // namespace
}  // namespace millwright::test

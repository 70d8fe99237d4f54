#include "plane/field/manifests.hpp"

#include <fmt/format.h>

namespace millwright::field {

std::string node_pool(int cpus_below, int edition) {
  return fmt::format(R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: default}}
spec:
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 0s
    budgets: [{{nodes: "100%"}}]
  template:
    metadata: {{labels: {{edition: e{1}}}}}
    spec:
      nodeClassRef: {{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}
      requirements:
      - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
      - {{key: kubernetes.io/os, operator: In, values: [linux]}}
      - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
      - {{key: karpenter.kwok.sh/instance-cpu, operator: Lt, values: ["{0}"]}}
)",
                     cpus_below, edition);
}

std::string node_class(const std::string& registration_delay) {
  return "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: "
         "default}\n" +
         (registration_delay.empty()
              ? std::string()
              : "spec: {nodeRegistrationDelay: " + registration_delay + "}\n");
}

std::string deployment(const Work& work) {
  return fmt::format(R"(apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}, namespace: default}}
spec:
  replicas: {1}
  selector: {{matchLabels: {{app: {0}}}}}
  strategy: {6}
  template:
    metadata: {{labels: {{app: {0}, edition: e{5}}}}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: registry.k8s.io/pause:3.10
        resources: {{requests: {{cpu: "{2}", memory: {3}}}}}
{4})",
                     work.name, work.replicas, work.cpu, work.memory, work.rules, work.edition,
                     work.strategy);
}

std::string job(int number) {
  return fmt::format(R"(apiVersion: batch/v1
kind: Job
metadata: {{name: batch-{0}, namespace: default}}
spec:
  completions: 20
  parallelism: 20
  backoffLimit: 1000
  template:
    metadata:
      labels: {{app: batch}}
      annotations: {{pod-complete.stage.kwok.x-k8s.io/delay: 10s}}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: registry.k8s.io/pause:3.10
        resources: {{requests: {{cpu: "1", memory: 1Gi}}}}
)",
                     number);
}

std::string kept_apart(const std::string& app) {
  return fmt::format(R"(      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            labelSelector: {{matchLabels: {{app: {}}}}}
)",
                     app);
}

std::string spread_over(const std::string& topology_key, const std::string& app) {
  return fmt::format(R"(      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: {}
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {{matchLabels: {{app: {}}}}}
)",
                     topology_key, app);
}

}  // namespace millwright::field

// The Deployment, its disruption budget, the Service that the API server and Prometheus call, the
// one that kube-scheduler calls, and the NetworkPolicy.
#include "app/install/install_parts.hpp"
#include "app/settings/real_clouds.hpp"
#include "millwright/base/version.hpp"

#include <boost/json.hpp>

namespace millwright::app::install {
namespace {

namespace json = boost::json;

json::object probe(std::string_view path) {
  return {{"httpGet", json::object{{"path", path}, {"port", "health"}}}};
}

json::object port(std::string_view name, int number) {
  return {{"name", name}, {"containerPort", number}};
}

json::array arguments(const InstallOptions& options) {
  json::array list{"controller"};
  if (!options.clouds.empty()) {
    list.push_back(json::value("--clouds=" + cloud_list(options.clouds)));
  }
  list.push_back(json::value("--simulated-clouds=" + cloud_list(options.simulated_clouds)));
  return list;
}

json::object variable_of_pod(std::string_view name, std::string_view field) {
  return {{"name", name},
          {"valueFrom", json::object{{"fieldRef", json::object{{"fieldPath", field}}}}}};
}

json::array environment(const InstallOptions& options) {
  json::array variables;
  variables.push_back(variable_of_pod("POD_NAMESPACE", "metadata.namespace"));
  if (options.mode != InstallMode::Alone) {
    variables.push_back(variable_of_pod("POD_IP", "status.podIP"));
  }
  variables.push_back(
      json::object{{"name", "SCHEDULER_WIRING"}, {"value", install_mode_name(options.mode)}});
  if (!options.cluster_name.empty()) {
    variables.push_back(json::object{{"name", "CLUSTER_NAME"}, {"value", options.cluster_name}});
  }
  if (!options.cluster_id.empty()) {
    variables.push_back(json::object{{"name", "CLUSTER_ID"}, {"value", options.cluster_id}});
  }
  if (!options.lease_namespace.empty()) {
    variables.push_back(
        json::object{{"name", "LEADER_ELECTION_NAMESPACE"}, {"value", options.lease_namespace}});
  }
  if (options.asking_port != 0) {
    variables.push_back(
        json::object{{"name", "ASKING_PORT"}, {"value", std::to_string(options.asking_port)}});
  }
  if (options.console) {
    variables.push_back(json::object{{"name", "CONSOLE"}, {"value", "true"}});
  }
  return variables;
}

// Keys are environment variables of their Secret: they stand in no argument and no manifest. Where
// the pods have an identity of their own there is no Secret.
json::array credentials(const InstallOptions& options) {
  json::array sources;
  const auto add = [&](cloud::Profile cloud, std::string_view secret) {
    if (serves(options, cloud)) {
      json::object reference{{"name", secret}, {"optional", true}};
      sources.push_back(json::object{{"secretRef", std::move(reference)}});
    }
  };
  add(cloud::Profile::Alibaba, kAlibabaSecret);
  add(cloud::Profile::Huawei, kHuaweiSecret);
  return sources;
}

json::array ports(const InstallOptions& options) {
  json::array all{port("https", kWebhookPort), port("extender", kExtenderPort),
                  port("metrics", kMetricsPort), port("health", kHealthPort)};
  if (options.asking_port != 0) {
    all.push_back(port("asking", options.asking_port));
  }
  return all;
}

json::object container(const InstallOptions& options) {
  const std::string image =
      options.image.empty() ? std::string("millwright:") + base::version() : options.image;
  json::object ready = probe("/readyz");
  ready["periodSeconds"] = 5;
  json::object alive = probe("/healthz");
  alive["initialDelaySeconds"] = 10;
  json::object program{
      {"name", kName},
      {"image", image},
      {"imagePullPolicy", "IfNotPresent"},
      {"args", arguments(options)},
      {"env", environment(options)},
      {"ports", ports(options)},
      {"livenessProbe", std::move(alive)},
      {"readinessProbe", std::move(ready)},
      {"resources", json::object{{"requests", json::object{{"cpu", "200m"}, {"memory", "256Mi"}}},
                                 {"limits", json::object{{"memory", "1Gi"}}}}},
      {"securityContext", container_security()}};
  if (auto sources = credentials(options); !sources.empty()) {
    program["envFrom"] = std::move(sources);
  }
  return program;
}

json::object pod_spec(const InstallOptions& options) {
  return {{"serviceAccountName", kName},
          {"priorityClassName", "system-cluster-critical"},
          {"securityContext", pod_security()},
          {"nodeSelector", json::object{{"kubernetes.io/os", "linux"}}},
          {"tolerations", tolerations()},
          {"affinity", affinity(kName)},
          {"containers", json::array{container(options)}}};
}

json::object service_port(std::string_view name, int number) {
  return {{"name", name}, {"port", number}, {"targetPort", name}, {"protocol", "TCP"}};
}

Document extender_service(const InstallOptions& options) {
  json::object service =
      header({"v1", "Service", std::string(controllers::kExtenderService), options.namespace_});
  service["spec"] = json::object{{"ports", json::array{service_port("extender", 443)}}};
  return {
      "The extender for kube-scheduler. Without a selector: the leader writes its own address "
      "as the one endpoint.",
      std::move(service),
      {}};
}

// Who may reach the ports of our pods. The API server and a kube-scheduler on the host network are
// no pods that a policy can select, so they are let in from anywhere. The kubelet's probes need no
// rule: a node reaches its own pods.
Document network_policy(const InstallOptions& options) {
  const auto allow = [](std::initializer_list<int> numbers, json::array from) {
    json::array ports;
    for (const int number : numbers) {
      ports.push_back(json::object{{"port", number}, {"protocol", "TCP"}});
    }
    json::object rule{{"ports", std::move(ports)}};
    if (!from.empty()) {
      rule["from"] = std::move(from);
    }
    return rule;
  };
  json::array ingress{allow({kWebhookPort, kMetricsPort}, {})};
  if (options.mode == InstallMode::Extender) {
    ingress.push_back(allow({kExtenderPort}, {}));
  } else if (options.mode == InstallMode::SecondScheduler) {
    const json::object scheduler{{"matchLabels", labels(kSchedulerName)}};
    ingress.push_back(
        allow({kExtenderPort}, json::array{json::object{{"podSelector", scheduler}}}));
  }
  json::object policy =
      header({"networking.k8s.io/v1", "NetworkPolicy", std::string(kName), options.namespace_});
  policy["spec"] = json::object{{"podSelector", json::object{{"matchLabels", labels(kName)}}},
                                {"policyTypes", strings({"Ingress"})},
                                {"ingress", std::move(ingress)}};
  return {"Besides the client certificate: who does not need a port does not reach it.",
          std::move(policy),
          {}};
}

}  // namespace

json::object pod_security() {
  return {{"runAsNonRoot", true},
          {"runAsUser", 65532},
          {"runAsGroup", 65532},
          {"seccompProfile", json::object{{"type", "RuntimeDefault"}}}};
}

json::object container_security() {
  return {{"allowPrivilegeEscalation", false},
          {"readOnlyRootFilesystem", true},
          {"capabilities", json::object{{"drop", strings({"ALL"})}}}};
}

json::object affinity(std::string_view application) {
  const json::object bought{{"key", "karpenter.sh/nodepool"}, {"operator", "DoesNotExist"}};
  const json::object term{{"matchExpressions", json::array{bought}}};
  const json::object replicas{{"labelSelector", json::object{{"matchLabels", labels(application)}}},
                              {"topologyKey", "kubernetes.io/hostname"}};
  return {{"nodeAffinity", json::object{{"requiredDuringSchedulingIgnoredDuringExecution",
                                         json::object{{"nodeSelectorTerms", json::array{term}}}}}},
          {"podAntiAffinity", json::object{{"requiredDuringSchedulingIgnoredDuringExecution",
                                            json::array{replicas}}}}};
}

json::array tolerations() {
  return json::array{json::object{{"key", "CriticalAddonsOnly"}, {"operator", "Exists"}}};
}

json::object disruption_budget(std::string_view name, const std::string& namespace_) {
  json::object budget =
      header({"policy/v1", "PodDisruptionBudget", std::string(name), namespace_, name});
  budget["spec"] = json::object{{"maxUnavailable", 1},
                                {"selector", json::object{{"matchLabels", labels(name)}}}};
  return budget;
}

Documents workload(const InstallOptions& options) {
  json::object service = header({"v1", "Service", std::string(kName), options.namespace_});
  service["spec"] = json::object{
      {"selector", labels(kName)},
      {"ports", json::array{service_port("https", 443), service_port("metrics", kMetricsPort)}}};
  json::object deployment =
      header({"apps/v1", "Deployment", std::string(kName), options.namespace_});
  deployment["spec"] = json::object{
      {"replicas", options.replicas},
      {"revisionHistoryLimit", 10},
      {"strategy", json::object{{"type", "RollingUpdate"},
                                {"rollingUpdate", json::object{{"maxUnavailable", 1}}}}},
      {"selector", json::object{{"matchLabels", labels(kName)}}},
      {"template", json::object{{"metadata", json::object{{"labels", labels(kName)}}},
                                {"spec", pod_spec(options)}}}};
  Documents documents;
  documents.push_back({"443: the webhooks for the API server; every replica answers alike.",
                       std::move(service),
                       {}});
  if (options.mode != InstallMode::Alone) {
    documents.push_back(extender_service(options));
  }
  documents.push_back(network_policy(options));
  documents.push_back({{}, disruption_budget(kName, options.namespace_), {}});
  documents.push_back(
      {"One replica leads, writes and answers kube-scheduler; the other keeps the same cluster "
       "state, answers the API server too and takes over.",
       std::move(deployment),
       {}});
  return documents;
}

}  // namespace millwright::app::install

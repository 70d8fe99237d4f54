// Makes a kube-scheduler call us: the stanza for an existing one; a second stock one where the
// control plane is closed, with the policy that sends labelled namespaces to it.
#include "app/install/install_parts.hpp"
#include "app/serving/serving.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

namespace millwright::app::install {
namespace {

namespace json = boost::json;

constexpr int kSecurePort = 10259;  // kube-scheduler's own
constexpr std::string_view kTlsDirectory = "/etc/millwright/tls";

// As a URL has it.
std::string bracketed(const std::string& host) {
  const bool is_bare_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return is_bare_v6 ? "[" + host + "]" : host;
}

// One server, two entries, because each entry has one time limit: filter may take longer than
// prioritize. Ignorable: when we do not answer, kube-scheduler schedules without us.
json::array extenders(const std::string& host, const json::object& tls) {
  const json::object common{
      {"urlPrefix", "https://" + bracketed(host) + ":443" + std::string(kExtenderPrefix)},
      {"enableHTTPS", true},
      {"tlsConfig", tls},
      {"nodeCacheCapable", true},
      {"ignorable", true}};
  json::object enforce = common;
  enforce["filterVerb"] = "filter";
  enforce["preemptVerb"] = "preempt";
  enforce["httpTimeout"] = "2s";
  json::object steer = common;
  steer["prioritizeVerb"] = "prioritize";
  steer["weight"] = 3;
  steer["httpTimeout"] = "500ms";
  return json::array{std::move(enforce), std::move(steer)};
}

std::string service_name(std::string_view service, const InstallOptions& options) {
  return std::string(service) + "." + options.namespace_ + ".svc";
}

// Of the serving certificate, whichever Service leads to it.
std::string certificate_name(const InstallOptions& options) {
  return service_name(kName, options);
}

// Files in place of data: kube-scheduler reads a client certificate that was renewed again.
json::object tls_files(const InstallOptions& options, const std::string& directory) {
  return {{"serverName", certificate_name(options)},
          {"caFile", directory + "/ca.crt"},
          {"certFile", directory + "/client.crt"},
          {"keyFile", directory + "/client.key"}};
}

// Every node is offered. By default kube-scheduler offers only a sample of a large cluster's nodes,
// and a pod for which room is reserved on a node outside the sample would wait.
json::object configuration(const InstallOptions& options) {
  const json::object tls = tls_files(options, std::string(kTlsDirectory));
  return {{"apiVersion", "kubescheduler.config.k8s.io/v1"},
          {"kind", "KubeSchedulerConfiguration"},
          {"leaderElection", json::object{{"leaderElect", true},
                                          {"resourceName", kSchedulerName},
                                          {"resourceNamespace", options.namespace_}}},
          {"percentageOfNodesToScore", 100},
          {"profiles", json::array{json::object{{"schedulerName", kSchedulerName}}}},
          {"extenders", extenders(service_name(controllers::kExtenderService, options), tls)}};
}

json::object bind(const Target& target, std::string_view role_kind, std::string_view role,
                  const InstallOptions& options) {
  json::object object = header(target);
  object["roleRef"] =
      json::object{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", role_kind}, {"name", role}};
  object["subjects"] = json::array{json::object{
      {"kind", "ServiceAccount"}, {"name", kSchedulerName}, {"namespace", options.namespace_}}};
  return object;
}

Documents permissions_of_scheduler(const InstallOptions& options) {
  constexpr std::string_view kRbacApi = "rbac.authorization.k8s.io/v1";
  const std::string name(kSchedulerName);
  const std::string& ns = options.namespace_;
  Documents documents;
  documents.push_back({{}, header({"v1", "ServiceAccount", name, ns, kSchedulerName}), {}});
  documents.push_back({"The API server's own roles for a kube-scheduler, of its own version.",
                       bind({kRbacApi, "ClusterRoleBinding", name, {}, kSchedulerName},
                            "ClusterRole", "system:kube-scheduler", options),
                       {}});
  documents.push_back({{},
                       bind({kRbacApi, "ClusterRoleBinding", name + "-volumes", {}, kSchedulerName},
                            "ClusterRole", "system:volume-scheduler", options),
                       {}});
  documents.push_back(
      {"Who may read its metrics is asked of the API server.",
       bind({kRbacApi, "RoleBinding", name + "-authentication", "kube-system", kSchedulerName},
            "Role", "extension-apiserver-authentication-reader", options),
       {}});
  json::object lease = header({kRbacApi, "Role", name, ns, kSchedulerName});
  lease["rules"] = json::array{json::object{{"apiGroups", strings({"coordination.k8s.io"})},
                                            {"resources", strings({"leases"})},
                                            {"resourceNames", strings({kSchedulerName})},
                                            {"verbs", strings({"get", "update"})}}};
  documents.push_back(
      {"The role above may create Leases, but use only the one of the control "
       "plane's scheduler.",
       std::move(lease),
       {"Which replica schedules."}});
  documents.push_back(
      {{}, bind({kRbacApi, "RoleBinding", name, ns, kSchedulerName}, "Role", name, options), {}});
  return documents;
}

json::object scheduler_container(const InstallOptions& options) {
  const auto probe = [](std::string_view path) {
    return json::object{
        {"httpGet", json::object{{"path", path}, {"port", kSecurePort}, {"scheme", "HTTPS"}}}};
  };
  const auto mount = [](std::string_view name, std::string_view path) {
    return json::object{{"name", name}, {"mountPath", path}, {"readOnly", true}};
  };
  return {
      {"name", "kube-scheduler"},
      {"image", options.scheduler_image},
      {"command", strings({"kube-scheduler", "--config=/etc/millwright/scheduler/config.yaml"})},
      {"livenessProbe", probe("/livez")},
      {"readinessProbe", probe("/readyz")},
      {"resources", json::object{{"requests", json::object{{"cpu", "100m"}, {"memory", "128Mi"}}}}},
      {"securityContext", container_security()},
      {"volumeMounts",
       json::array{mount("config", "/etc/millwright/scheduler"), mount("tls", kTlsDirectory)}}};
}

json::object scheduler_pod(const InstallOptions& options) {
  // Not the keys of the CA and of the server.
  json::array items;
  for (const char* const name : {"ca.crt", "client.crt", "client.key"}) {
    items.push_back(json::object{{"key", name}, {"path", name}});
  }
  const json::object secret{{"secretName", kCertificateSecret}, {"items", std::move(items)}};
  return {
      {"serviceAccountName", kSchedulerName},
      {"priorityClassName", "system-cluster-critical"},
      {"securityContext", pod_security()},
      {"nodeSelector", json::object{{"kubernetes.io/os", "linux"}}},
      {"tolerations", tolerations()},
      {"affinity", affinity(kSchedulerName)},
      {"containers", json::array{scheduler_container(options)}},
      {"volumes", json::array{json::object{{"name", "config"},
                                           {"configMap", json::object{{"name", kSchedulerName}}}},
                              json::object{{"name", "tls"}, {"secret", secret}}}}};
}

}  // namespace

json::object scheduler_stanza(const InstallOptions& options) {
  const json::object data{{"serverName", certificate_name(options)},
                          {"caData", options.ca_data},
                          {"certData", options.client_cert_data},
                          {"keyData", options.client_key_data}};
  const json::object tls =
      options.tls_directory.empty() ? data : tls_files(options, options.tls_directory);
  return {{"extenders", extenders(options.cluster_ip, tls)}};
}

Documents second_scheduler(const InstallOptions& options) {
  const std::string name(kSchedulerName);
  Documents documents = permissions_of_scheduler(options);
  json::object config = header({"v1", "ConfigMap", name, options.namespace_, kSchedulerName});
  config["data"] = json::object{{"config.yaml", model::to_yaml(configuration(options))}};
  documents.push_back({{}, std::move(config), {}});
  documents.push_back({{}, disruption_budget(kSchedulerName, options.namespace_), {}});
  json::object deployment =
      header({"apps/v1", "Deployment", name, options.namespace_, kSchedulerName});
  deployment["spec"] = json::object{
      {"replicas", options.replicas},
      {"selector", json::object{{"matchLabels", labels(kSchedulerName)}}},
      {"template", json::object{{"metadata", json::object{{"labels", labels(kSchedulerName)}}},
                                {"spec", scheduler_pod(options)}}}};
  documents.push_back(
      {"The stock kube-scheduler; use the image of the cluster's own minor version. "
       "Its pods wait for Secret millwright-certs, which Millwright makes.",
       std::move(deployment),
       {}});
  return documents;
}

Documents opt_in_policy() {
  const std::string name(kSchedulerName);
  constexpr std::string_view kVersion = "admissionregistration.k8s.io/v1";
  const auto condition = [](std::string_view label, std::string_view expression) {
    return json::object{{"name", label}, {"expression", expression}};
  };
  const json::object pods{{"apiGroups", strings({""})},
                          {"apiVersions", strings({"v1"})},
                          {"operations", strings({"CREATE"})},
                          {"resources", strings({"pods"})}};
  json::object policy = header({kVersion, "MutatingAdmissionPolicy", name, {}, kSchedulerName});
  const json::object selector{{"matchLabels", json::object{{kOptInLabel, "enabled"}}}};
  policy["spec"] = json::object{
      {"failurePolicy", "Ignore"},
      {"reinvocationPolicy", "Never"},
      {"matchConstraints",
       json::object{{"namespaceSelector", selector}, {"resourceRules", json::array{pods}}}},
      {"matchConditions",
       json::array{
           condition("no-scheduler-chosen",
                     "!has(object.spec.schedulerName) || object.spec.schedulerName == "
                     "'default-scheduler'"),
           condition("not-placed", "!has(object.spec.nodeName) || object.spec.nodeName == ''")}},
      {"mutations",
       json::array{json::object{
           {"patchType", "JSONPatch"},
           {"jsonPatch",
            json::object{
                {"expression", "[JSONPatch{op: 'add', path: '/spec/schedulerName', value: '" +
                                   name + "'}]"}}}}}}};
  json::object binding =
      header({kVersion, "MutatingAdmissionPolicyBinding", name, {}, kSchedulerName});
  binding["spec"] = json::object{{"policyName", name}};
  Documents documents;
  documents.push_back(
      {"Kubernetes 1.36 and later. New pods of namespaces labelled "
       "millwright.io/scheduler=enabled are scheduled by millwright-scheduler; "
       "pods that chose a scheduler of their own keep it.",
       std::move(policy),
       {}});
  documents.push_back({{}, std::move(binding), {}});
  return documents;
}

}  // namespace millwright::app::install

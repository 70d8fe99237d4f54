// How the API server ranks our requests when it has more than it can serve.
#include "app/install/install_parts.hpp"

#include <boost/json.hpp>

namespace millwright::app::install {
namespace {

namespace json = boost::json;

// What a FlowSchema says of the requests of our ServiceAccount.
struct Flow {
  std::string name;
  std::string_view level;
  int precedence = 0;  // the lowest that matches counts
  json::object rule;   // without its subjects
};

Document flow_schema(Flow flow, std::string why, const InstallOptions& options) {
  json::object object =
      header({"flowcontrol.apiserver.k8s.io/v1", "FlowSchema", std::move(flow.name), {}});
  const json::object account{{"name", kName}, {"namespace", options.namespace_}};
  json::object rule{{"subjects", json::array{json::object{{"kind", "ServiceAccount"},
                                                          {"serviceAccount", account}}}}};
  for (auto& part : flow.rule) {
    rule[part.key()] = std::move(part.value());
  }
  object["spec"] = json::object{{"priorityLevelConfiguration", json::object{{"name", flow.level}}},
                                {"matchingPrecedence", flow.precedence},
                                {"rules", json::array{std::move(rule)}}};
  return {std::move(why), std::move(object), {}};
}

}  // namespace

Documents flow_schemas(const InstallOptions& options) {
  const std::string lease_namespace =
      options.lease_namespace.empty() ? options.namespace_ : options.lease_namespace;
  const json::object leases{{"verbs", strings({"get", "create", "update"})},
                            {"apiGroups", strings({"coordination.k8s.io"})},
                            {"resources", strings({"leases"})},
                            {"namespaces", strings({lease_namespace})}};
  const json::object everything{{"verbs", strings({"*"})},
                                {"apiGroups", strings({"*"})},
                                {"resources", strings({"*"})},
                                {"clusterScope", true},
                                {"namespaces", strings({"*"})}};
  const json::object paths{{"verbs", strings({"*"})}, {"nonResourceURLs", strings({"*"})}};
  Documents documents;
  documents.push_back(
      flow_schema({.name = "millwright-leader-election",
                   .level = "leader-election",
                   .precedence = 300,
                   .rule = json::object{{"resourceRules", json::array{leases}}}},
                  "The Lease is renewed in time, however much the API server has to do.", options));
  documents.push_back(
      flow_schema({.name = std::string(kName),
                   .level = "workload-high",
                   .precedence = 1000,
                   .rule = json::object{{"resourceRules", json::array{everything}},
                                        {"nonResourceRules", json::array{paths}}}},
                  "A storm of requests by workloads does not keep nodes from being bought for "
                  "them.",
                  options));
  return documents;
}

}  // namespace millwright::app::install

// ValidatingAdmissionPolicies: what RBAC cannot say. A role lets an account patch a whole object;
// these let it change only what the program changes, so that a stolen token is worth little. They
// also keep kubelets, which may write their own Node, from writing what only the program says.
//
// Their expressions (CEL) name fields that may be missing with "?". An expression that cannot be
// evaluated refuses the request (failurePolicy Fail). Who changes what the controllers write on
// pods and Nodes changes it here, too; the plane's tests run under these policies.
#include "app/install/install_parts.hpp"
#include "app/program/simulated_nodes.hpp"
#include "millwright/model/labels.hpp"

#include <boost/json.hpp>

#include <utility>

namespace millwright::app::install {
namespace {

namespace json = boost::json;

constexpr std::string_view kAdmissionApi = "admissionregistration.k8s.io/v1";
constexpr std::string_view kControlPlaneLabel = "node-role.kubernetes.io/control-plane";
constexpr std::string_view kNothingBefore = "request.operation == 'CREATE' ? {} : ";

struct Check {
  std::string expression;
  std::string_view message;
};

struct Policy {
  std::string_view name;  // after "millwright-"
  std::string_view why;
  json::array requests;
  json::object whose;
  std::vector<std::pair<std::string_view, std::string>> variables;
  std::vector<Check> checks;
};

json::object requests_on(std::string_view group, std::string_view version, json::array operations,
                         json::array resources) {
  return {{"apiGroups", strings({group})},
          {"apiVersions", strings({version})},
          {"operations", std::move(operations)},
          {"resources", std::move(resources)}};
}

json::object of_our_account(const InstallOptions& options) {
  return {{"name", "of-millwright"},
          {"expression", "request.userInfo.username == 'system:serviceaccount:" +
                             options.namespace_ + ":" + std::string(kName) + "'"}};
}

json::object of_kubelets() {
  return {
      {"name", "of-kubelets"},
      {"expression", "has(request.userInfo.groups) && 'system:nodes' in request.userInfo.groups"}};
}

// CEL text.
std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string one_of(std::initializer_list<std::string_view> texts) {
  std::string list;
  for (const auto text : texts) {
    list.append(list.empty() ? "" : ", ").append(quoted(text));
  }
  return "[" + list + "]";
}

// A field of an object's metadata, or what stands for it where it is missing: "{}" or "[]".
std::string metadata(std::string_view object, std::string_view field, std::string_view missing) {
  std::string text(object);
  text.append(".metadata.?").append(field).append(".orValue(").append(missing).append(")");
  return text;
}

std::string metadata_is_kept(std::string_view field, std::string_view missing) {
  return metadata("object", field, missing) + " == " + metadata("oldObject", field, missing);
}

// Two maps are equal, but for the keys k that are left aside.
std::string equal_but_for(const std::string& aside, const std::string& before,
                          const std::string& now) {
  return now + ".all(k, " + aside + " || (k in " + before + " && " + before + "[k] == " + now +
         "[k])) && " + before + ".all(k, " + aside + " || k in " + now + ")";
}

Policy pods(const InstallOptions& options) {
  return {.name = "pods",
          .why =
              "On pods, Millwright's account changes nothing but the annotation that wakes them: a "
              "stolen token cannot change an image.",
          .requests = json::array{requests_on("", "v1", strings({"UPDATE"}), strings({"pods"}))},
          .whose = of_our_account(options),
          .variables = {{"annotations", metadata("object", "annotations", "{}")},
                        {"annotationsBefore", metadata("oldObject", "annotations", "{}")}},
          .checks = {
              {"object.spec == oldObject.spec", "Millwright changes nothing in the spec of a pod"},
              {metadata_is_kept("labels", "{}") + " && " + metadata_is_kept("finalizers", "[]") +
                   " && " + metadata_is_kept("ownerReferences", "[]"),
               "Millwright changes no label, finalizer or owner of a pod"},
              {equal_but_for("k == " + quoted(model::kKickAnnotation),
                             "variables.annotationsBefore", "variables.annotations"),
               "Millwright changes no annotation of a pod but millwright.io/kick"}}};
}

// A Node is ours once it is registered; its finalizer stays if somebody takes the label off.
std::string node_is_ours() {
  return quoted(model::kRegisteredLabel) + " in variables.labelsBefore || " +
         quoted(model::kTerminationFinalizer) + " in variables.finalizersBefore";
}

// Registration takes over what the NodeClaim says, whatever it is, and drops nothing.
std::vector<Check> node_metadata_checks() {
  const std::string own_label =
      "k in " +
      one_of({model::kInitializedLabel, model::kCapacityTypeLabel, model::kExcludeBalancersLabel}) +
      " || k.startsWith('karpenter.k8s.aws/')";  // the capacity reservation that has ended
  const std::string other_finalizers =
      ".filter(f, f != " + quoted(model::kTerminationFinalizer) + ")";
  const std::string kept_owners =
      ".filter(o, variables.isOurs || o.kind != 'NodeClaim').map(o, o.uid)";
  return {
      {"variables.isOurs || (" + quoted(model::kRegisteredLabel) + " in variables.labels && !(" +
           quoted(kControlPlaneLabel) + " in variables.labelsBefore))",
       "Millwright changes only Nodes that it registers, and registers none of the control plane"},
      {"variables.isOurs ? (" +
           equal_but_for(own_label, "variables.labelsBefore", "variables.labels") +
           ") : variables.labelsBefore.all(k, k in variables.labels)",
       "Millwright takes no label off a Node that it registers, and changes only its own labels "
       "afterwards"},
      {"variables.isOurs ? variables.annotations == variables.annotationsBefore : "
       "variables.annotationsBefore.all(k, k in variables.annotations)",
       "Millwright adds annotations to a Node as it registers it, and changes none afterwards"},
      {"variables.finalizers" + other_finalizers + " == variables.finalizersBefore" +
           other_finalizers,
       "Millwright changes no finalizer of a Node but karpenter.sh/termination"},
      {metadata("object", "ownerReferences", "[]") + kept_owners +
           " == " + metadata("oldObject", "ownerReferences", "[]") + kept_owners,
       "Millwright changes no owner of a Node but adds the NodeClaim that it registers it for"}};
}

std::vector<Check> node_spec_checks() {
  const auto is_among = [](std::string_view taints) {
    return "variables." + std::string(taints) +
           ".exists(u, u.key == t.key && u.effect == t.effect && u.?value.orValue('') == "
           "t.?value.orValue(''))";
  };
  const auto is_kept = [](std::string_view field, std::string_view missing) {
    const std::string text =
        "spec.?" + std::string(field) + ".orValue(" + std::string(missing) + ")";
    return "object." + text + " == oldObject." + text;
  };
  return {
      {"variables.taintsBefore.all(t, t.key in " +
           one_of({model::kDisruptedTaint, model::kUnregisteredTaint}) + " || " +
           is_among("taints") + ")",
       "Millwright takes no taint off a Node but karpenter.sh/disrupted and "
       "karpenter.sh/unregistered"},
      {"!variables.isOurs || variables.taints.all(t, (t.key == " + quoted(model::kDisruptedTaint) +
           " && t.effect == 'NoSchedule') || " + is_among("taintsBefore") + ")",
       "Millwright adds no taint to a registered Node but karpenter.sh/disrupted:NoSchedule"},
      {is_kept("unschedulable", "false") + " && " + is_kept("providerID", "''") + " && " +
           is_kept("podCIDRs", "[]"),
       "Millwright changes nothing in the spec of a Node but taints"}};
}

Policy nodes(const InstallOptions& options) {
  Policy policy{
      .name = "nodes",
      .why =
          "Millwright's account registers Nodes, and changes its own marks on those that it "
          "registered. A stolen token does no more on any Node.",
      .requests = json::array{requests_on("", "v1", strings({"UPDATE"}), strings({"nodes"}))},
      .whose = of_our_account(options),
      .variables = {{"labels", metadata("object", "labels", "{}")},
                    {"labelsBefore", metadata("oldObject", "labels", "{}")},
                    {"annotations", metadata("object", "annotations", "{}")},
                    {"annotationsBefore", metadata("oldObject", "annotations", "{}")},
                    {"finalizers", metadata("object", "finalizers", "[]")},
                    {"finalizersBefore", metadata("oldObject", "finalizers", "[]")},
                    {"taints", "object.spec.?taints.orValue([])"},
                    {"taintsBefore", "oldObject.spec.?taints.orValue([])"},
                    {"isOurs", node_is_ours()}},
      .checks = node_metadata_checks()};
  for (auto& check : node_spec_checks()) {
    policy.checks.push_back(std::move(check));
  }
  return policy;
}

// Not by the label of the registration alone: a Node that its kubelet made anew was not registered.
Policy node_deletions(const InstallOptions& options) {
  return {.name = "node-deletions",
          .why =
              "Millwright's account deletes Nodes of its NodeClaims: a stolen token deletes no "
              "other.",
          .requests = json::array{requests_on("", "v1", strings({"DELETE"}), strings({"nodes"}))},
          .whose = of_our_account(options),
          .variables = {{"labelsBefore", metadata("oldObject", "labels", "{}")},
                        {"finalizersBefore", metadata("oldObject", "finalizers", "[]")}},
          .checks = {{node_is_ours() + " || " + quoted(model::kNodePoolLabel) +
                          " in variables.labelsBefore || " + quoted(kKwokNodeLabel) +
                          " in variables.labelsBefore",
                      "Millwright deletes no Node that is not of a NodeClaim"}}};
}

Policy specs(const InstallOptions& options) {
  const std::string mark = quoted(model::kLegacyOwnerLabel);
  return {.name = "specs",
          .why =
              "Millwright's account writes NodePools and EC2NodeClasses that it makes of legacy "
              "objects, and no other spec of these kinds: a stolen token cannot change what new "
              "machines run.",
          .requests =
              json::array{requests_on("karpenter.sh", "*", strings({"CREATE", "UPDATE"}),
                                      strings({"nodepools"})),
                          requests_on("karpenter.k8s.aws", "*", strings({"CREATE", "UPDATE"}),
                                      strings({"ec2nodeclasses"})),
                          requests_on("karpenter.k8s.alibabacloud", "*",
                                      strings({"CREATE", "UPDATE"}), strings({"ecsnodeclasses"})),
                          requests_on("karpenter.alibabacloud.com", "*",
                                      strings({"CREATE", "UPDATE"}), strings({"ecsnodeclasses"})),
                          requests_on("karpenter.k8s.huawei", "*", strings({"CREATE", "UPDATE"}),
                                      strings({"ccenodeclasses"}))},
          .whose = of_our_account(options),
          .variables = {{"isTranslated", mark + " in (request.operation == 'CREATE' ? " +
                                             metadata("object", "labels", "{}") + " : " +
                                             metadata("oldObject", "labels", "{}") + ")"}},
          .checks = {{"variables.isTranslated || (request.operation == 'UPDATE' && object.spec == "
                      "oldObject.spec)",
                      "Millwright writes no spec but that of an object that it made of a legacy "
                      "one (label millwright.io/legacy-provisioner)"},
                     {"variables.isTranslated || !(" + mark + " in " +
                          metadata("object", "labels", "{}") + ")",
                      "Millwright takes over no object that somebody else made"}}};
}

Policy webhook_configurations(const InstallOptions& options) {
  std::string same = "b.name == w.name";
  for (const std::string_view field :
       {"clientConfig.?service", "clientConfig.?url", "?rules", "?matchConditions",
        "?namespaceSelector", "?objectSelector", "?failurePolicy"}) {
    same.append(" && b.").append(field).append(" == w.").append(field);
  }
  return {.name = "webhooks",
          .why =
              "Of its webhook configurations, Millwright's account changes the caBundle alone: "
              "a stolen token cannot send other objects, or elsewhere.",
          .requests = json::array{requests_on(
              "admissionregistration.k8s.io", "v1", strings({"UPDATE"}),
              strings({"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}))},
          .whose = of_our_account(options),
          .variables = {{"webhooks", "object.?webhooks.orValue([])"},
                        {"webhooksBefore", "oldObject.?webhooks.orValue([])"}},
          .checks = {{"variables.webhooks.size() == variables.webhooksBefore.size() && "
                      "variables.webhooks.all(w, variables.webhooksBefore.exists(b, " +
                          same + "))",
                      "Millwright changes nothing in its webhook configurations but the "
                      "caBundle"}}};
}

// A kubelet is told its labels as the machine is made, so a new Node may have any.
Policy kubelets_on_nodes() {
  const std::string of_others = "!(k.split('/')[0] in ['karpenter.sh', 'millwright.io'])";
  const std::string finalizer = quoted(model::kTerminationFinalizer);
  return {
      .name = "kubelets-on-nodes",
      .why = "A kubelet may write its own Node. What Millwright says there, it may not say.",
      .requests = json::array{requests_on("", "v1", strings({"CREATE", "UPDATE"}),
                                          strings({"nodes", "nodes/status"}))},
      .whose = of_kubelets(),
      .variables = {{"labels", metadata("object", "labels", "{}")},
                    {"labelsBefore",
                     std::string(kNothingBefore) + metadata("oldObject", "labels", "{}")},
                    {"annotations", metadata("object", "annotations", "{}")},
                    {"annotationsBefore",
                     std::string(kNothingBefore) + metadata("oldObject", "annotations", "{}")}},
      .checks = {{equal_but_for(of_others, "variables.annotationsBefore", "variables.annotations"),
                  "kubelets write no annotation of karpenter.sh or millwright.io"},
                 {"request.operation == 'CREATE' || (" +
                      equal_but_for(of_others, "variables.labelsBefore", "variables.labels") + ")",
                  "kubelets change no label of karpenter.sh or millwright.io once their Node is "
                  "there"},
                 {"request.operation == 'CREATE' || !(" + finalizer + " in " +
                      metadata("oldObject", "finalizers", "[]") + ") || " + finalizer + " in " +
                      metadata("object", "finalizers", "[]"),
                  "kubelets do not take off the finalizer karpenter.sh/termination"}}};
}

Policy kubelets_on_claims() {
  return {.name = "kubelets-on-claims",
          .why =
              "Kubelets write no NodeClaim, nor any other object of its group, whatever some "
              "role lets them.",
          .requests = json::array{requests_on(
              "karpenter.sh", "*", strings({"CREATE", "UPDATE", "DELETE"}), strings({"*/*"}))},
          .whose = of_kubelets(),
          .variables = {},
          .checks = {{"false", "kubelets write no objects of karpenter.sh"}}};
}

json::object spec_of(Policy policy) {
  json::object spec{
      {"failurePolicy", "Fail"},
      {"matchConstraints", json::object{{"resourceRules", std::move(policy.requests)}}},
      {"matchConditions", json::array{std::move(policy.whose)}}};
  if (!policy.variables.empty()) {
    json::array& variables = spec["variables"].emplace_array();
    for (auto& [name, expression] : policy.variables) {
      variables.push_back(json::object{{"name", name}, {"expression", expression}});
    }
  }
  json::array& validations = spec["validations"].emplace_array();
  for (auto& check : policy.checks) {
    validations.push_back(json::object{
        {"expression", check.expression}, {"message", check.message}, {"reason", "Forbidden"}});
  }
  return spec;
}

void add(Documents& documents, Policy policy) {
  const std::string name = std::string(kName).append("-").append(policy.name);
  std::string why(policy.why);
  json::object object = header({kAdmissionApi, "ValidatingAdmissionPolicy", name, {}});
  object["spec"] = spec_of(std::move(policy));
  documents.push_back({std::move(why), std::move(object), {}});
  json::object binding = header({kAdmissionApi, "ValidatingAdmissionPolicyBinding", name, {}});
  binding["spec"] = json::object{{"policyName", name}, {"validationActions", strings({"Deny"})}};
  documents.push_back({{}, std::move(binding), {}});
}

}  // namespace

Documents admission_policies(const InstallOptions& options) {
  Documents documents;
  add(documents, pods(options));
  add(documents, nodes(options));
  add(documents, node_deletions(options));
  add(documents, specs(options));
  add(documents, webhook_configurations(options));
  add(documents, kubelets_on_nodes());
  add(documents, kubelets_on_claims());
  return documents;
}

}  // namespace millwright::app::install

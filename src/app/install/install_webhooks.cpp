// The webhook configurations: defaulting and validation of our own kinds, never of pods. Their
// caBundle is left out: controllers::Certificates writes it. failurePolicy is Ignore: the CRDs' own
// rules still hold while the webhook is down.
#include "app/install/install_parts.hpp"

#include <boost/json.hpp>

namespace millwright::app::install {
namespace {

namespace json = boost::json;

json::object rule(std::string_view group, json::array versions, json::array resources) {
  return {{"apiGroups", strings({group})},
          {"apiVersions", std::move(versions)},
          {"operations", strings({"CREATE", "UPDATE"})},
          {"resources", std::move(resources)},
          {"scope", "Cluster"}};
}

json::array rules() {
  return json::array{
      rule("karpenter.sh", strings({"v1"}), strings({"nodeclaims", "nodepools"})),
      rule("karpenter.sh", strings({"v1alpha1"}), strings({"nodeoverlays"})),
      rule("karpenter.sh", strings({"v1alpha5"}), strings({"provisioners"})),
      rule("karpenter.k8s.aws", strings({"v1"}), strings({"ec2nodeclasses"})),
      rule("karpenter.k8s.aws", strings({"v1alpha1"}), strings({"awsnodetemplates"})),
      rule("karpenter.k8s.alibabacloud", strings({"v1alpha1"}), strings({"ecsnodeclasses"})),
      rule("karpenter.alibabacloud.com", strings({"v1alpha1"}), strings({"ecsnodeclasses"})),
      rule("karpenter.k8s.huawei", strings({"v1alpha1"}), strings({"ccenodeclasses"})),
      rule("karpenter.kwok.sh", strings({"v1alpha1"}), strings({"kwoknodeclasses"}))};
}

json::object condition(std::string_view name, std::string expression) {
  return {{"name", name}, {"expression", std::move(expression)}};
}

// Only NodePools have annotations that can be wrong.
constexpr std::string_view kAnnotationsChanged =
    " || (request.resource.resource == 'nodepools' && (has(object.metadata.annotations) != "
    "has(oldObject.metadata.annotations) || (has(object.metadata.annotations) && "
    "object.metadata.annotations != oldObject.metadata.annotations)))";

// Not called where nothing can become wrong: other changes of metadata alone, deleted objects, and
// writes of the controllers themselves. Defaults depend on the spec alone.
json::array conditions(std::string_view path, const InstallOptions& options) {
  std::string changed =
      "request.operation == 'CREATE' || !has(oldObject.spec) || !has(object.spec) || "
      "object.spec != oldObject.spec";
  if (path == "validate") {
    changed += kAnnotationsChanged;
  }
  return json::array{
      condition("not-our-own", "request.userInfo.username != 'system:serviceaccount:" +
                                   options.namespace_ + ":" + std::string(kName) + "'"),
      condition("not-being-deleted", "!has(object.metadata.deletionTimestamp)"),
      condition(path == "validate" ? "content-changed" : "spec-changed", std::move(changed))};
}

Document configuration(std::string_view kind, std::string_view path,
                       const InstallOptions& options) {
  json::object service{{"name", kName},
                       {"namespace", options.namespace_},
                       {"path", "/" + std::string(path)},
                       {"port", 443}};
  json::object webhook{{"name", std::string(path) + ".webhooks.millwright.io"},
                       {"admissionReviewVersions", strings({"v1"})},
                       {"clientConfig", json::object{{"service", std::move(service)}}},
                       {"failurePolicy", "Ignore"},
                       {"matchPolicy", "Equivalent"},
                       {"sideEffects", "None"},
                       {"timeoutSeconds", 3}};
  if (path == "mutate") {
    webhook["reinvocationPolicy"] = "Never";
  }
  webhook["matchConditions"] = conditions(path, options);
  webhook["rules"] = rules();
  json::object object = header({"admissionregistration.k8s.io/v1", kind, std::string(kName), {}});
  object["webhooks"] = json::array{std::move(webhook)};
  return {"The caBundle is filled in, and kept, by the program itself.", std::move(object), {}};
}

}  // namespace

Documents webhooks(const InstallOptions& options) {
  Documents documents;
  documents.push_back(configuration("MutatingWebhookConfiguration", "mutate", options));
  documents.push_back(configuration("ValidatingWebhookConfiguration", "validate", options));
  return documents;
}

}  // namespace millwright::app::install

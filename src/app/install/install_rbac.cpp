// The RBAC rules: only what the program asks of the API server, each with its reason. What is
// listed and watched comes from the list of watched kinds.
#include "app/asking/caller_rights.hpp"
#include "app/install/install_parts.hpp"
#include "app/whatif/cluster/cluster_files.hpp"
#include "millwright/cluster/watched_kinds.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <iterator>

namespace millwright::app::install {
namespace {

namespace json = boost::json;
using Texts = std::initializer_list<std::string_view>;

struct Rule {
  std::string why;
  json::array groups;
  json::array resources;
  json::array verbs;
  json::array names;   // empty: any
  json::array urls{};  // nonResourceURLs, in place of groups and resources
};

Document role(const Target& target, std::string why, const std::vector<Rule>& rules) {
  Document document{std::move(why), header(target), {}};
  json::array list;
  for (const auto& rule : rules) {
    json::object item =
        rule.urls.empty() ? json::object{{"apiGroups", rule.groups}, {"resources", rule.resources}}
                          : json::object{{"nonResourceURLs", rule.urls}};
    if (!rule.names.empty()) {
      item["resourceNames"] = rule.names;
    }
    item["verbs"] = rule.verbs;
    list.push_back(std::move(item));
    document.rule_reasons.push_back(rule.why);
  }
  document.object.as_object()["rules"] = std::move(list);
  return document;
}

struct NodeClassKind {
  std::string_view cloud;
  std::string_view group;
  std::string_view resource;
  bool is_marked = true;  // its provider has a hash and a finalizer
};
constexpr NodeClassKind kNodeClasses[] = {
    {"kwok", "karpenter.kwok.sh", "kwoknodeclasses", false},
    {"AWS", "karpenter.k8s.aws", "ec2nodeclasses"},
    {"Alibaba Cloud", "karpenter.k8s.alibabacloud", "ecsnodeclasses"},
    {"Alibaba Cloud's own provider", "karpenter.alibabacloud.com", "ecsnodeclasses"},
    {"Huawei Cloud", "karpenter.k8s.huawei", "ccenodeclasses"}};

constexpr std::string_view kLegacy = "Legacy kinds, which become NodePools and EC2NodeClasses.";

// A resource and all that it is watched for: it may be read as several kinds.
struct Watched {
  model::Resource resource;
  std::string purpose;
};

std::vector<Watched> watched_resources() {
  std::vector<Watched> all;
  cluster::for_each_watched_kind([&]<class T>(const cluster::WatchedKind<T>& kind) {
    for (const auto& resource : kind.resources) {
      const auto known = std::find_if(all.begin(), all.end(), [&](const Watched& watched) {
        return watched.resource == resource;
      });
      if (known == all.end()) {
        all.push_back({resource, std::string(kind.purpose)});
      } else {
        known->purpose.append(" ").append(kind.purpose);
      }
    }
  });
  return all;
}

// Lets `resource` be listed and watched: in a rule of the same purpose and API group, or a new one.
void add_watch(std::vector<Rule>& rules, const model::Resource& resource,
               std::string_view purpose) {
  const json::array groups = strings({resource.group});
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
    return rule.groups == groups && rule.why == purpose;
  });
  if (found != rules.end()) {
    found->resources.emplace_back(resource.plural);
    return;
  }
  rules.push_back(
      {std::string(purpose), groups, strings({resource.plural}), strings({"list", "watch"}), {}});
}

std::vector<Rule> watch_rules() {
  std::vector<Rule> rules;
  for (const auto& watched : watched_resources()) {
    add_watch(rules, watched.resource, watched.purpose);
  }
  for (const auto& node_class : kNodeClasses) {
    rules.push_back({"The NodeClasses of " + std::string(node_class.cloud) + ".",
                     strings({node_class.group}),
                     strings({node_class.resource}),
                     strings({"list", "watch"}),
                     {}});
  }
  add_watch(rules, model::kProvisionerResource, kLegacy);
  add_watch(rules, model::kAwsNodeTemplateResource, kLegacy);
  for (auto& rule : rules) {
    std::sort(rule.resources.begin(), rule.resources.end(),
              [](const auto& a, const auto& b) { return a.as_string() < b.as_string(); });
  }
  return rules;
}

std::vector<Rule> read_rules() {
  std::vector<Rule> rules = watch_rules();
  rules.push_back({"The pods that a CapacityBuffer asks for room for.",
                   strings({""}),
                   strings({"podtemplates"}),
                   strings({"get"}),
                   {}});
  rules.push_back({"The same, of a workload.",
                   strings({"apps"}),
                   strings({"deployments", "replicasets", "statefulsets"}),
                   strings({"get"}),
                   {}});
  return rules;
}

std::vector<Rule> own_kind_rules() {
  std::vector<Rule> rules{
      {"One NodeClaim per instance: created before the cloud is asked, marked and given a "
       "finalizer "
       "(patch), removed when its node is not needed; get proves one gone before its instance is "
       "ended.",
       strings({"karpenter.sh"}),
       strings({"nodeclaims"}),
       strings({"create", "delete", "get", "patch"}),
       {}},
      {"Conditions and sizes, where people and scripts look for them.",
       strings({"karpenter.sh"}),
       strings({"nodeclaims/status", "nodeoverlays/status", "nodepools/status"}),
       strings({"patch"}),
       {}},
      {"How much room a CapacityBuffer comes to, and whether it is there.",
       strings({"autoscaling.x-k8s.io"}),
       strings({"capacitybuffers/status"}),
       strings({"patch"}),
       {}},
      {"The hash annotations that drift is told by; and a legacy Provisioner becomes a NodePool of "
       "its own (server-side apply is patch, and create the first time).",
       strings({"karpenter.sh"}),
       strings({"nodepools"}),
       strings({"create", "patch"}),
       {}},
  };
  for (const auto& [cloud, group, kind, is_marked] : kNodeClasses) {
    if (is_marked) {
      const bool is_aws = group == model::kAwsNodeTemplateResource.group;
      std::string why = "Hash annotations and a finalizer of the NodeClasses of ";
      why.append(cloud).append(".");
      why.append(is_aws ? " A legacy AWSNodeTemplate becomes one (server-side apply)." : "");
      rules.push_back({std::move(why),
                       strings({group}),
                       strings({kind}),
                       is_aws ? strings({"create", "patch"}) : strings({"patch"}),
                       {}});
    }
    rules.push_back({"What the NodeClasses of " + std::string(cloud) +
                         " were resolved to, and whether they are Ready.",
                     strings({group}),
                     strings({std::string(kind) + "/status"}),
                     strings({"patch"}),
                     {}});
  }
  return rules;
}

std::vector<Rule> write_rules(const InstallOptions& options) {
  std::vector<Rule> rules = own_kind_rules();
  rules.push_back(
      {"Nodes get labels, taints and a finalizer as they register, a taint when they "
       "are chosen for removal, and go when their instance has ended.",
       strings({""}),
       strings({"nodes"}),
       strings({"delete", "patch"}),
       {}});
  if (!options.simulated_clouds.empty()) {
    rules.push_back(
        {"Only for --simulated-clouds: instances that exist in memory have no kubelet "
         "to register their Node.",
         strings({""}),
         strings({"nodes"}),
         strings({"create", "get"}),
         {}});
  }
  rules.push_back({"Draining asks the Eviction API, which keeps disruption budgets.",
                   strings({""}),
                   strings({"pods/eviction"}),
                   strings({"create"}),
                   {}});
  json::array pod_verbs = strings({"delete"});
  std::string why =
      "Past a NodeClaim's terminationGracePeriod pods that cannot be evicted are deleted in time "
      "for their own grace period.";
  if (options.mode != InstallMode::Alone) {
    pod_verbs = strings({"delete", "patch"});
    why +=
        " An annotation (patch) wakes a pod that the extender had refused; kube-scheduler tries it "
        "again at once.";
  }
  rules.push_back({why, strings({""}), strings({"pods"}), pod_verbs, {}});
  rules.push_back({"Events tell people what was done, and why something was not.",
                   strings({""}),
                   strings({"events"}),
                   strings({"create", "patch"}),
                   {}});
  rules.push_back(
      {"Our own webhook configurations, by name: the CA that the API server must trust.",
       strings({"admissionregistration.k8s.io"}),
       strings({"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}),
       strings({"get", "patch"}), strings({kName})});
  return rules;
}

json::object subject(const InstallOptions& options) {
  return {{"kind", "ServiceAccount"}, {"name", kName}, {"namespace", options.namespace_}};
}

// Binds the role of the same name to our ServiceAccount.
Document binding(const Target& target, std::string_view role_kind, const InstallOptions& options) {
  json::object object = header(target);
  object["roleRef"] = json::object{
      {"apiGroup", "rbac.authorization.k8s.io"}, {"kind", role_kind}, {"name", target.name}};
  object["subjects"] = json::array{subject(options)};
  return {{}, std::move(object), {}};
}

std::vector<Rule> shared_rules(const InstallOptions& options) {
  std::vector<Rule> rules{
      {"Read, and written again when a certificate is due.", strings({""}), strings({"secrets"}),
       strings({"get", "update"}), strings({kCertificateSecret})},
      {"Made once; a create cannot be limited to a name.",
       strings({""}),
       strings({"secrets"}),
       strings({"create"}),
       {}}};
  if (options.mode != InstallMode::Alone) {
    rules.push_back({"A scheduler calls the leader: it says here that it is called.",
                     strings({"coordination.k8s.io"}), strings({"leases"}),
                     strings({"get", "update"}), strings({controllers::kExtenderLease})});
    rules.push_back({"Made once.",
                     strings({"coordination.k8s.io"}),
                     strings({"leases"}),
                     strings({"create"}),
                     {}});
    rules.push_back({"The leader's address: where kube-scheduler's calls go.",
                     strings({"discovery.k8s.io"}), strings({"endpointslices"}),
                     strings({"get", "update"}), strings({controllers::kExtenderService})});
    rules.push_back({"Made once.",
                     strings({"discovery.k8s.io"}),
                     strings({"endpointslices"}),
                     strings({"create"}),
                     {}});
    rules.push_back({"The Service that it goes with.", strings({""}), strings({"services"}),
                     strings({"get"}), strings({controllers::kExtenderService})});
  }
  return rules;
}

constexpr std::string_view kRbac = "rbac.authorization.k8s.io/v1";

// What the asking port needs. system:auth-delegator has the same two rights, but its rules are
// the cluster's to change, and ours would grow with them.
Documents asking_permissions(const InstallOptions& options) {
  const std::vector<Rule> of_ours{{"Whose token a caller shows.",
                                   strings({"authentication.k8s.io"}),
                                   strings({"tokenreviews"}),
                                   strings({"create"}),
                                   {}},
                                  {"Whether that user may ask.",
                                   strings({"authorization.k8s.io"}),
                                   strings({"subjectaccessreviews"}),
                                   strings({"create"}),
                                   {}}};
  const Rule of_callers{
      .why = "Not a path of the API server: the right that callers are asked for.",
      .groups = {},
      .resources = {},
      .verbs = strings({"get"}),
      .names = {},
      .urls = strings({kAskingUrl})};
  Documents documents;
  documents.push_back(role({kRbac, "ClusterRole", "millwright-asking", {}},
                           "Whom the asking port answers.", of_ours));
  documents.push_back(
      role({kRbac, "ClusterRole", "millwright-viewer", {}},
           "Who may ask. Nobody has it until it is bound, with a ClusterRoleBinding: answers are "
           "about all namespaces, nodes and prices, which ClusterRole view does not show, so it is "
           "not aggregated there.",
           {of_callers}));
  documents.push_back(
      binding({kRbac, "ClusterRoleBinding", "millwright-asking", {}}, "ClusterRole", options));
  return documents;
}

}  // namespace

// The kinds of a recording, with no verb but those two: nothing is got by its name.
Documents reading_permissions() {
  std::vector<Rule> rules;
  for (const auto& resource : planned_kinds()) {
    add_watch(rules, resource, "What planning reads; neither Secrets nor ConfigMaps.");
  }
  Documents documents;
  documents.push_back(
      role({kRbac, "ClusterRole", "millwright-reader", {}},
           "What `millwright record` and `millwright controller --shadow` need, which write "
           "nothing. Nobody has it until it is bound, with a ClusterRoleBinding: see "
           "docs/asking.md.",
           rules));
  return documents;
}

Documents permissions(const InstallOptions& options) {
  const std::string lease_namespace =
      options.lease_namespace.empty() ? options.namespace_ : options.lease_namespace;
  Documents documents;
  documents.push_back(
      {{}, header({"v1", "ServiceAccount", std::string(kName), options.namespace_}), {}});
  documents.push_back(role({kRbac, "ClusterRole", "millwright-read", {}},
                           "What every replica looks at.", read_rules()));
  documents.push_back(role({kRbac, "ClusterRole", "millwright-write", {}},
                           "What the leader changes.", write_rules(options)));
  documents.push_back(role({kRbac, "Role", "millwright-certificates", options.namespace_},
                           "What the replicas share: the CA and the serving certificate, whether a "
                           "scheduler calls, and whom.",
                           shared_rules(options)));
  documents.push_back(role(
      {kRbac, "Role", "millwright-leader-election", lease_namespace},
      "Which replica leads. Karpenter's own name: in Karpenter's namespace the two take turns.",
      {{"Read and renewed.", strings({"coordination.k8s.io"}), strings({"leases"}),
        strings({"get", "update"}), strings({kLeaseName})},
       {"Made once; a create cannot be limited to a name.",
        strings({"coordination.k8s.io"}),
        strings({"leases"}),
        strings({"create"}),
        {}}}));
  for (const char* name : {"millwright-read", "millwright-write"}) {
    documents.push_back(binding({kRbac, "ClusterRoleBinding", name, {}}, "ClusterRole", options));
  }
  documents.push_back(binding({kRbac, "RoleBinding", "millwright-certificates", options.namespace_},
                              "Role", options));
  documents.push_back(binding({kRbac, "RoleBinding", "millwright-leader-election", lease_namespace},
                              "Role", options));
  if (options.asking_port != 0) {
    auto asking = asking_permissions(options);
    std::move(asking.begin(), asking.end(), std::back_inserter(documents));
  }
  return documents;
}

}  // namespace millwright::app::install

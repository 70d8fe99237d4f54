// Least privilege, derived from the calls the program makes; each rule says which. Reads are lists
// and watches (the informers of src/controllers/feed.cpp); what writes names its controller.
#include "app/install_parts.hpp"

#include <boost/json.hpp>

namespace millwright::app::install {
namespace {

namespace json = boost::json;
using Texts = std::initializer_list<std::string_view>;

struct Rule {
  std::string why;
  json::array groups;
  json::array resources;
  json::array verbs;
  json::array names;  // empty: any
};

Document role(const Target& target, std::string why, const std::vector<Rule>& rules) {
  Document document{std::move(why), header(target), {}};
  json::array list;
  for (const auto& rule : rules) {
    json::object item{{"apiGroups", rule.groups}, {"resources", rule.resources}};
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
};
constexpr NodeClassKind kNodeClasses[] = {
    {"kwok", "karpenter.kwok.sh", "kwoknodeclasses"},
    {"AWS", "karpenter.k8s.aws", "ec2nodeclasses"},
    {"Alibaba Cloud", "karpenter.k8s.alibabacloud", "ecsnodeclasses"},
    {"Huawei Cloud", "karpenter.k8s.huawei", "ccenodeclasses"}};

std::vector<Rule> read_rules() {
  const json::array look = strings({"list", "watch"});
  return {
      {"The picture of the cluster that every plan is made from.",
       strings({""}),
       strings({"namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes", "pods"}),
       look,
       {}},
      {"DaemonSets: what their pods will take of a node that does not exist yet.",
       strings({"apps"}),
       strings({"daemonsets"}),
       look,
       {}},
      {"Disruption budgets: which nodes cannot be emptied now.",
       strings({"policy"}),
       strings({"poddisruptionbudgets"}),
       look,
       {}},
      {"Volumes: where a pod can run, and when a drained node is free of them.",
       strings({"storage.k8s.io"}),
       strings({"csinodes", "storageclasses", "volumeattachments"}),
       look,
       {}},
      {"Our own kinds, and the legacy Provisioner.",
       strings({"karpenter.sh"}),
       strings({"nodeclaims", "nodeoverlays", "nodepools", "provisioners"}),
       look,
       {}},
      {"Room that is asked for before its pods are there (feature gate CapacityBuffer).",
       strings({"autoscaling.x-k8s.io"}),
       strings({"capacitybuffers"}),
       look,
       {}},
      {"The pods that such room is for.",
       strings({""}),
       strings({"podtemplates"}),
       strings({"get"}),
       {}},
      {"The same, of a workload.",
       strings({"apps"}),
       strings({"deployments", "statefulsets"}),
       strings({"get"}),
       {}},
      {"The same; and which of them makes a Deployment's pods now, when room is kept for those.",
       strings({"apps"}),
       strings({"replicasets"}),
       strings({"get", "list"}),
       {}},
      {"Whom pods are spread with that have no spread constraints (--scheduler-config).",
       strings({""}),
       strings({"replicationcontrollers", "services"}),
       look,
       {}},
      {"The same, of pods that these made.",
       strings({"apps"}),
       strings({"replicasets", "statefulsets"}),
       look,
       {}},
      {"The NodeClasses of each cloud.",
       strings({"karpenter.kwok.sh"}),
       strings({"kwoknodeclasses"}),
       look,
       {}},
      {"The same for AWS; AWSNodeTemplate is the legacy one.",
       strings({"karpenter.k8s.aws"}),
       strings({"awsnodetemplates", "ec2nodeclasses"}),
       look,
       {}},
      {"The same for Alibaba Cloud.",
       strings({"karpenter.k8s.alibabacloud"}),
       strings({"ecsnodeclasses"}),
       look,
       {}},
      {"The same for Huawei Cloud.",
       strings({"karpenter.k8s.huawei"}),
       strings({"ccenodeclasses"}),
       look,
       {}},
  };
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
  rules.push_back(
      {"Hash annotations and a finalizer of the NodeClasses of AWS. A legacy "
       "AWSNodeTemplate becomes one (server-side apply).",
       strings({"karpenter.k8s.aws"}),
       strings({"ec2nodeclasses"}),
       strings({"create", "patch"}),
       {}});
  for (const auto& [cloud, group, kind] : kNodeClasses) {
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
    rules.push_back(
        {"A scheduler keeps its connection to one replica: that one says here that it "
         "is called.",
         strings({"coordination.k8s.io"}), strings({"leases"}), strings({"get", "update"}),
         strings({controllers::kExtenderLease})});
    rules.push_back({"Made once.",
                     strings({"coordination.k8s.io"}),
                     strings({"leases"}),
                     strings({"create"}),
                     {}});
  }
  return rules;
}

constexpr std::string_view kRbac = "rbac.authorization.k8s.io/v1";

}  // namespace

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
                           "What the replicas share: the CA and the serving certificate, and "
                           "whether a scheduler calls.",
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
  return documents;
}

}  // namespace millwright::app::install

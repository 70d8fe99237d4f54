// What `millwright install` prints: that it is YAML, that the files in manifests/ are it, that the
// permissions stay small, and that the parts name each other rightly.
#include "millwright/app/install.hpp"

#include "app/whatif/cluster/cluster_files.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace millwright::app {
namespace {

namespace json = boost::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

InstallOptions in_mode(InstallMode mode) {
  InstallOptions options;
  options.mode = mode;
  return options;
}

InstallOptions only(InstallPart part) {
  InstallOptions options;
  options.part = part;
  return options;
}

std::string text_of(const InstallOptions& options) {
  const auto text = install_text(options);
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

std::vector<json::value> documents_of(const InstallOptions& options) {
  const auto documents = model::parse_yaml(text_of(options));
  EXPECT_TRUE(documents) << documents.error().message;
  return documents.value_or(std::vector<json::value>());
}

std::string at(const json::value& object, const char* pointer) {
  boost::system::error_code error;
  const auto* value = object.find_pointer(pointer, error);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::vector<json::value> of_kind(const std::vector<json::value>& documents, std::string_view kind) {
  std::vector<json::value> found;
  std::copy_if(documents.begin(), documents.end(), std::back_inserter(found),
               [&](const auto& document) { return at(document, "/kind") == kind; });
  return found;
}

// "group/resource verb[ of name]" for every permission of every role.
std::set<std::string> permissions(const InstallOptions& options) {
  std::set<std::string> all;
  const auto documents = documents_of(options);
  for (const char* kind : {"Role", "ClusterRole"}) {
    for (const auto& role : of_kind(documents, kind)) {
      for (const auto& rule : role.at("rules").as_array()) {
        std::string names;
        if (const auto* limited = rule.as_object().if_contains("resourceNames")) {
          names = " of " + json::serialize(*limited);
        }
        for (const auto& group : rule.at("apiGroups").as_array()) {
          for (const auto& resource : rule.at("resources").as_array()) {
            for (const auto& verb : rule.at("verbs").as_array()) {
              all.insert(std::string(group.as_string()) + "/" + std::string(resource.as_string()) +
                         " " + std::string(verb.as_string()) + names);
            }
          }
        }
      }
    }
  }
  return all;
}

InstallOptions with_asking_port(int port) {
  InstallOptions options;
  options.asking_port = port;
  options.crds = false;
  return options;
}

TEST(Install, FilesInManifestsAreTheGeneratedOnes) {
  const std::pair<const char*, InstallOptions> files[] = {
      {"../test/chart/testdata/install-asking.yaml", with_asking_port(8445)},
      {"install/extender.yaml", in_mode(InstallMode::Extender)},
      {"install/second-scheduler.yaml", in_mode(InstallMode::SecondScheduler)},
      {"install/alone.yaml", in_mode(InstallMode::Alone)},
      {"scheduler/extender-stanza.yaml", only(InstallPart::SchedulerStanza)},
      {"scheduler/second-scheduler.yaml", only(InstallPart::SecondScheduler)},
      {"scheduler/opt-in-policy.yaml", only(InstallPart::OptInPolicy)},
      {"install/reader.yaml", only(InstallPart::Reader)}};
  for (const auto& [name, options] : files) {
    std::ifstream file(std::string(SOURCE_ROOT "/manifests/") + name);
    std::stringstream written;
    written << file.rdbuf();
    EXPECT_TRUE(written.str() == text_of(options))
        << "manifests/" << name << " is not what `millwright install` prints; write it anew with\n"
        << "  scripts/manifests";
  }
}

TEST(Install, NothingIsPermittedTwice) {
  std::set<std::string> seen;
  for (const auto& role : of_kind(documents_of({}), "ClusterRole")) {
    for (const auto& rule : role.at("rules").as_array()) {
      if (rule.as_object().contains("resourceNames")) {
        continue;
      }
      for (const auto& resource : rule.at("resources").as_array()) {
        for (const auto& verb : rule.at("verbs").as_array()) {
          const std::string permission = json::serialize(rule.at("apiGroups")) +
                                         std::string(resource.as_string()) + " " +
                                         std::string(verb.as_string());
          EXPECT_TRUE(seen.insert(permission).second) << permission;
        }
      }
    }
  }
}

TEST(Install, EveryModeIsDocumentsOfKnownKindsInTheChosenNamespace) {
  for (const auto mode :
       {InstallMode::Extender, InstallMode::SecondScheduler, InstallMode::Alone}) {
    InstallOptions options = in_mode(mode);
    options.namespace_ = "nodes";
    const auto documents = documents_of(options);
    EXPECT_EQ(of_kind(documents, "CustomResourceDefinition").size(), 11U);
    EXPECT_EQ(of_kind(documents, "Deployment").size(),
              mode == InstallMode::SecondScheduler ? 2U : 1U);
    for (const auto& document : documents) {
      const auto space = at(document, "/metadata/namespace");
      EXPECT_TRUE(space.empty() || space == "nodes" || space == "kube-system") << document;
    }
    EXPECT_THAT(text_of(options), Not(HasSubstr("millwright-system")));
  }
}

TEST(Install, OurRequestsHaveARankOfTheirOwnAtTheApiServer) {
  InstallOptions options;
  options.namespace_ = "nodes";
  options.lease_namespace = "kube-system";
  const auto schemas = of_kind(documents_of(options), "FlowSchema");
  ASSERT_EQ(schemas.size(), 2U);
  for (const auto& schema : schemas) {
    EXPECT_EQ(at(schema, "/spec/rules/0/subjects/0/serviceAccount/namespace"), "nodes");
    EXPECT_EQ(at(schema, "/spec/rules/0/subjects/0/serviceAccount/name"), "millwright");
  }
  EXPECT_EQ(at(schemas[0], "/spec/priorityLevelConfiguration/name"), "leader-election");
  EXPECT_EQ(at(schemas[0], "/spec/rules/0/resourceRules/0/namespaces/0"), "kube-system");
  EXPECT_EQ(at(schemas[1], "/spec/priorityLevelConfiguration/name"), "workload-high");
  EXPECT_LT(schemas[0].at_pointer("/spec/matchingPrecedence").to_number<int>(),
            schemas[1].at_pointer("/spec/matchingPrecedence").to_number<int>());
}

// A policy without a binding, or one that only warns, protects nothing.
TEST(Install, EveryAdmissionPolicyIsBoundAndRefuses) {
  for (const auto mode :
       {InstallMode::Extender, InstallMode::SecondScheduler, InstallMode::Alone}) {
    const auto documents = documents_of(in_mode(mode));
    std::set<std::string> bound;
    for (const auto& binding : of_kind(documents, "ValidatingAdmissionPolicyBinding")) {
      EXPECT_EQ(binding.at_pointer("/spec/validationActions"), json::value(json::array{"Deny"}));
      bound.insert(at(binding, "/spec/policyName"));
    }
    std::set<std::string> policies;
    for (const auto& policy : of_kind(documents, "ValidatingAdmissionPolicy")) {
      policies.insert(at(policy, "/metadata/name"));
      EXPECT_EQ(at(policy, "/spec/failurePolicy"), "Fail");
      for (const auto& check : policy.at_pointer("/spec/validations").as_array()) {
        EXPECT_NE(at(check, "/message"), "");
        EXPECT_EQ(at(check, "/reason"), "Forbidden");
      }
    }
    EXPECT_EQ(policies.size(), 7U);
    EXPECT_EQ(policies, bound);
  }
}

TEST(Install, AdmissionPoliciesAreAboutOurAccountOrKubelets) {
  InstallOptions options;
  options.namespace_ = "nodes";
  int own = 0;
  int of_kubelets = 0;
  for (const auto& policy : of_kind(documents_of(options), "ValidatingAdmissionPolicy")) {
    ASSERT_EQ(policy.at_pointer("/spec/matchConditions").as_array().size(), 1U);
    const std::string whose = at(policy, "/spec/matchConditions/0/expression");
    const bool is_own =
        whose == "request.userInfo.username == 'system:serviceaccount:nodes:millwright'";
    own += is_own ? 1 : 0;
    of_kubelets += whose.ends_with("'system:nodes' in request.userInfo.groups") ? 1 : 0;
  }
  EXPECT_EQ(own, 5);
  EXPECT_EQ(of_kubelets, 2);
}

// What a role of ours lets be patched as a whole, a policy limits.
TEST(Install, WhatOthersOwnIsLimitedByAPolicyWhereWeMayPatchIt) {
  const auto documents = documents_of({});
  std::set<std::string> limited;
  for (const auto& policy : of_kind(documents, "ValidatingAdmissionPolicy")) {
    if (at(policy, "/spec/matchConditions/0/name") != "of-millwright") {
      continue;
    }
    for (const auto& rule : policy.at_pointer("/spec/matchConstraints/resourceRules").as_array()) {
      for (const auto& resource : rule.at("resources").as_array()) {
        limited.insert(at(rule, "/apiGroups/0") + "/" + std::string(resource.as_string()));
      }
    }
  }
  // NodeClaims are made by the program, and Events are its own.
  const std::set<std::string> own{"karpenter.sh/nodeclaims", "/events"};
  for (const auto& permission : permissions({})) {
    const auto verb = permission.find(" patch");
    const std::string resource = permission.substr(0, verb);
    if (verb != std::string::npos && !resource.ends_with("/status") && !own.contains(resource)) {
      EXPECT_THAT(limited, Contains(resource));
    }
  }
}

TEST(Install, WithoutDefinitionsNothingThatIsDeletedTakesNodesAlong) {
  InstallOptions options;
  options.crds = false;
  EXPECT_THAT(of_kind(documents_of(options), "CustomResourceDefinition"), IsEmpty());
}

TEST(Install, ANamespaceOfTheClusterIsNotOursToLabel) {
  InstallOptions options;
  options.namespace_ = "kube-system";
  EXPECT_THAT(of_kind(documents_of(options), "Namespace"), IsEmpty());
}

TEST(Install, NoPermissionIsAWildcardOrReachesSecretsOfOthers) {
  for (const auto mode :
       {InstallMode::Extender, InstallMode::SecondScheduler, InstallMode::Alone}) {
    for (const auto& permission : permissions(in_mode(mode))) {
      EXPECT_THAT(permission, Not(HasSubstr("*")));
      EXPECT_THAT(permission, Not(HasSubstr("impersonate")));
      EXPECT_THAT(permission, Not(HasSubstr("rbac.authorization.k8s.io")));
    }
    for (const auto& role : of_kind(documents_of(in_mode(mode)), "ClusterRole")) {
      EXPECT_THAT(json::serialize(role), Not(HasSubstr("secrets")));
    }
  }
}

// Every permission on a custom kind is on one that a definition here describes.
TEST(Install, NoPermissionIsOnAKindThatDoesNotExist) {
  const auto documents = documents_of({});
  std::set<std::string> known;
  for (const auto& crd : of_kind(documents, "CustomResourceDefinition")) {
    known.insert(at(crd, "/spec/group") + "/" + at(crd, "/spec/names/plural"));
  }
  int checked = 0;
  for (const auto& permission : permissions({})) {
    if (!permission.starts_with("karpenter.")) {
      continue;
    }
    const auto end = permission.find_first_of(" /", permission.find('/') + 1);
    EXPECT_THAT(known, Contains(permission.substr(0, end))) << permission;
    ++checked;
  }
  EXPECT_GT(checked, 20);
}

TEST(Install, RightsToReviewCallersAreThereWhereTheAskingPortIs) {
  EXPECT_THAT(text_of({}), Not(HasSubstr("tokenreviews")));
  EXPECT_THAT(text_of({}), Not(HasSubstr("ASKING_PORT")));
  const auto options = with_asking_port(9445);
  const auto documents = documents_of(options);
  std::map<std::string, json::value> roles;
  for (const auto& role : of_kind(documents, "ClusterRole")) {
    roles[at(role, "/metadata/name")] = role.at("rules");
    EXPECT_THAT(json::serialize(role), Not(HasSubstr("aggregate-to")));
  }
  EXPECT_EQ(roles["millwright-asking"], model::parse_json(R"([
      {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
      {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"],
       "verbs": ["create"]}])")
                                            .value());
  EXPECT_EQ(
      roles["millwright-viewer"],
      model::parse_json(R"([{"nonResourceURLs": ["/millwright"], "verbs": ["get"]}])").value());
  std::set<std::string> bound;
  for (const auto& binding : of_kind(documents, "ClusterRoleBinding")) {
    bound.insert(at(binding, "/roleRef/name"));
  }
  EXPECT_THAT(bound, Contains("millwright-asking"));
  EXPECT_THAT(bound, Not(Contains("millwright-viewer"))) << "who may ask is for people to say";
  EXPECT_THAT(text_of(options), HasSubstr("- name: ASKING_PORT\n          value: \"9445\"\n"));
  EXPECT_THAT(text_of(options), HasSubstr("- name: asking\n          containerPort: 9445\n"));
}

TEST(Install, AReaderMayListAndWatchWhatIsRecordedAndNothingElse) {
  const auto roles = of_kind(documents_of(only(InstallPart::Reader)), "ClusterRole");
  ASSERT_EQ(roles.size(), 1);
  EXPECT_EQ(at(roles.front(), "/metadata/name"), "millwright-reader");
  EXPECT_EQ(documents_of(only(InstallPart::Reader)).size(), 1) << "nobody has it by itself";
  std::set<std::string> resources;
  for (const auto& rule : roles.front().at("rules").as_array()) {
    EXPECT_EQ(rule.at("verbs"), json::value({"list", "watch"}));
    for (const auto& resource : rule.at("resources").as_array()) {
      resources.insert(std::string(rule.at("apiGroups").as_array().front().as_string()) + "/" +
                       std::string(resource.as_string()));
    }
  }
  std::set<std::string> recorded;
  for (const auto& resource : planned_kinds()) {
    recorded.insert(std::string(resource.group) + "/" + std::string(resource.plural));
  }
  EXPECT_EQ(resources, recorded);
}

TEST(Install, AnAskingPortThatCannotBeOpenedIsRefused) {
  for (const int port : {-1, 65536, 8443, 8080}) {
    const auto text = install_text(with_asking_port(port));
    ASSERT_FALSE(text) << port;
    EXPECT_THAT(text.error().message, HasSubstr("--asking-port must"));
  }
}

TEST(Install, TheConsoleNeedsTheAskingPort) {
  InstallOptions options;
  options.console = true;
  const auto refused = install_text(options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--console needs --asking-port"));
  options.asking_port = 8445;
  EXPECT_THAT(text_of(options), HasSubstr("- name: CONSOLE\n          value: \"true\"\n"));
  EXPECT_THAT(text_of(with_asking_port(8445)), Not(HasSubstr("CONSOLE")));
}

TEST(Install, EachRuleSaysWhyItIsNeeded) {
  const std::string text = text_of(with_asking_port(8445));
  std::istringstream lines(text);
  std::string line;
  std::string before;
  int rules = 0;
  while (std::getline(lines, line)) {
    if (line == "- apiGroups:" || line == "- nonResourceURLs:") {
      ++rules;
      EXPECT_TRUE(before.starts_with("# ")) << "no reason above a rule, but: " << before;
    }
    before = line;
  }
  EXPECT_GT(rules, 15);
}

TEST(Install, PodsAreOnlyAnnotatedWhereAnExtenderRefusesThem) {
  EXPECT_THAT(permissions(in_mode(InstallMode::Extender)), Contains("/pods patch"));
  EXPECT_THAT(permissions(in_mode(InstallMode::SecondScheduler)), Contains("/pods patch"));
  EXPECT_THAT(permissions(in_mode(InstallMode::Alone)), Not(Contains("/pods patch")));
}

TEST(Install, NodesAreOnlyCreatedForSimulatedClouds) {
  InstallOptions options;
  EXPECT_THAT(permissions(options), Contains("/nodes create"));
  options.simulated_clouds.clear();
  EXPECT_THAT(permissions(options), Not(Contains("/nodes create")));
  EXPECT_THAT(text_of(options), HasSubstr("--simulated-clouds="));
}

TEST(Install, ARealCloudIsNamedWithItsCluster) {
  InstallOptions options;
  options.clouds = {cloud::Profile::Aws};
  options.cluster_name = "prod";
  options.simulated_clouds.clear();
  EXPECT_THAT(text_of(options), HasSubstr("- \"--clouds=aws\"\n"));
  EXPECT_THAT(text_of(options), HasSubstr("- name: CLUSTER_NAME\n          value: prod\n"));
  EXPECT_THAT(text_of({}), Not(HasSubstr("--clouds")));
}

// The keys come from Secrets, by the names and the keys of the charts people come from.
TEST(Install, TheKeysOfACloudComeFromItsSecret) {
  InstallOptions options;
  EXPECT_THAT(text_of(options), Not(HasSubstr("secretRef")));
  options.simulated_clouds.clear();
  options.clouds = {cloud::Profile::Aws, cloud::Profile::Alibaba, cloud::Profile::Huawei};
  options.cluster_name = "prod";
  options.cluster_id = "c0123";
  const auto documents = documents_of(options);
  const auto deployment = of_kind(documents, "Deployment").at(0);
  const auto& container = deployment.at_pointer("/spec/template/spec/containers/0");
  EXPECT_EQ(container.at("args"),
            json::value({"controller", "--clouds=aws,alibaba,huawei", "--simulated-clouds="}));
  EXPECT_EQ(container.at("envFrom"), model::parse_json(R"([
      {"secretRef": {"name": "alibabacloud-credentials", "optional": true}},
      {"secretRef": {"name": "huawei-credentials", "optional": true}}])")
                                         .value());
  EXPECT_THAT(text_of(options), HasSubstr("- name: CLUSTER_ID\n          value: c0123\n"));
  options.clouds = {cloud::Profile::Huawei};
  EXPECT_THAT(text_of(options), Not(HasSubstr("alibabacloud-credentials")));
}

// Their adapters have hashes and finalizers, which are written into the object itself.
TEST(Install, NodeClassesOfEachRealCloudMayBeMarked) {
  const auto granted = permissions({});
  for (const char* kind :
       {"karpenter.k8s.aws/ec2nodeclasses", "karpenter.k8s.alibabacloud/ecsnodeclasses",
        "karpenter.alibabacloud.com/ecsnodeclasses", "karpenter.k8s.huawei/ccenodeclasses"}) {
    EXPECT_THAT(granted, Contains(std::string(kind) + " patch"));
    EXPECT_THAT(granted, Contains(std::string(kind) + "/status patch"));
  }
}

// Whatever may be patched is kept by a policy from being changed otherwise.
TEST(Install, NoSpecOfANodeClassMayBeChanged) {
  for (const auto& policy : of_kind(documents_of({}), "ValidatingAdmissionPolicy")) {
    if (at(policy, "/metadata/name") != "millwright-specs") {
      continue;
    }
    const auto text = json::serialize(policy.at_pointer("/spec/matchConstraints"));
    for (const char* kind : {"nodepools", "ec2nodeclasses", "karpenter.k8s.alibabacloud",
                             "karpenter.alibabacloud.com", "ccenodeclasses"}) {
      EXPECT_THAT(text, HasSubstr(kind));
    }
    return;
  }
  FAIL() << "there is no policy millwright-specs";
}

TEST(Install, TheLeaseMayLiveInKarpentersNamespace) {
  InstallOptions options;
  options.lease_namespace = "kube-system";
  int found = 0;
  const auto documents = documents_of(options);
  for (const char* kind : {"Role", "RoleBinding"}) {
    for (const auto& object : of_kind(documents, kind)) {
      if (at(object, "/metadata/name") == "millwright-leader-election") {
        ++found;
        EXPECT_EQ(at(object, "/metadata/namespace"), "kube-system");
      }
    }
  }
  EXPECT_EQ(found, 2);
  EXPECT_THAT(text_of(options), HasSubstr("name: LEADER_ELECTION_NAMESPACE\n"));
}

// Every object that another names is there: ServiceAccounts, roles, ports, ConfigMaps.
TEST(Install, BindingsNameRolesAndAccountsThatAreThere) {
  const auto documents = documents_of(in_mode(InstallMode::SecondScheduler));
  std::set<std::string> there;
  for (const auto& document : documents) {
    there.insert(at(document, "/kind") + "/" + at(document, "/metadata/name"));
  }
  const std::set<std::string> of_the_cluster{"ClusterRole/system:kube-scheduler",
                                             "ClusterRole/system:volume-scheduler",
                                             "Role/extension-apiserver-authentication-reader"};
  for (const char* kind : {"RoleBinding", "ClusterRoleBinding"}) {
    for (const auto& binding : of_kind(documents, kind)) {
      const auto role = at(binding, "/roleRef/kind") + "/" + at(binding, "/roleRef/name");
      EXPECT_TRUE(there.contains(role) || of_the_cluster.contains(role)) << role;
      EXPECT_THAT(there, Contains("ServiceAccount/" + at(binding, "/subjects/0/name")));
    }
  }
  for (const auto& deployment : of_kind(documents, "Deployment")) {
    const auto account = at(deployment, "/spec/template/spec/serviceAccountName");
    EXPECT_THAT(there, Contains("ServiceAccount/" + account));
    EXPECT_EQ(deployment.at_pointer("/spec/selector/matchLabels"),
              deployment.at_pointer("/spec/template/metadata/labels"));
  }
}

TEST(Install, TheServicesSelectorAndPortsAreTheDeployments) {
  const auto documents = documents_of({});
  const auto service = of_kind(documents, "Service").at(0);
  const auto deployment = of_kind(documents, "Deployment").at(0);
  EXPECT_EQ(service.at_pointer("/spec/selector"),
            deployment.at_pointer("/spec/template/metadata/labels"));
  std::set<std::string> opened;
  for (const auto& port :
       deployment.at_pointer("/spec/template/spec/containers/0/ports").as_array()) {
    opened.insert(at(port, "/name"));
  }
  for (const auto& port : service.at_pointer("/spec/ports").as_array()) {
    EXPECT_THAT(opened, Contains(at(port, "/targetPort")));
  }
  for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
    const auto configuration = of_kind(documents, kind).at(0);
    EXPECT_EQ(at(configuration, "/webhooks/0/clientConfig/service/name"),
              at(service, "/metadata/name"));
    EXPECT_EQ(at(configuration, "/webhooks/0/failurePolicy"), "Ignore");
  }
}

// The leader alone is behind the extender's Service: no selector may add the others.
TEST(Install, KubeSchedulerIsLedToTheLeader) {
  for (const auto mode :
       {InstallMode::Extender, InstallMode::SecondScheduler, InstallMode::Alone}) {
    const bool called = mode != InstallMode::Alone;
    const auto documents = documents_of(in_mode(mode));
    int services = 0;
    for (const auto& service : of_kind(documents, "Service")) {
      if (at(service, "/metadata/name") == "millwright-extender") {
        ++services;
        EXPECT_FALSE(service.at("spec").as_object().contains("selector"));
        EXPECT_EQ(at(service, "/spec/ports/0/name"), "extender");
      }
    }
    EXPECT_EQ(services, called ? 1 : 0);
    const auto text = json::serialize(of_kind(documents, "Deployment").at(0));
    EXPECT_EQ(text.find("status.podIP") != std::string::npos, called);
    const auto granted = permissions(in_mode(mode));
    for (const char* permission :
         {"discovery.k8s.io/endpointslices get of [\"millwright-extender\"]",
          "discovery.k8s.io/endpointslices update of [\"millwright-extender\"]",
          "discovery.k8s.io/endpointslices create", "/services get of [\"millwright-extender\"]"}) {
      EXPECT_EQ(granted.contains(permission), called) << permission;
    }
    for (const auto& role : of_kind(documents, "ClusterRole")) {
      EXPECT_THAT(json::serialize(role), Not(HasSubstr("endpointslices")));
    }
  }
}

TEST(Install, PodsMeetTheRestrictedLevel) {
  for (const auto& deployment :
       of_kind(documents_of(in_mode(InstallMode::SecondScheduler)), "Deployment")) {
    const auto& pod = deployment.at_pointer("/spec/template/spec");
    EXPECT_TRUE(pod.at_pointer("/securityContext/runAsNonRoot").as_bool());
    EXPECT_EQ(at(pod, "/securityContext/seccompProfile/type"), "RuntimeDefault");
    const auto& container = pod.at_pointer("/containers/0/securityContext");
    EXPECT_FALSE(container.at("allowPrivilegeEscalation").as_bool());
    EXPECT_EQ(container.at_pointer("/capabilities/drop"), json::value(json::array{"ALL"}));
    EXPECT_EQ(pod.as_object().if_contains("hostNetwork"), nullptr);
  }
}

// Paths of the Secret's files in the second scheduler's container.
std::vector<std::string> mounted_files(const std::vector<json::value>& documents) {
  const auto deployment = of_kind(documents, "Deployment").at(1);
  const auto& pod = deployment.at_pointer("/spec/template/spec");
  std::string directory;
  for (const auto& mount : pod.at_pointer("/containers/0/volumeMounts").as_array()) {
    directory = at(mount, "/name") == "tls" ? at(mount, "/mountPath") : directory;
  }
  std::vector<std::string> files;
  for (const auto& volume : pod.at("volumes").as_array()) {
    if (at(volume, "/name") == "tls") {
      for (const auto& item : volume.at_pointer("/secret/items").as_array()) {
        files.push_back(directory + "/" + at(item, "/path"));
      }
    }
  }
  return files;
}

TEST(Install, TheSecondSchedulerSeesNoKeyButItsOwn) {
  EXPECT_THAT(mounted_files(documents_of(in_mode(InstallMode::SecondScheduler))),
              ::testing::ElementsAre("/etc/millwright/tls/ca.crt", "/etc/millwright/tls/client.crt",
                                     "/etc/millwright/tls/client.key"));
}

TEST(Install, TheExtendersPortIsOpenToWhoeverCallsIt) {
  const auto rules_for = [](InstallMode mode) {
    const auto policy = of_kind(documents_of(in_mode(mode)), "NetworkPolicy").at(0);
    std::vector<json::value> rules;
    for (const auto& rule : policy.at_pointer("/spec/ingress").as_array()) {
      if (json::serialize(rule).find("8444") != std::string::npos) {
        rules.push_back(rule);
      }
    }
    return rules;
  };
  EXPECT_THAT(rules_for(InstallMode::Alone), IsEmpty());
  const auto anybody = rules_for(InstallMode::Extender);
  ASSERT_EQ(anybody.size(), 1U);
  EXPECT_EQ(anybody[0].as_object().if_contains("from"), nullptr);
  const auto second = rules_for(InstallMode::SecondScheduler);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].at_pointer("/from/0/podSelector/matchLabels"),
            of_kind(documents_of(in_mode(InstallMode::SecondScheduler)), "Deployment")
                .at(1)
                .at_pointer("/spec/template/metadata/labels"));
}

TEST(Install, TheSecondSchedulersConfigurationIsYamlThatCallsOurService) {
  const auto documents = documents_of(in_mode(InstallMode::SecondScheduler));
  const auto text = at(of_kind(documents, "ConfigMap").at(0), "/data/config.yaml");
  const auto config = model::parse_yaml(text);
  ASSERT_TRUE(config) << config.error().message;
  const auto& extenders = config->at(0).at("extenders").as_array();
  ASSERT_EQ(extenders.size(), 2U);
  for (const auto& extender : extenders) {
    EXPECT_EQ(at(extender, "/urlPrefix"),
              "https://millwright-extender.millwright-system.svc:443/scheduler");
    EXPECT_TRUE(extender.at("nodeCacheCapable").as_bool());
    EXPECT_TRUE(extender.at("ignorable").as_bool());
    EXPECT_EQ(at(extender, "/tlsConfig/serverName"), "millwright.millwright-system.svc");
    for (const char* const file :
         {"/tlsConfig/caFile", "/tlsConfig/certFile", "/tlsConfig/keyFile"}) {
      EXPECT_THAT(mounted_files(documents), Contains(at(extender, file)));
    }
  }
  // Whoever refuses must also be asked before others are evicted.
  EXPECT_EQ(at(extenders.at(0), "/filterVerb"), "filter");
  EXPECT_EQ(at(extenders.at(0), "/preemptVerb"), "preempt");
}

TEST(Install, TheStanzaTakesTheAddressAndTheCertificates) {
  InstallOptions options = only(InstallPart::SchedulerStanza);
  options.cluster_ip = "10.96.0.7";
  options.ca_data = "Q0E=";
  options.client_cert_data = "Q0VSVA==";
  options.client_key_data = "S0VZ";
  const auto text = text_of(options);
  EXPECT_THAT(text, HasSubstr("urlPrefix: https://10.96.0.7:443/scheduler\n"));
  EXPECT_THAT(text, HasSubstr("caData: Q0E=\n"));
  EXPECT_THAT(text, HasSubstr("certData: Q0VSVA==\n"));
  EXPECT_THAT(text, HasSubstr("keyData: S0VZ\n"));
  EXPECT_THAT(text, HasSubstr("serverName: millwright.millwright-system.svc\n"));
}

TEST(Install, TheStanzaHasAnIPv6AddressInBrackets) {
  InstallOptions options = only(InstallPart::SchedulerStanza);
  for (const char* const address : {"fd00::1", "[fd00::1]"}) {
    options.cluster_ip = address;
    EXPECT_THAT(text_of(options), HasSubstr("https://[fd00::1]:443/scheduler"));
  }
}

TEST(Install, TheStanzaMayNameFilesInPlaceOfData) {
  InstallOptions options = only(InstallPart::SchedulerStanza);
  options.tls_directory = "/etc/kubernetes/millwright";
  const auto text = text_of(options);
  for (const char* const line : {"caFile: /etc/kubernetes/millwright/ca.crt\n",
                                 "certFile: /etc/kubernetes/millwright/client.crt\n",
                                 "keyFile: /etc/kubernetes/millwright/client.key\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("caData:")));
}

// One place says which Kubernetes release is meant.
TEST(Install, TheSecondSchedulersImageIsOfTheReleaseThatTheTestsRunAgainst) {
  std::ifstream file(SOURCE_ROOT "/test/plane/go.mod");
  std::stringstream module;
  module << file.rdbuf();
  const std::string image = InstallOptions().scheduler_image;
  EXPECT_THAT(module.str(), HasSubstr("k8s.io/kubernetes " + image.substr(image.rfind(':') + 1)));
}

TEST(Install, WrongOptionsAreNamed) {
  struct Case {
    const char* option;
    void (*spoil)(InstallOptions&);
  };
  const Case cases[] = {
      {"--namespace", [](InstallOptions& o) { o.namespace_ = "Upper"; }},
      {"--namespace", [](InstallOptions& o) { o.namespace_ = ""; }},
      {"--leader-election-namespace", [](InstallOptions& o) { o.lease_namespace = "a b"; }},
      {"--replicas", [](InstallOptions& o) { o.replicas = 0; }},
      {"--cluster-name", [](InstallOptions& o) { o.clouds = {cloud::Profile::Aws}; }},
      {"--cluster-id", [](InstallOptions& o) { o.clouds = {cloud::Profile::Alibaba}; }},
      {"--cluster-id", [](InstallOptions& o) { o.cluster_id = "a b"; }},
      {"--simulated-clouds",
       [](InstallOptions& o) {
         o.clouds = {cloud::Profile::Aws};
         o.cluster_name = "prod";
         o.simulated_clouds = {cloud::Profile::Aws};
       }},
      {"--simulated-clouds",
       [](InstallOptions& o) {
         o.clouds = {cloud::Profile::Huawei};
         o.simulated_clouds = {cloud::Profile::Huawei};
       }},
      {"--image", [](InstallOptions& o) { o.image = "a b"; }},
      {"--scheduler-image", [](InstallOptions& o) { o.scheduler_image = ""; }},
      {"--cluster-ip", [](InstallOptions& o) { o.cluster_ip = "a\nb"; }},
      {"--client-cert-data", [](InstallOptions& o) { o.client_cert_data = ""; }},
      {"--client-key-data", [](InstallOptions& o) { o.client_key_data = "a b"; }},
      {"--tls-dir", [](InstallOptions& o) { o.tls_directory = "relative"; }}};
  for (const auto& [option, spoil] : cases) {
    InstallOptions options;
    spoil(options);
    const auto text = install_text(options);
    ASSERT_FALSE(text) << option;
    EXPECT_THAT(text.error().message, HasSubstr(option));
  }
  EXPECT_FALSE(parse_install_mode("none"));
  EXPECT_FALSE(parse_install_part("crds"));
}

}  // namespace
}  // namespace millwright::app

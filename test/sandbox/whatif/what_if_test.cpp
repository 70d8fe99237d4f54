// `millwright what-if` as a person asks it: files and words in, text out.

#include "app/whatif/what_if_command.hpp"
#include "sandbox/whatif/snapshot.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace millwright::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Words = std::vector<std::string>;

// Three machines in three zones with a pod each.
const std::string& three_nodes() {
  static const std::string kSnapshot =
      snapshot_of(pool_yaml() + "---\n" + deployment_yaml(3, "3", R"(
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
)"));
  return kSnapshot;
}

class WhatIf : public testing::Test {
 protected:
  WhatIf() { files_["cluster.json"] = three_nodes(); }

  base::Result<std::string> ask(Words words) {
    words.insert(words.begin(), {"-f", "cluster.json"});
    return app::answer_what_if(words, [this](const std::string& path) -> base::Result<std::string> {
      const auto found = files_.find(path);
      return found == files_.end() ? base::fail(base::ErrorKind::NotFound, "cannot read " + path)
                                   : base::Result<std::string>(found->second);
    });
  }

  boost::json::object ask_json(Words words) {
    words.insert(words.end(), {"-o", "json"});
    const auto answer = ask(words);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? boost::json::parse(*answer).as_object() : boost::json::object();
  }

  std::string error_of(const Words& words) {
    const auto answer = ask(words);
    EXPECT_FALSE(answer) << *answer;
    return answer ? std::string() : answer.error().message;
  }

  // Of the first node of the files, by name.
  std::string first_node(std::string_view field) {
    const auto list = boost::json::parse(files_["cluster.json"]);
    for (const auto& item : list.at("items").as_array()) {
      if (item.at("kind").as_string() == "Node") {
        return std::string(field == "name"
                               ? item.at("metadata").at("name").as_string()
                               : item.at("metadata").at("labels").at(field).as_string());
      }
    }
    return {};
  }

  std::map<std::string, std::string> files_;
};

std::int64_t count(const boost::json::object& answer, std::string_view part,
                   std::string_view member) {
  return answer.at(part).at(member).to_number<std::int64_t>();
}
double price(const boost::json::object& answer, std::string_view part) {
  return answer.at(part).at("pricePerHour").to_number<double>();
}

TEST_F(WhatIf, NothingIsDoneWhereNothingIsChanged) {
  const auto answer = ask_json({});
  EXPECT_TRUE(answer.at("settled").as_bool());
  EXPECT_EQ(count(answer, "before", "nodes"), 3);
  EXPECT_EQ(count(answer, "after", "nodes"), 3);
  EXPECT_EQ(count(answer, "after", "podsRunning"), 3);
  EXPECT_GT(price(answer, "before"), 0);
  EXPECT_EQ(price(answer, "before"), price(answer, "after"));
  EXPECT_EQ(count(answer, "before", "nodesWithoutPrice"), 0);
  EXPECT_THAT(answer.at("bought").as_array(), IsEmpty());
  EXPECT_THAT(answer.at("removed").as_array(), IsEmpty());
  EXPECT_THAT(answer.at("podsMoved").as_array(), IsEmpty());
}

TEST_F(WhatIf, MoreReplicasAreBoughtFor) {
  const auto answer = ask_json({"scale", "deployment/web=30", "-n", "shop"});
  EXPECT_EQ(count(answer, "after", "podsRunning"), 30);
  EXPECT_GT(answer.at("bought").as_array().size(), 0);
  EXPECT_GT(answer.at("pricePerMonthMore").to_number<double>(), 0);
  EXPECT_EQ(price(answer, "withoutChanges"), price(answer, "before"));
  EXPECT_NEAR(answer.at("pricePerMonthMore").to_number<double>(),
              730 * (price(answer, "after") - price(answer, "before")), 1e-6);
}

TEST_F(WhatIf, NodesWithoutPodsAreGivenBack) {
  const auto answer = ask_json({"scale", "deployment/web=0", "-n", "shop"});
  EXPECT_EQ(count(answer, "after", "nodes"), 0);
  EXPECT_EQ(price(answer, "after"), 0);
  ASSERT_EQ(answer.at("removed").as_array().size(), 3);
  for (const auto& node : answer.at("removed").as_array()) {
    EXPECT_EQ(node.at("why").as_string(), "Empty");
    EXPECT_GT(node.at("pricePerHour").as_double(), 0);
  }
  EXPECT_THAT(answer.at("podsMoved").as_array(), IsEmpty()) << "they end, they do not move";
}

TEST_F(WhatIf, ADrainMovesPodsAndTheNodeGoes) {
  const auto node = first_node("name");
  const auto answer = ask_json({"drain", node});
  EXPECT_EQ(count(answer, "after", "podsRunning"), 3);
  ASSERT_EQ(answer.at("removed").as_array().size(), 1);
  EXPECT_EQ(answer.at("removed").at(0).at("node").as_string(), node);
  ASSERT_EQ(answer.at("podsMoved").as_array().size(), 1);
  EXPECT_EQ(answer.at("podsMoved").at(0).at("pods").to_number<int>(), 1);
  EXPECT_THAT(answer.at("bought").as_array(), Not(IsEmpty()));
}

TEST_F(WhatIf, ADisruptionBudgetStopsADrain) {
  files_["pdb.yaml"] =
      "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: shop}, "
      "spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}}";
  const auto answer = ask({"apply", "-f", "pdb.yaml", "drain", first_node("name")});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(*answer, HasSubstr("is not drained: pod shop/web-"));
  EXPECT_THAT(*answer, HasSubstr("0 moved"));
}

TEST_F(WhatIf, ADearerTypeIsReplaced) {
  const auto type = first_node("node.kubernetes.io/instance-type");
  const auto answer = ask_json({"price", type + "=9.5"});
  EXPECT_GT(price(answer, "before"), 0);
  EXPECT_LT(price(answer, "before"), 1) << "before is before the new price";
  ASSERT_THAT(answer.at("removed").as_array(), Not(IsEmpty()));
  EXPECT_EQ(answer.at("removed").at(0).at("why").as_string(), "Underutilized");
  EXPECT_NE(answer.at("bought").at(0).at("instanceType").as_string(), type);
  EXPECT_LT(price(answer, "after"), 9.5);
}

TEST_F(WhatIf, ALostZoneIsReplacedElsewhere) {
  const auto zone = first_node("topology.kubernetes.io/zone");
  const auto answer = ask_json({"zone-out", zone});
  ASSERT_EQ(answer.at("removed").as_array().size(), 1);
  EXPECT_EQ(answer.at("removed").at(0).at("why").as_string(), "zone out");
  EXPECT_EQ(answer.at("removed").at(0).at("zone").as_string(), zone);
  EXPECT_EQ(count(answer, "after", "podsRunning"), 3);
  for (const auto& line : answer.at("bought").as_array()) {
    EXPECT_NE(line.at("zone").as_string(), zone);
  }
}

TEST_F(WhatIf, AnEditedNodePoolDriftsItsNodes) {
  files_["pool.yaml"] =
      pool_yaml({}, "      taints: [{key: team, value: web, effect: PreferNoSchedule}]");
  const auto answer = ask_json({"apply", "-f", "pool.yaml"});
  EXPECT_EQ(answer.at("nodesDrifted").to_number<int>(), 3);
  ASSERT_EQ(answer.at("removed").as_array().size(), 3);
  EXPECT_EQ(answer.at("removed").at(0).at("why").as_string(), "Drifted");
  EXPECT_EQ(count(answer, "after", "podsRunning"), 3);
  EXPECT_TRUE(answer.at("settled").as_bool());
}

// What drifts by an edit of the only class of a cluster with one node. A real cloud's NodeClaims
// have its own hash of their NodeClass, which says nothing here.
struct RealCloud {
  cloud::Profile profile;
  std::string group;
  std::string kind;
  std::string hash;     // the annotation
  std::string version;  // of the hash
  std::string node_class;
};

const std::vector<RealCloud>& real_clouds() {
  static const std::vector<RealCloud> kClouds{
      {cloud::Profile::Aws, "karpenter.k8s.aws", "EC2NodeClass",
       "karpenter.k8s.aws/ec2nodeclass-hash", "v4", R"(
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {cluster: shop}}]
  securityGroupSelectorTerms: [{tags: {cluster: shop}}]
)"},
      {cloud::Profile::Alibaba, "karpenter.alibabacloud.com", "ECSNodeClass",
       "karpenter.sh/ecsnodeclass-hash", "v1", R"(
apiVersion: karpenter.alibabacloud.com/v1alpha1
kind: ECSNodeClass
metadata: {name: default}
spec:
  role: nodes
  imageSelectorTerms: [{imageFamily: web}]
  vSwitchSelectorTerms: [{tags: {cluster: shop}}]
  securityGroupSelectorTerms: [{tags: {cluster: shop}}]
)"}};
  return kClouds;
}

TEST_F(WhatIf, AnEditedNodeClassDriftsTheNodesOfARealCloud) {
  for (const auto& real : real_clouds()) {
    SCOPED_TRACE(real.group);
    std::string pool = pool_yaml();
    const std::string kwok = "group: karpenter.kwok.sh, kind: KWOKNodeClass";
    pool.replace(pool.find(kwok), kwok.size(), "group: " + real.group + ", kind: " + real.kind);
    auto list = boost::json::parse(snapshot_of(
        real.node_class + "---\n" + pool + "---\n" + deployment_yaml(1, "1"), real.profile));
    for (auto& item : list.at("items").as_array()) {
      const auto kind = item.at("kind").as_string();
      if (kind == "NodeClaim" || kind == real.kind) {
        auto& metadata = item.at("metadata").as_object();
        auto& annotations = metadata["annotations"];
        if (!annotations.is_object()) {
          annotations.emplace_object();
        }
        annotations.get_object()[real.hash] = "4711";
        annotations.get_object()[real.hash + "-version"] = real.version;
      }
    }
    files_["cluster.json"] = boost::json::serialize(list);
    const auto as_it_is = ask_json({});
    EXPECT_EQ(as_it_is.at("nodesDrifted").to_number<int>(), 0);
    files_["class.yaml"] = real.node_class + "  tags: {team: web}\n";
    const auto answer = ask_json({"apply", "-f", "class.yaml"});
    EXPECT_EQ(answer.at("nodesDrifted").to_number<int>(), 1);
    ASSERT_EQ(answer.at("removed").as_array().size(), 1);
    EXPECT_EQ(answer.at("removed").at(0).at("why").as_string(), "Drifted");
    EXPECT_EQ(price(answer, "after"), price(answer, "before"));
  }
}

TEST_F(WhatIf, ChangesAreMadeInTheirOrder) {
  files_["pool.yaml"] = pool_yaml("  limits: {cpu: \"1\"}");
  // The limit keeps new machines away, so the pods that come are refused.
  const auto answer =
      ask_json({"apply", "-f", "pool.yaml", "scale", "deployment/web=60", "-n", "shop"});
  ASSERT_EQ(answer.at("podsRefused").as_array().size(), 1);
  const auto& refused = answer.at("podsRefused").at(0);
  EXPECT_THAT(std::string(refused.at("reason").as_string()), HasSubstr("limits.cpu"));
  EXPECT_THAT(std::string(refused.at("change").as_string()), HasSubstr("raise limits.cpu"));
  EXPECT_THAT(std::string(refused.at("thenOn").as_string()), HasSubstr("a new "));
  EXPECT_EQ(refused.at("pods").to_number<int>() + count(answer, "after", "podsRunning"), 60);
}

TEST_F(WhatIf, ARemedyThatCannotBeTriedOutIsNotSaid) {
  files_["web.yaml"] = deployment_yaml(3, "1", "      nodeSelector: {team: nobody}");
  const auto answer = ask_json({"apply", "-f", "web.yaml"});
  ASSERT_EQ(answer.at("podsRefused").as_array().size(), 1);
  EXPECT_THAT(std::string(answer.at("podsRefused").at(0).at("reason").as_string()),
              HasSubstr("team"));
  EXPECT_FALSE(answer.at("podsRefused").at(0).as_object().contains("change"));
}

TEST_F(WhatIf, TheTableSaysTheSame) {
  const auto answer = ask({"drain", first_node("name")});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(*answer, HasSubstr("nothing moves any more"));
  EXPECT_THAT(*answer, HasSubstr("nodes  3 before, 3 after: 1 bought, 1 removed ("));
  EXPECT_THAT(*answer, HasSubstr("Bought:\n  NODEPOOL  TYPE"));
  EXPECT_THAT(*answer, HasSubstr("ReplicaSet shop/web-"));
}

TEST_F(WhatIf, TheSameInputGivesTheSameBytes) {
  const Words words{"scale", "deployment/web=12", "-n", "shop", "-o", "json"};
  const auto once = ask(words);
  const auto again = ask(words);
  ASSERT_TRUE(once && again);
  EXPECT_EQ(*once, *again);
}

TEST_F(WhatIf, WhatIsNotThereIsNamedWithWhatIs) {
  EXPECT_THAT(
      error_of({"drain", "node-77"}),
      HasSubstr("drain: there is no Node node-77 in the files; there are " + first_node("name")));
  EXPECT_THAT(error_of({"scale", "deployment/api=5"}),
              HasSubstr("no Deployment default/api in the files; there are shop/web"));
  EXPECT_THAT(
      error_of({"price", "c-1024x-amd64-linux=1"}),
      HasSubstr("there is no instance type c-1024x-amd64-linux in the catalog; alike are c-"));
  EXPECT_THAT(error_of({"price", "c-4x-amd64-linux/moon=1"}), HasSubstr("it is sold as "));
  EXPECT_THAT(error_of({"zone-out", "moon"}), HasSubstr("there are test-zone-a, test-zone-b"));
  EXPECT_THAT(error_of({"apply", "-f", "none.yaml"}), HasSubstr("cannot read none.yaml"));
}

TEST_F(WhatIf, AnEditThatTheWebhooksRefuseIsAnError) {
  files_["pool.yaml"] = pool_yaml("  weight: 1000");
  EXPECT_THAT(error_of({"apply", "-f", "pool.yaml"}),
              HasSubstr("apply -f pool.yaml: NodePool default: "));
}

TEST_F(WhatIf, FilesThatCannotBeReadNameTheLine) {
  files_["cluster.json"] = "a: [1\n";
  EXPECT_THAT(error_of({}), HasSubstr("cluster.json: YAML: line "));
  files_["cluster.json"] = "{\"kind\": ";
  EXPECT_THAT(error_of({}), HasSubstr("cluster.json: JSON: line 1"));
}

}  // namespace
}  // namespace millwright::test

#include "millwright/telemetry/page.hpp"

#include "millwright/scheduling/solve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::telemetry {
namespace {

using scheduling::NodeRecord;
using scheduling::PodPtr;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

base::TimePoint at(int second) {
  return base::TimePoint(seconds(second));
}

model::ResourceList resources(const std::string& cpu, const std::string& memory) {
  return {{"cpu", *model::Quantity::parse(cpu)}, {"memory", *model::Quantity::parse(memory)}};
}

class Page : public testing::Test {
 protected:
  Page() : chronicle_(metrics_, at(0)) {
    auto pool = std::make_shared<model::NodePool>();
    pool->meta.name = "default";
    pool->limits = resources("100", "1Ti");
    pool->resources = resources("4", "16Gi");
    pool->conditions = {{.type = "Ready",
                         .status = model::ConditionStatus::True,
                         .reason = "Ready",
                         .last_transition_time = at(40)}};
    snapshot_.node_pools.push_back(pool);
  }

  std::string render() {
    return render_page(
        {.snapshot = snapshot_, .catalog = catalog_, .chronicle = chronicle_, .now = at(100)});
  }

  static std::shared_ptr<model::Pod> pod(const std::string& name, std::string phase) {
    auto pod = std::make_shared<model::Pod>();
    pod->meta.name = name;
    pod->meta.namespace_ = "shop";
    pod->meta.uid = name;
    pod->meta.creation_timestamp = at(60);
    pod->status.phase = std::move(phase);
    return pod;
  }

  // One node of the pool, of 4 CPUs of which 3.5 are allocatable.
  NodeRecord record() {
    auto node = std::make_shared<model::Node>();
    node->meta.name = "node-1";
    node->meta.creation_timestamp = at(30);
    node->meta.labels = {
        {"karpenter.sh/nodepool", "default"},   {"karpenter.sh/initialized", "true"},
        {"karpenter.sh/capacity-type", "spot"}, {"node.kubernetes.io/instance-type", "c-4x"},
        {"topology.kubernetes.io/zone", "z-1"}, {"kubernetes.io/arch", "amd64"}};
    node->capacity = resources("4", "16Gi");
    node->allocatable = resources("3500m", "12Gi");
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = "claim-1";
    claim->meta.labels = node->meta.labels;
    claim->node_class_ref = {
        .group = "karpenter.kwok.sh", .kind = "KWOKNodeClass", .name = "default"};
    claim->conditions = {{.type = "Launched",
                          .status = model::ConditionStatus::True,
                          .reason = "Launched",
                          .last_transition_time = at(35)}};
    NodeRecord record;
    record.node = node;
    record.claim = claim;
    return record;
  }
  void add(NodeRecord record) {
    snapshot_.nodes.push_back(std::make_shared<const NodeRecord>(std::move(record)));
  }

  base::Metrics metrics_;
  Chronicle chronicle_;
  scheduling::Snapshot snapshot_;
  scheduling::Catalog catalog_;
};

TEST_F(Page, TellsWhetherThePageInputIsComplete) {
  add(record());
  EXPECT_THAT(render(), HasSubstr("\nkarpenter_cluster_state_synced 0\n"));
  EXPECT_THAT(render(), HasSubstr("\nkarpenter_cluster_state_unsynced_time_seconds 100\n"));
  snapshot_.synced = true;
  EXPECT_THAT(render(), HasSubstr("\nkarpenter_cluster_state_synced 1\n"));
  EXPECT_THAT(render(), HasSubstr("\nkarpenter_cluster_state_unsynced_time_seconds 0\n"));
  EXPECT_THAT(render(), HasSubstr("karpenter_cluster_state_node_count 1\n"));
}

TEST_F(Page, TellsWhatPoolsMayHaveAndHave) {
  const std::string text = render();
  EXPECT_THAT(
      text, HasSubstr("karpenter_nodepools_limit{nodepool=\"default\",resource_type=\"cpu\"} 100"));
  EXPECT_THAT(text,
              HasSubstr("karpenter_nodepools_usage{nodepool=\"default\",resource_type=\"memory\"} "
                        "17179869184\n"));
}

TEST_F(Page, TellsWhatBudgetsLetGo) {
  auto gone = record();
  gone.marked_for_deletion = true;
  add(gone);
  for (int i = 0; i < 19; ++i) {
    add(record());
  }
  const std::string text = render();
  EXPECT_THAT(text, HasSubstr("karpenter_nodepools_nodes_consuming_budgets{nodepool=\"default\","
                              "reason=\"Drifted\"} 20\n"))
      << "none of them is Ready";
  EXPECT_THAT(text, HasSubstr("karpenter_nodepools_allowed_disruptions{nodepool=\"default\","
                              "reason=\"Underutilized\"} 0\n"));
}

TEST_F(Page, AddsUpWhatNodesCost) {
  auto types = std::make_shared<std::vector<scheduling::InstanceType>>(1);
  types->front().name = "c-4x";
  scheduling::Offering offering;
  offering.price = 0.25;
  offering.requirements.add(scheduling::Requirement::in(model::kZoneLabel, {"z-1"}));
  offering.requirements.add(scheduling::Requirement::in(model::kCapacityTypeLabel, {"spot"}));
  types->front().offerings = {offering};
  catalog_.emplace("default", types);
  add(record());
  add(record());
  EXPECT_THAT(render(), HasSubstr("karpenter_nodepools_cost_total{nodepool=\"default\"} 0.5\n"));
}

TEST_F(Page, TellsWhatNodesOfferAndWhatIsAskedOfThem) {
  auto node = record();
  node.pod_requests = resources("2", "4Gi");
  auto web = pod("web", "Running");
  model::Container container;
  container.limits = resources("1", "2Gi");
  web->spec.containers = {container, container};
  auto agent = pod("agent", "Running");
  agent->spec.containers = {container};
  agent->meta.owner_references = {
      {.api_version = "apps/v1", .kind = "DaemonSet", .name = "agent", .controller = true}};
  node.pods = {web, agent};
  add(node);
  const std::string text = render();
  const std::string labels =
      "{node_name=\"node-1\",phase=\"\",managed=\"true\",arch=\"amd64\",capacity_type=\"spot\","
      "instance_type=\"c-4x\",nodepool=\"default\",os=\"\",region=\"\",windows_build=\"\","
      "zone=\"z-1\"";
  EXPECT_THAT(text,
              HasSubstr("karpenter_nodes_allocatable" + labels + ",resource_type=\"cpu\"} 3.5\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_nodes_total_pod_requests" + labels +
                              ",resource_type=\"cpu\"} 2\n"));
  EXPECT_THAT(
      text, HasSubstr("karpenter_nodes_total_pod_limits" + labels + ",resource_type=\"cpu\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_nodes_total_daemon_limits" + labels +
                              ",resource_type=\"cpu\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_nodes_system_overhead" + labels +
                              ",resource_type=\"cpu\"} 0.5\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_nodes_current_lifetime_seconds" + labels + "} 70\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_cluster_utilization_percent{resource_type=\"memory\"} "
                              "33.333333333333336\n"));
}

TEST_F(Page, TellsWherePodsAre) {
  auto node = record();
  auto web = pod("web", "Running");
  web->spec.node_name = "node-1";
  web->status.conditions = {{.type = "PodScheduled", .status = model::ConditionStatus::True},
                            {.type = "Ready", .status = model::ConditionStatus::True}};
  web->meta.owner_references = {{.api_version = "apps/v1", .kind = "ReplicaSet", .name = "web-1"}};
  node.pods = {web};
  add(node);
  snapshot_.pending_pods.push_back(pod("late \"one\"\n", "Pending"));
  const std::string text = render();
  EXPECT_THAT(
      text, HasSubstr("karpenter_pods_state{name=\"web\",namespace=\"shop\",owner=\"/apis/apps/v1/"
                      "namespaces/shop/replicasets/web-1\",node=\"node-1\",scheduled=\"true\","
                      "nodepool=\"default\",zone=\"z-1\",arch=\"amd64\",capacity_type=\"spot\","
                      "instance_type=\"c-4x\",phase=\"Running\",ready=\"true\",managed=\"true\"} "
                      "1\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_state{name=\"late \\\"one\\\"\\n\""));
}

TEST_F(Page, TellsHowLongPodsHaveWaited) {
  auto lonely = pod("lonely", "Pending");
  snapshot_.pending_pods.push_back(lonely);
  auto starting = pod("starting", "Pending");
  starting->spec.node_name = "node-1";
  auto node = record();
  node.pods = {starting};
  add(node);
  chronicle_.pod_seen(*lonely);
  chronicle_.solve_begun({lonely}, at(70));
  std::string text = render();
  EXPECT_THAT(text, HasSubstr("karpenter_pods_unbound_time_seconds{name=\"lonely\","
                              "namespace=\"shop\"} 40\n"));
  EXPECT_THAT(text, Not(HasSubstr("unbound_time_seconds{name=\"starting\"")));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_unstarted_time_seconds{name=\"starting\","
                              "namespace=\"shop\"} 40\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_provisioning_scheduling_undecided_time_seconds{"
                              "name=\"lonely\",namespace=\"shop\"} 30\n"));
  chronicle_.solve_ended({lonely}, {}, at(75));
  text = render();
  EXPECT_THAT(text, Not(HasSubstr("undecided_time_seconds{")));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_provisioning_unbound_time_seconds{"
                              "name=\"lonely\",namespace=\"shop\"} 25\n"));
  EXPECT_THAT(text, HasSubstr("karpenter_pods_provisioning_unstarted_time_seconds{"
                              "name=\"lonely\",namespace=\"shop\"} 25\n"));
}

TEST_F(Page, CountsPendingPodsByTheirEffectiveZone) {
  const auto add_pod = [this](const std::string& name) {
    snapshot_.pending_pods.push_back(pod(name, "Pending"));
    return std::const_pointer_cast<model::Pod>(snapshot_.pending_pods.back());
  };
  add_pod("anywhere");
  add_pod("pinned")->spec.node_selector = {{"topology.kubernetes.io/zone", "z-1"}};
  auto several = add_pod("several");
  several->spec.affinity.required_node_terms = {
      {.match_expressions = {{.key = "topology.kubernetes.io/zone", .values = {"z-1", "z-2"}}}}};
  auto impossible = add_pod("impossible");
  impossible->spec.node_selector = {{"topology.kubernetes.io/zone", "z-3"}};
  impossible->spec.affinity = several->spec.affinity;
  // Its volume is in one of the zones that it names.
  auto stored = add_pod("stored");
  stored->spec.affinity = several->spec.affinity;
  stored->spec.volumes = {{.name = "data", .claim_name = "data"}};
  auto claim = std::make_shared<model::PersistentVolumeClaim>();
  claim->meta.name = "data";
  claim->meta.namespace_ = "shop";
  claim->volume_name = "volume";
  snapshot_.volume_claims.push_back(claim);
  auto volume = std::make_shared<model::PersistentVolume>();
  volume->meta.name = "volume";
  volume->required_node_terms = {
      {.match_expressions = {{.key = "topology.kubernetes.io/zone", .values = {"z-2"}}}}};
  snapshot_.volumes.push_back(volume);

  const std::string text = render();
  const auto count = [](const std::string& zone, int pods) {
    return "karpenter_scheduler_pending_pods_by_effective_zone_count{controller=\"provisioner\","
           "zone=\"" +
           zone + "\"} " + std::to_string(pods) + "\n";
  };
  EXPECT_THAT(text, HasSubstr(count("flexible", 2)));
  EXPECT_THAT(text, HasSubstr(count("z-1", 1)));
  EXPECT_THAT(text, HasSubstr(count("z-2", 1)));
  EXPECT_THAT(text, HasSubstr(count("none", 1)));
}

TEST_F(Page, CountsPodsThatNoNodeIsBoughtFor) {
  auto gated = pod("preempting", "Pending");
  gated->status.conditions = {
      {.type = "PodScheduled", .status = model::ConditionStatus::False, .reason = "Unschedulable"}};
  snapshot_.pending_pods.push_back(gated);
  EXPECT_THAT(render(), HasSubstr("karpenter_scheduler_ignored_pods_count 0\n"));
  gated->status.nominated_node_name = "node-1";
  EXPECT_THAT(render(), HasSubstr("karpenter_scheduler_ignored_pods_count 1\n"));
}

TEST_F(Page, TellsOfThePlanInTheMaking) {
  EXPECT_THAT(render(), Not(HasSubstr("karpenter_scheduler_queue_depth{")));
  const Chronicle::Pods pods(7, pod("web", "Pending"));
  chronicle_.solve_begun(pods, at(90));
  EXPECT_THAT(render(), HasSubstr("karpenter_scheduler_queue_depth{controller=\"provisioner\","
                                  "scheduling_id=\"1\"} 7\n"));
  EXPECT_THAT(render(), HasSubstr("karpenter_scheduler_unfinished_work_seconds{controller="
                                  "\"provisioner\",scheduling_id=\"1\"} 10\n"));
  chronicle_.solve_ended(pods, {}, at(95));
  EXPECT_THAT(render(), Not(HasSubstr("karpenter_scheduler_queue_depth{")));
  chronicle_.eligible("empty", 3);
  EXPECT_THAT(render(),
              HasSubstr("karpenter_voluntary_disruption_eligible_nodes{reason=\"empty\"} 3\n"));
}

TEST_F(Page, TellsHowConditionsAre) {
  auto node = record();
  auto leaving = std::make_shared<model::NodeClaim>(*node.claim);
  leaving->meta.deletion_timestamp = at(92);
  node.claim = leaving;
  add(node);
  const std::string text = render();
  const std::string labels =
      "{namespace=\"\",name=\"claim-1\",karpenter_kwok_sh_kwoknodeclass=\"default\","
      "karpenter_sh_nodepool=\"default\"";
  const std::string condition = ",type=\"Launched\",status=\"True\",reason=\"Launched\"}";
  EXPECT_THAT(text,
              HasSubstr("operator_nodeclaim_status_condition_count" + labels + condition + " 1\n"));
  EXPECT_THAT(text, HasSubstr("operator_nodeclaim_status_condition_current_status_seconds" +
                              labels + condition + " 65\n"));
  EXPECT_THAT(text,
              HasSubstr("operator_nodeclaim_termination_current_time_seconds" + labels + "} 8\n"));
  EXPECT_THAT(text, HasSubstr("operator_nodepool_status_condition_current_status_seconds{"
                              "namespace=\"\",name=\"default\",type=\"Ready\",status=\"True\","
                              "reason=\"Ready\"} 60\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE operator_capacitybuffer_status_condition_count gauge\n"));
}

TEST_F(Page, TellsApartClassesOfOneKindAndNameInTwoGroups) {
  for (const char* group : {"karpenter.k8s.alibabacloud", "karpenter.alibabacloud.com"}) {
    auto node_class = std::make_shared<model::NodeClass>();
    node_class->api_version = std::string(group) + "/v1alpha1";
    node_class->kind = "ECSNodeClass";
    node_class->meta.name = "web";
    node_class->conditions = {{.type = "Ready",
                               .status = model::ConditionStatus::False,
                               .reason = "SpecNotSupported",
                               .message = {},
                               .last_transition_time = at(40),
                               .observed_generation = {}}};
    snapshot_.node_classes.push_back(node_class);
  }
  const std::string text = render();
  for (const char* group : {"karpenter.k8s.alibabacloud", "karpenter.alibabacloud.com"}) {
    EXPECT_THAT(text, HasSubstr("operator_ecsnodeclass_status_condition_count{namespace=\"\","
                                "name=\"web\",group=\"" +
                                std::string(group) +
                                "\",type=\"Ready\",status=\"False\",reason="
                                "\"SpecNotSupported\"} 1\n"));
  }
}

TEST_F(Page, ForgetsObjectsThatAreGone) {
  add(record());
  EXPECT_THAT(render(), HasSubstr("node_name=\"node-1\""));
  snapshot_.nodes.clear();
  EXPECT_THAT(render(), Not(HasSubstr("node_name=\"node-1\"")));
}

}  // namespace
}  // namespace millwright::telemetry

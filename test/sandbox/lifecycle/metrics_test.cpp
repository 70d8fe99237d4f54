// The page that operators' dashboards and alerts are written against: after a life with a bit of
// everything it has Karpenter's metrics under Karpenter's names, with Karpenter's labels.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace millwright::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

enum class Shown { Always, WhenItHappens };

struct Metric {
  std::string type;
  std::string labels;  // sorted, but for le and quantile
  Shown shown = Shown::Always;
};

using Table = std::map<std::string, Metric>;

// Every label that a node of kwok's clouds gives to its series.
// The labels of a node's gauges, sorted.
std::string node_labels(const std::string& resource = {}) {
  return "arch capacity_type instance_cpu instance_family instance_memory instance_size "
         "instance_type kwoknodeclass managed node_name nodepool os phase region " +
         resource + "windows_build zone";
}

void add_karpenter(Table& table) {
  const std::string node = node_labels();
  const std::string node_resource = node_labels("resource_type ");
  const std::string disrupted =
      "capacity_type consolidation_policy nodepool reason termination_mode";
  const std::string decision = "consolidation_type decision reason";
  table.insert({
      {"karpenter_scheduler_scheduling_duration_seconds", {"histogram", "controller"}},
      {"karpenter_scheduler_queue_depth",
       {"gauge", "controller scheduling_id", Shown::WhenItHappens}},
      {"karpenter_scheduler_unfinished_work_seconds",
       {"gauge", "controller scheduling_id", Shown::WhenItHappens}},
      {"karpenter_scheduler_ignored_pods_count", {"gauge", ""}},
      {"karpenter_scheduler_unschedulable_pods_count", {"gauge", "controller"}},
      {"karpenter_scheduler_pending_pods_by_effective_zone_count", {"gauge", "controller zone"}},
      {"karpenter_pods_scheduling_decision_duration_seconds", {"histogram", ""}},
      {"karpenter_cluster_state_node_count", {"gauge", ""}},
      {"karpenter_cluster_state_synced", {"gauge", ""}},
      {"karpenter_cluster_state_unsynced_time_seconds", {"gauge", ""}},
      {"karpenter_nodeclaims_created_total", {"counter", "min_values_relaxed nodepool reason"}},
      {"karpenter_nodeclaims_terminated_total", {"counter", "capacity_type nodepool zone"}},
      {"karpenter_nodeclaims_disrupted_total", {"counter", disrupted}},
      {"karpenter_nodeclaims_unhealthy_disrupted_total",
       {"counter", "capacity_type condition image_id nodepool", Shown::WhenItHappens}},
      {"karpenter_pods_disruption_initiated_total", {"counter", disrupted}},
      {"karpenter_nodeclaims_instance_termination_duration_seconds", {"histogram", "nodepool"}},
      {"karpenter_nodeclaims_termination_duration_seconds", {"histogram", "nodepool"}},
      {"karpenter_nodes_created_total", {"counter", "nodepool zone"}},
      {"karpenter_nodes_terminated_total", {"counter", "nodepool zone"}},
      {"karpenter_nodes_drained_total", {"counter", "nodepool"}},
      {"karpenter_nodes_termination_duration_seconds", {"summary", "nodepool"}},
      {"karpenter_nodes_lifetime_duration_seconds", {"histogram", "nodepool"}},
      {"karpenter_nodes_allocatable", {"gauge", node_resource}},
      {"karpenter_nodes_total_pod_requests", {"gauge", node_resource}},
      {"karpenter_nodes_total_pod_limits", {"gauge", node_resource}},
      {"karpenter_nodes_total_daemon_requests", {"gauge", node_resource, Shown::WhenItHappens}},
      {"karpenter_nodes_total_daemon_limits", {"gauge", node_resource, Shown::WhenItHappens}},
      {"karpenter_nodes_system_overhead", {"gauge", node_resource}},
      {"karpenter_nodes_current_lifetime_seconds", {"gauge", node}},
      {"karpenter_cluster_utilization_percent", {"gauge", "resource_type"}},
      {"karpenter_nodepools_limit", {"gauge", "nodepool resource_type"}},
      {"karpenter_nodepools_usage", {"gauge", "nodepool resource_type"}},
      {"karpenter_nodepools_cost_total", {"gauge", "nodepool"}},
      {"karpenter_nodepools_allowed_disruptions", {"gauge", "nodepool reason"}},
      {"karpenter_nodepools_nodes_consuming_budgets", {"gauge", "nodepool reason"}},
      {"karpenter_pods_state",
       {"gauge",
        "arch capacity_type instance_type managed name namespace node nodepool owner phase ready "
        "scheduled zone"}},
      {"karpenter_pods_startup_duration_seconds", {"summary", ""}},
      {"karpenter_pods_bound_duration_seconds", {"histogram", ""}},
      {"karpenter_pods_provisioning_bound_duration_seconds", {"histogram", ""}},
      {"karpenter_pods_provisioning_startup_duration_seconds", {"histogram", ""}},
      {"karpenter_pods_unstarted_time_seconds", {"gauge", "name namespace"}},
      {"karpenter_pods_unbound_time_seconds", {"gauge", "name namespace"}},
      {"karpenter_pods_provisioning_unbound_time_seconds",
       {"gauge", "name namespace", Shown::WhenItHappens}},
      {"karpenter_pods_provisioning_unstarted_time_seconds",
       {"gauge", "name namespace", Shown::WhenItHappens}},
      {"karpenter_pods_provisioning_scheduling_undecided_time_seconds",
       {"gauge", "name namespace", Shown::WhenItHappens}},
      {"karpenter_pods_eviction_requests_total", {"counter", "code"}},
      {"karpenter_pods_drained_total", {"counter", "reason"}},
      {"karpenter_voluntary_disruption_decision_evaluation_duration_seconds",
       {"histogram", "consolidation_type reason"}},
      {"karpenter_voluntary_disruption_decisions_total", {"counter", decision}},
      {"karpenter_voluntary_disruption_decisions_by_nodepool_total",
       {"counter", "consolidation_type decision nodepool reason"}},
      {"karpenter_voluntary_disruption_eligible_nodes", {"gauge", "reason"}},
      {"karpenter_voluntary_disruption_consolidation_timeouts_total",
       {"counter", "consolidation_type"}},
      {"karpenter_voluntary_disruption_failed_validations_total",
       {"counter", "consolidation_type", Shown::WhenItHappens}},
      {"karpenter_voluntary_disruption_queue_failures_total",
       {"counter", decision, Shown::WhenItHappens}},
      {"karpenter_cloudprovider_duration_seconds", {"histogram", "controller method provider"}},
      {"karpenter_cloudprovider_errors_total", {"counter", "controller error method provider"}},
  });
}

void add_operator(Table& table) {
  const std::map<std::string, std::string> more{
      {"nodeclaim", "karpenter_kwok_sh_kwoknodeclass karpenter_sh_nodepool "},
      {"node", "karpenter_kwok_sh_kwoknodeclass karpenter_sh_initialized karpenter_sh_nodepool "},
      {"nodepool", ""},
      {"capacitybuffer", ""}};
  for (const auto& [kind, labels] : more) {
    const std::string prefix = "operator_" + kind + "_";
    const auto shown = kind == "capacitybuffer" ? Shown::WhenItHappens : Shown::Always;
    table[prefix + "status_condition_count"] = {
        "gauge", labels + "name namespace reason status type", shown};
    table[prefix + "status_condition_current_status_seconds"] = {
        "gauge", labels + "name namespace reason status type", shown};
    table[prefix + "termination_current_time_seconds"] = {"gauge", labels + "name namespace",
                                                          Shown::WhenItHappens};
    table[prefix + "status_condition_transitions_total"] = {"counter",
                                                            labels + "reason status type", shown};
    table[prefix + "status_condition_transition_seconds"] = {"histogram", labels + "status type",
                                                             shown};
    table[prefix + "termination_duration_seconds"] = {
        "histogram", labels.empty() ? "" : labels.substr(0, labels.size() - 1),
        Shown::WhenItHappens};
  }
  const std::string classes = "operator_kwoknodeclass_";
  for (const auto* name : {"status_condition_count", "status_condition_current_status_seconds"}) {
    table[classes + name] = {"gauge", "group name namespace reason status type", Shown::Always};
  }
  table[classes + "termination_current_time_seconds"] = {"gauge", "group name namespace",
                                                         Shown::WhenItHappens};
}

void add_machinery(Table& table) {
  table.insert({
      {"controller_runtime_reconcile_total", {"counter", "controller result"}},
      {"controller_runtime_reconcile_time_seconds", {"histogram", "controller"}},
      {"controller_runtime_reconcile_errors_total",
       {"counter", "controller", Shown::WhenItHappens}},
      {"workqueue_depth", {"gauge", "controller name"}},
      {"client_go_request_total", {"counter", "code method"}},
      {"client_go_request_duration_seconds", {"histogram", "group kind subresource verb version"}},
      {"millwright_extender_requests_total", {"counter", "outcome verb", Shown::WhenItHappens}},
      {"millwright_extender_duration_seconds", {"histogram", "verb", Shown::WhenItHappens}},
      {"millwright_extender_refused_nodes_total", {"counter", "reason", Shown::WhenItHappens}},
      {"millwright_http_refused_total", {"counter", "reason server", Shown::WhenItHappens}},
      {"millwright_reservations_void_total", {"counter", "reason", Shown::WhenItHappens}},
      {"millwright_pods_placed_elsewhere_total", {"counter", ""}},
      {"millwright_cost_total", {"counter", "nodepool use"}},
      {"millwright_cost_bought_per_hour_total", {"counter", "nodepool reason"}},
      {"millwright_cost_saved_per_hour_total", {"counter", "nodepool reason"}},
  });
}

struct Family {
  std::string type;
  std::set<std::string> label_sets;  // each sorted and joined
};

std::string family_of(const std::string& sample, const std::map<std::string, Family>& families) {
  for (const std::string_view suffix : {"", "_bucket", "_sum", "_count"}) {
    if (sample.ends_with(suffix)) {
      auto name = sample.substr(0, sample.size() - suffix.size());
      if (families.contains(name)) {
        return name;
      }
    }
  }
  return {};
}

// Label values of this page hold no braces and no escaped quotes.
std::string label_names(const std::string& line) {
  std::set<std::string> names;
  std::size_t at = line.find('{');
  const std::size_t end = at == std::string::npos ? at : line.rfind('}');
  while (at < end) {
    const auto equals = line.find('=', at);
    names.insert(line.substr(at + 1, equals - at - 1));
    at = line.find('"', line.find('"', equals) + 1) + 1;
  }
  std::string joined;
  for (const auto& name : names) {
    if (name != "le" && name != "quantile") {
      joined += (joined.empty() ? "" : " ") + name;
    }
  }
  return joined;
}

std::map<std::string, Family> read(const std::string& page) {
  std::map<std::string, Family> families;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      std::string name;
      words >> name;
      EXPECT_FALSE(families.contains(name)) << name << " is on the page twice";
      words >> families[name].type;
    } else if (!line.starts_with("#")) {
      const auto family = family_of(line.substr(0, line.find_first_of("{ ")), families);
      EXPECT_NE(family, "") << "a sample before its family: " << line;
      families[family].label_sets.insert(label_names(line));
    }
  }
  return families;
}

class Metrics : public LifecycleFixture {
 protected:
  // Nodes bought, emptied and returned; one deleted under its pod; a cloud that is sold out for a
  // while; a pod that nothing can place.
  void live() {
    start();
    apply_class();
    apply_pool({.disruption = "{consolidateAfter: 30s}", .extra = "  limits: {cpu: \"1000\"}"});
    deploy({.name = "idle"});
    ASSERT_TRUE(wait_running("idle", 1));
    scale("idle", 0);
    ASSERT_TRUE(wait_empty());
    cloud().sell_out({});
    deploy({.name = "web", .replicas = 2});
    ASSERT_TRUE(wait([&] { return !events("InsufficientCapacityError").empty(); }));
    cloud().restock({});
    ASSERT_TRUE(wait_running("web", 2));
    remove(model::kNodeResource, nodes().front()->meta.name);
    run_for(minutes(2));
    ASSERT_TRUE(wait_running("web", 2));
    deploy({.name = "huge", .cpu = "5000"});
    run_for(seconds(30));
  }
};

TEST_F(Metrics, AreKarpentersWithKarpentersLabels) {
  ASSERT_NO_FATAL_FAILURE(live());
  Table table;
  add_karpenter(table);
  add_operator(table);
  add_machinery(table);
  const auto families = read(metrics());
  for (const auto& [name, metric] : table) {
    const auto found = families.find(name);
    if (found == families.end()) {
      EXPECT_EQ(metric.shown, Shown::WhenItHappens) << name << " is missing";
      continue;
    }
    EXPECT_EQ(found->second.type, metric.type) << name;
    if (metric.shown == Shown::Always) {
      EXPECT_FALSE(found->second.label_sets.empty()) << name << " has no series";
    }
    for (const auto& labels : found->second.label_sets) {
      EXPECT_EQ(labels, metric.labels) << name;
    }
  }
  for (const auto& [name, family] : families) {
    EXPECT_TRUE(table.contains(name)) << name << " is on the page and not in this table";
  }
}

TEST_F(Metrics, TellWhatIsThere) {
  ASSERT_NO_FATAL_FAILURE(live());
  metrics();  // prices are asked for
  run_for(seconds(1));
  const std::string page = metrics();
  EXPECT_THAT(page, HasSubstr("\nkarpenter_cluster_state_synced 1\n"));
  EXPECT_THAT(page, HasSubstr("\nkarpenter_nodepools_limit{nodepool=\"default\","
                              "resource_type=\"cpu\"} 1000\n"));
  EXPECT_THAT(page, testing::Not(HasSubstr("karpenter_nodepools_cost_total{nodepool=\"default\"} "
                                           "0\n")));
  EXPECT_THAT(page, HasSubstr("karpenter_scheduler_unschedulable_pods_count{controller="
                              "\"provisioner\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("karpenter_voluntary_disruption_decisions_total{"
                              "consolidation_type=\"empty\",decision=\"delete\","
                              "reason=\"empty\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("error=\"InsufficientCapacityError\",method=\"Create\""));
  const auto claim = claims().front()->meta.name;
  EXPECT_THAT(page, HasSubstr("operator_nodeclaim_status_condition_count{namespace=\"\",name=\"" +
                              claim + "\""));
}

}  // namespace
}  // namespace millwright::test

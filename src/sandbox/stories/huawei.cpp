// huawei-cpu-elastic.yaml and huawei-cpu-burst.yaml: to 10, to 5, to 0.
#include "sandbox/stories/stage.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

namespace millwright::sandbox {
namespace {

using std::chrono::minutes;

const std::string kHuaweiApp = "cpu-burst";

bool is_leaving(const NodeHistory& node) {
  return (node.disrupted || node.deleting) && !node.gone;
}

std::size_t nodes_leaving(Stage& stage) {
  const auto nodes = stage.nodes();
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const auto* node) { return is_leaving(*node); }));
}

void expect_listed_types(Stage& stage) {
  const std::set<std::string> listed{"c9.large.4", "c9.xlarge.4", "c9.2xlarge.4", "c9.4xlarge.4"};
  for (const auto* node : stage.nodes()) {
    const std::string& type = node->last->meta.label(model::kInstanceTypeLabel);
    stage.expect(listed.contains(type),
                 "node " + node->last->meta.name + " is a " + type + ", one of the listed types");
  }
}

// For every node drained since `from` there was a newer one, Ready before the first pod was moved.
void expect_replaced_first(Stage& stage, base::TimePoint from) {
  for (const auto& [uid, old_node] : stage.recorder().nodes()) {
    if (!old_node.drained_from || *old_node.drained_from < from) {
      continue;
    }
    const auto& all = stage.recorder().nodes();
    const bool replaced = std::any_of(all.begin(), all.end(), [&](const auto& entry) {
      const auto& node = entry.second;
      return node.created >= from && node.ready && *node.ready <= *old_node.drained_from;
    });
    stage.expect(replaced, "a smaller node was Ready before node " + old_node.last->meta.name +
                               " was drained");
  }
}

}  // namespace

base::Task<void> tell_huawei(Stage& stage) {
  for (const char* file : {"huawei-cpu-elastic.yaml", "huawei-cpu-burst.yaml"}) {
    const bool applied = co_await stage.apply_file(file);
    if (!applied) {
      co_return;
    }
  }
  const bool grown = co_await stage.scale(kHuaweiApp, 10);
  if (!grown) {
    co_return;
  }
  const bool up = co_await stage.wait(
      "10 pods run", [&stage] { return stage.running(kHuaweiApp) == 10; }, minutes(10));
  if (!up) {
    co_return;
  }
  expect_listed_types(stage);
  stage.say("bought " + stage.nodes_text());
  const double before = stage.vcpus();

  const base::TimePoint shrunk_at = stage.now();
  stage.always("at no time did fewer than 5 pods run", [&stage] {
    return stage.running(kHuaweiApp) >= 5 || stage.pods_left(kHuaweiApp) == 0;
  });
  stage.always("never more than the budget's 1 node was leaving",
               [&stage] { return nodes_leaving(stage) <= 1; });
  const bool shrunk = co_await stage.scale(kHuaweiApp, 5);
  if (!shrunk) {
    co_return;
  }
  const auto is_smaller = [&stage, before] {
    return stage.running(kHuaweiApp) == 5 && stage.pods_left(kHuaweiApp) == 5 &&
           stage.vcpus() < before && nodes_leaving(stage) == 0;
  };
  const bool smaller = co_await stage.wait("5 pods run on fewer vCPUs and no node is leaving",
                                           is_smaller, minutes(20));
  if (!smaller) {
    co_return;
  }
  stage.say("left " + stage.nodes_text());
  expect_replaced_first(stage, shrunk_at);
  stage.end_watches();

  const bool emptied = co_await stage.scale(kHuaweiApp, 0);
  if (!emptied) {
    co_return;
  }
  co_await stage.wait(
      "no node is left", [&stage] { return stage.nodes().empty(); }, minutes(15));
}

}  // namespace millwright::sandbox

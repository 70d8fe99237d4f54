// nodepool-v1-budgets-by-reason.yaml, told around midnight UTC of a weekday: from 15:00 to 24:00
// nothing is removed as Underutilized, while empty nodes go one at a time.
#include "sandbox/stories/stage.hpp"

#include <algorithm>

namespace millwright::sandbox {
namespace {

using std::chrono::minutes;

// Once its instance is being ended a node no longer counts against a budget, as in Karpenter.
bool is_ending(Stage& stage, const std::string& node) {
  const auto& claims = stage.recorder().claims();
  return std::any_of(claims.begin(), claims.end(), [&](const auto& entry) {
    return entry.second.last->node_name == node &&
           model::is_true(entry.second.last->conditions, model::kInstanceTerminating);
  });
}

std::size_t empty_nodes_leaving(Stage& stage) {
  const auto nodes = stage.nodes();
  return static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), [&](const auto* node) {
    return (node->disrupted || node->deleting) && !is_ending(stage, node->last->meta.name);
  }));
}

// The story starts at 23:05 UTC.
base::TimePoint midnight(const Stage& stage) {
  return std::chrono::ceil<std::chrono::days>(stage.begun());
}

const NodeHistory* node_of(Stage& stage, const std::string& app) {
  for (const auto& [uid, pod] : stage.recorder().pods()) {
    if (pod.last->meta.label("app") != app || !pod.bound) {
      continue;
    }
    for (const auto& [node_uid, node] : stage.recorder().nodes()) {
      if (node.last->meta.name == pod.last->spec.node_name) {
        return &node;
      }
    }
  }
  return nullptr;
}

}  // namespace

base::Task<void> tell_budgets_by_reason(Stage& stage) {
  for (const char* file : {"alibaba-nodeclass.yaml", "nodepool-v1-budgets-by-reason.yaml",
                           "budgets-by-reason-workload.yaml"}) {
    const bool applied = co_await stage.apply_file(file);
    if (!applied) {
      co_return;
    }
  }
  const auto all_run = [&stage] {
    return stage.running("wide") == 6 && stage.running("left") == 1 && stage.running("right") == 1;
  };
  const bool up = co_await stage.wait("8 pods run", all_run, minutes(10));
  if (!up) {
    co_return;
  }
  stage.say("bought " + stage.nodes_text());
  stage.expect(stage.nodes().size() >= 3, "three zones need three nodes at least");
  const double before = stage.vcpus();
  const std::string wide_node = node_of(stage, "wide")->last->meta.name;
  stage.always("empty nodes went one at a time",
               [&stage] { return empty_nodes_leaving(stage) <= 1; });

  for (const char* app : {"left", "right"}) {
    const bool emptied = co_await stage.scale(app, 0);
    if (!emptied) {
      co_return;
    }
  }
  const bool shrunk = co_await stage.scale("wide", 1);
  if (!shrunk) {
    co_return;
  }
  const bool empty_gone = co_await stage.wait(
      "both empty nodes are gone before midnight", [&stage] { return stage.nodes().size() == 1; },
      midnight(stage) - stage.now());
  if (!empty_gone) {
    co_return;
  }
  const bool waited = co_await stage.pass(midnight(stage) - stage.now());
  if (!waited) {
    co_return;
  }
  const auto at_midnight = stage.nodes();
  stage.expect(at_midnight.size() == 1 && at_midnight.front()->last->meta.name == wide_node &&
                   !at_midnight.front()->disrupted,
               "at midnight the underutilized node still stands");
  const auto replaced = [&stage, before, wide_node] {
    const auto nodes = stage.nodes();
    return nodes.size() == 1 && nodes.front()->last->meta.name != wide_node &&
           stage.vcpus() < before && stage.running("wide") == 1;
  };
  co_await stage.wait("after midnight it is replaced by a smaller one", replaced, minutes(30));
}

}  // namespace millwright::sandbox

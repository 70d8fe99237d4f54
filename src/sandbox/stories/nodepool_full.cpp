// nodepool-v1-full.yaml: accepted as it stands, round-trips unchanged, plans what tolerates it.
#include "millwright/model/codec.hpp"
#include "sandbox/stories/stage.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::sandbox {
namespace {

using std::chrono::minutes;

const std::string kSpecialApp = "special";

// Every value of `wanted` is in `stored`; defaults may have been added.
bool contains(const boost::json::value& stored, const boost::json::value& wanted) {
  if (wanted.is_object()) {
    return stored.is_object() &&
           std::all_of(wanted.as_object().begin(), wanted.as_object().end(),
                       [&](const auto& entry) {
                         const auto* found = stored.as_object().if_contains(entry.key());
                         return found != nullptr && contains(*found, entry.value());
                       });
  }
  if (wanted.is_array()) {
    return stored.is_array() && stored.as_array().size() == wanted.as_array().size() &&
           std::equal(stored.as_array().begin(), stored.as_array().end(), wanted.as_array().begin(),
                      contains);
  }
  return stored == wanted;
}

// Something on the node would do this once it has started; here nobody else does.
base::Task<void> remove_startup_taints(Stage& stage) {
  for (const auto* node : stage.nodes()) {
    std::vector<model::Taint> taints = node->last->taints;
    std::erase_if(taints,
                  [](const auto& taint) { return taint.key == "example.com/another-taint"; });
    const model::ObjectKey key = model::key_of(node->last->meta);
    boost::json::value patch = {{"spec", {{"taints", model::encode(taints)}}}};
    auto reply =
        co_await stage.client().patch(model::kNodeResource, key, kube::PatchType::Merge, patch);
    stage.expect(reply.has_value(), "removed the startup taint from node " + key.name);
  }
}

}  // namespace

base::Task<void> tell_nodepool_full(Stage& stage) {
  for (const char* file :
       {"aws-nodeclass.yaml", "nodepool-v1-full.yaml", "nodepool-v1-full-workload.yaml"}) {
    const bool applied = co_await stage.apply_file(file);
    if (!applied) {
      co_return;
    }
  }
  const auto sent = stage.read_example("nodepool-v1-full.yaml");
  model::ObjectKey key;
  key.name = "default";
  auto stored = co_await stage.client().get(model::kNodePoolResource, key);
  stage.expect(sent && stored && contains(stored->at("spec"), sent->at("spec")),
               "the stored spec is what was applied");
  const bool joined = co_await stage.wait(
      "a node registers",
      [&stage] {
        const auto nodes = stage.nodes();
        return !nodes.empty() && std::all_of(nodes.begin(), nodes.end(), [](const auto* node) {
          return node->last->meta.label(model::kRegisteredLabel) == "true";
        });
      },
      minutes(10));
  if (!joined) {
    co_return;
  }
  stage.say("bought " + stage.nodes_text());
  co_await remove_startup_taints(stage);
  const bool up = co_await stage.wait(
      "3 pods run", [&stage] { return stage.running(kSpecialApp) == 3; }, minutes(10));
  if (!up) {
    co_return;
  }
  for (const auto* node : stage.nodes()) {
    const auto& taints = node->last->taints;
    const bool tainted = std::any_of(taints.begin(), taints.end(), [](const auto& taint) {
      return taint.key == "example.com/special-taint";
    });
    stage.expect(tainted && node->last->meta.label("billing-team") == "my-team",
                 "node " + node->last->meta.name + " carries the pool's taint and label");
  }
}

}  // namespace millwright::sandbox

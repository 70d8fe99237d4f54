// alibaba-nodeclass.yaml, alibaba-nodepool.yaml and alibaba-inflate.yaml: spot only.
#include "sandbox/stories/stage.hpp"

namespace millwright::sandbox {
namespace {

using std::chrono::minutes;

const std::string kAlibabaApp = "inflate";

}  // namespace

base::Task<void> tell_alibaba(Stage& stage) {
  for (const char* file :
       {"alibaba-nodeclass.yaml", "alibaba-nodepool.yaml", "alibaba-inflate.yaml"}) {
    const bool applied = co_await stage.apply_file(file);
    if (!applied) {
      co_return;
    }
  }
  const bool up = co_await stage.wait(
      "the pod runs", [&stage] { return stage.running(kAlibabaApp) == 1; }, minutes(10));
  if (!up) {
    co_return;
  }
  stage.expect(stage.nodes().size() == 1, "one node was bought: " + stage.nodes_text());
  for (const auto* node : stage.nodes()) {
    const std::string& capacity_type = node->last->meta.label(model::kCapacityTypeLabel);
    stage.expect(capacity_type == model::kSpot, "its capacity type is spot");
  }
  const bool scaled = co_await stage.scale(kAlibabaApp, 0);
  if (!scaled) {
    co_return;
  }
  co_await stage.wait_idle_end(kAlibabaApp, minutes(1),
                               "nodes were left alone for consolidateAfter, 1m");
}

}  // namespace millwright::sandbox

#include "sandbox/stories/stage.hpp"

namespace millwright::sandbox {

using std::chrono::minutes;

base::Task<void> tell_kwok(Stage& stage) {
  const bool applied = co_await stage.apply_file("kwok-nodepool.yaml");
  if (!applied) {
    co_return;
  }
  const bool workload = co_await stage.apply_file("kwok-inflate.yaml");
  if (!workload) {
    co_return;
  }
  const bool scaled = co_await stage.scale("inflate", 7);
  if (!scaled) {
    co_return;
  }
  const bool up = co_await stage.wait(
      "7 pods run", [&stage] { return stage.running("inflate") == 7; }, minutes(5));
  if (!up) {
    co_return;
  }
  stage.say(stage.nodes_text());
  const bool down = co_await stage.scale("inflate", 0);
  if (!down) {
    co_return;
  }
  co_await stage.wait(
      "no node is left", [&stage] { return stage.nodes().empty(); }, minutes(10));
  for (const auto& [uid, claim] : stage.recorder().claims()) {
    stage.expect(claim.gone.has_value(), "NodeClaim " + claim.last->meta.name + " is gone");
  }
}

}  // namespace millwright::sandbox

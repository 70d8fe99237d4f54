#include "sandbox/stories/stage.hpp"

#include <algorithm>

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
  const auto nothing_left = [&stage] {
    const auto& claims = stage.recorder().claims();
    return stage.nodes().empty() &&
           std::all_of(claims.begin(), claims.end(),
                       [](const auto& entry) { return entry.second.gone.has_value(); });
  };
  co_await stage.wait("no node and no NodeClaim is left", nothing_left, minutes(10));
}

}  // namespace millwright::sandbox

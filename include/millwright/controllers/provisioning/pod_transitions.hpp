// Which pod changes restart consolidateAfter: a pod of no DaemonSet is bound, ends, begins to
// terminate or is gone before it has ended (Karpenter's nodeclaim.podevents).
#pragma once

#include "millwright/model/pod.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace millwright::controllers {

class PodTransitions {
 public:
  // What is told: the node, and when it happened; nullopt: now.
  using OnEvent =
      std::function<void(std::string_view node, std::optional<base::TimePoint> happened)>;

  explicit PodTransitions(OnEvent on_event) : on_event_(std::move(on_event)) {}
  void upsert(const model::Pod& pod);
  void remove(std::string_view uid);

 private:
  enum class Phase : std::uint8_t { Bound, Terminating, Ended };
  struct Last {
    Phase phase;
    std::string node;
  };
  OnEvent on_event_;
  std::unordered_map<std::string, Last> last_;  // bound pods only, by uid
};

}  // namespace millwright::controllers

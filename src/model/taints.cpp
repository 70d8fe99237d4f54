#include "millwright/model/taints.hpp"

#include "millwright/model/labels.hpp"

#include <algorithm>
#include <array>

namespace millwright::model {

std::string Taint::to_string() const {
  std::string text = key;
  if (!value.empty()) {
    text += "=" + value;
  }
  if (!effect.empty()) {
    text += ":" + effect;
  }
  return text;
}

bool Toleration::tolerates(const Taint& taint) const {
  if (!effect.empty() && effect != taint.effect) {
    return false;
  }
  if (!key.empty() && key != taint.key) {
    return false;
  }
  if (op.empty() || op == "Equal") {
    return value == taint.value;
  }
  return op == "Exists";
}

const Taint* first_untolerated(std::span<const Taint> taints,
                               std::span<const Toleration> tolerations) {
  for (const Taint& taint : taints) {
    const bool tolerated =
        std::any_of(tolerations.begin(), tolerations.end(),
                    [&taint](const Toleration& toleration) { return toleration.tolerates(taint); });
    if (!tolerated) {
      return &taint;
    }
  }
  return nullptr;
}

bool is_ephemeral_taint(const Taint& taint) {
  struct KeyAndEffect {
    std::string_view key;
    std::string_view effect;
  };
  // Compared by key and effect only, as Taint.MatchTaint does.
  static constexpr std::array<KeyAndEffect, 5> kEphemeral{
      {{"node.kubernetes.io/not-ready", "NoSchedule"},
       {"node.kubernetes.io/not-ready", "NoExecute"},
       {"node.kubernetes.io/unreachable", "NoSchedule"},
       {"node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"},
       {kUnregisteredTaint, "NoExecute"}}};
  if (taint.key.starts_with("readiness.k8s.io/")) {
    return true;
  }
  return std::any_of(kEphemeral.begin(), kEphemeral.end(), [&taint](const KeyAndEffect& known) {
    return taint.key == known.key && taint.effect == known.effect;
  });
}

}  // namespace millwright::model

// PodDisruptionBudget status: how many pods may be evicted now. Evictions themselves are judged by
// the API server from this status.
#include "millwright/model/codec.hpp"
#include "sandbox/apiserver/store/selectors.hpp"
#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <set>

namespace millwright::sandbox {

namespace {

// A share of `total`; percentages round up, as the disruption controller's do.
std::int64_t share(const Json& value, std::int64_t total) {
  if (const auto number = as_integer(value)) {
    return *number;
  }
  std::int64_t percent = 0;
  if (value.is_string()) {
    const auto& written = value.get_string();
    std::from_chars(written.data(), written.data() + written.size(), percent);
  }
  return (total * percent + 99) / 100;
}

class BudgetController final : public Controller {
 public:
  using Controller::Controller;

  void observe(const ResourceInfo& info, const Event& event) override {
    if (info.resource.kind == "PodDisruptionBudget") {
      enqueue(key_of(*event.object));
    } else if (info.resource.kind == "Pod") {
      const auto ns = text(*event.object, "metadata.namespace");
      for (const auto& [key, budget] :
           context_.store().objects(info_of(model::kPodDisruptionBudgetResource))) {
        if (key.namespace_ == ns) {
          enqueue(key);
        }
      }
    }
  }

 protected:
  void reconcile(const model::ObjectKey& key) override {
    const auto budget = context_.store().find(info_of(model::kPodDisruptionBudgetResource), key);
    if (budget == nullptr || find(*budget, "metadata.deletionTimestamp") != nullptr) {
      return;
    }
    const auto* selector = find(*budget, "spec.selector");
    const auto decoded = selector == nullptr ? base::Result<model::LabelSelector>(base::fail(
                                                   base::ErrorKind::Invalid, "no selector"))
                                             : model::decode_label_selector(*selector);
    const auto& disrupted = fields(*budget, "status.disruptedPods");
    std::vector<const PodEntry*> pods;
    boost::json::object still_disrupted;
    std::int64_t healthy = 0;
    for (const auto& [pod_key, entry] : context_.index.pods()) {
      if (pod_key.namespace_ != key.namespace_ || !decoded ||
          !decoded->matches(entry.pod->meta.labels) || model::is_terminal(*entry.pod)) {
        continue;
      }
      pods.push_back(&entry);
      const auto* evicted = disrupted.if_contains(pod_key.name);
      if (evicted != nullptr && !entry.pod->meta.is_deleting()) {
        still_disrupted[pod_key.name] = *evicted;
      }
      healthy +=
          is_pod_ready(*entry.pod) && !entry.pod->meta.is_deleting() && evicted == nullptr ? 1 : 0;
    }
    const auto count = static_cast<std::int64_t>(pods.size());
    auto expected = count;
    auto desired = std::int64_t{0};
    if (const auto* most = find(*budget, "spec.maxUnavailable")) {
      expected = expected_count(pods);
      desired = std::max<std::int64_t>(0, expected - share(*most, expected));
    } else if (const auto* least = find(*budget, "spec.minAvailable")) {
      if (!as_integer(*least)) {
        expected = expected_count(pods);
      }
      desired = share(*least, expected);
    }
    const auto allowed = expected > 0 ? std::max<std::int64_t>(0, healthy - desired) : 0;
    const auto now = context_.registry.now_text();
    edit(context_, model::kPodDisruptionBudgetResource, key, Part::Status, [&](Json& json) {
      auto& status = make_object(json, "status");
      status["expectedPods"] = expected;
      status["currentHealthy"] = healthy;
      status["desiredHealthy"] = desired;
      status["disruptionsAllowed"] = allowed;
      status["observedGeneration"] = integer(json, "metadata.generation");
      if (still_disrupted.empty()) {
        status.erase("disruptedPods");
      } else {
        status["disruptedPods"] = still_disrupted;
      }
      set_condition(json, "DisruptionAllowed", allowed > 0 ? "True" : "False",
                    allowed > 0 ? "SufficientPods" : "InsufficientPods", "", now);
    });
  }

 private:
  // The sum of what the pods' controllers ask for.
  std::int64_t expected_count(const std::vector<const PodEntry*>& pods) const {
    std::set<std::string> seen;
    std::int64_t expected = 0;
    for (const auto* entry : pods) {
      const auto* owner = entry->pod->meta.controller();
      if (owner == nullptr) {
        ++expected;
      } else if (seen.insert(owner->uid).second) {
        const auto* info = find_info_by_kind(owner->api_version, owner->kind);
        const auto object =
            info == nullptr
                ? nullptr
                : context_.store().find(*info, {entry->pod->meta.namespace_, owner->name});
        if (object != nullptr) {
          expected += integer(*object, "spec.replicas", 1);
        }
      }
    }
    return expected;
  }
};

}  // namespace

std::unique_ptr<Controller> make_budget_controller(ClusterContext& context) {
  return std::make_unique<BudgetController>(context);
}

}  // namespace millwright::sandbox

#include "scheduling/compile/topology/default_spread.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr std::string_view kDefaultScheduler = "default-scheduler";

std::string_view scheduler_of(const model::Pod& pod) {
  return pod.spec.scheduler_name.empty() ? kDefaultScheduler
                                         : std::string_view(pod.spec.scheduler_name);
}

const DefaultSpread* defaults_for(const std::vector<DefaultSpread>& all, const model::Pod& pod) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const DefaultSpread& defaults) {
    return defaults.scheduler_name.empty() || defaults.scheduler_name == scheduler_of(pod);
  });
  return found == all.end() || found->constraints.empty() ? nullptr : &*found;
}

// kube-scheduler's helper.DefaultSelector: the labels that the pod's Services select by, and what
// its controller selects by. Empty when there is neither: such a pod has no peers to be spread
// with.
class PeerSelectors {
 public:
  explicit PeerSelectors(const Snapshot* cluster) {
    if (cluster == nullptr) {
      return;
    }
    for (const auto& item : cluster->pod_selectors) {
      if (!item->selector) {
        continue;
      }
      if (item->kind == model::kServiceResource.kind) {
        services_[item->meta.namespace_].push_back(&*item->selector);
      } else {
        controllers_[{item->kind, item->meta.namespace_, item->meta.name}] = &*item->selector;
      }
    }
  }

  const model::LabelSelector& of(const model::Pod& pod) {
    const auto* owner = pod.meta.controller();
    const auto [found, added] = known_.try_emplace(
        {pod.meta.namespace_, owner == nullptr ? std::string() : owner->kind + "/" + owner->name,
         pod.meta.labels});
    if (added) {
      found->second = deduce(pod, owner);
    }
    return found->second;
  }

 private:
  model::LabelSelector deduce(const model::Pod& pod, const model::OwnerReference* owner) const {
    model::LabelSelector result;
    const auto merge = [&result](const model::StringMap& labels) {
      for (const auto& [key, value] : labels) {
        result.match_labels[key] = value;
      }
    };
    if (const auto services = services_.find(pod.meta.namespace_); services != services_.end()) {
      for (const model::LabelSelector* service : services->second) {
        if (service->matches(pod.meta.labels)) {
          merge(service->match_labels);
        }
      }
    }
    const auto* controller = controller_selector(pod, owner);
    if (controller == nullptr) {
      return result;
    }
    if (owner->kind == model::kReplicationControllerResource.kind) {
      merge(controller->match_labels);
      return result;
    }
    // Beside what the Services want, not instead of it: a key may be asked for twice.
    for (const auto& [key, value] : controller->match_labels) {
      result.match_expressions.push_back({key, model::Operator::In, {value}, {}});
    }
    result.match_expressions.insert(result.match_expressions.end(),
                                    controller->match_expressions.begin(),
                                    controller->match_expressions.end());
    return result;
  }

  const model::LabelSelector* controller_selector(const model::Pod& pod,
                                                  const model::OwnerReference* owner) const {
    if (owner == nullptr) {
      return nullptr;
    }
    const auto found = controllers_.find({owner->kind, pod.meta.namespace_, owner->name});
    return found == controllers_.end() ? nullptr : found->second;
  }

  std::map<std::string_view, std::vector<const model::LabelSelector*>, std::less<>> services_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>,
           const model::LabelSelector*>
      controllers_;  // by kind, namespace, name
  std::map<std::tuple<std::string, std::string, model::StringMap>, model::LabelSelector> known_;
};

}  // namespace

Problem with_default_spread(Problem problem) {
  const auto all_defaults = std::exchange(problem.options.default_spread, {});
  if (all_defaults.empty()) {
    return problem;
  }
  PeerSelectors peers(problem.cluster.get());
  for (PodPtr& pod : problem.pods) {
    const auto* defaults = defaults_for(all_defaults, *pod);
    if (defaults == nullptr || !pod->spec.topology_spread.empty()) {
      continue;
    }
    const model::LabelSelector& selector = peers.of(*pod);
    if (selector.empty()) {
      continue;
    }
    auto copy = std::make_shared<model::Pod>(*pod);
    copy->spec.topology_spread = defaults->constraints;
    for (auto& constraint : copy->spec.topology_spread) {
      constraint.label_selector = selector;
    }
    pod = std::move(copy);
  }
  return problem;
}

}  // namespace millwright::scheduling

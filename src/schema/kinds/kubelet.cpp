#include "schema/kinds/kubelet.hpp"

#include "schema/engine/rules.hpp"
#include "schema/kinds/kubelet_names.hpp"

#include <algorithm>
#include <utility>

namespace millwright::schema {
namespace {

const Pattern& grace_period() {
  static const Pattern kPattern(R"(^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$)",
                                "a duration such as \"90s\" or \"1m30s\"");
  return kPattern;
}

Field eviction(std::string description) {
  return map_of(std::move(description),
                string("Threshold of the signal.").pattern(eviction_threshold()))
      .size_at_most(10)
      .entry_rule(rules::keys_one_of(eviction_signals()));
}

bool keys_within(const json::object& inner, const json::object& outer) {
  return std::all_of(inner.begin(), inner.end(),
                     [&](const auto& entry) { return outer.contains(entry.key()); });
}

Rule soft_needs_grace() {
  return {
      "!has(self.evictionSoft) || self.evictionSoft.all(k, "
      "has(self.evictionSoftGracePeriod) && k in self.evictionSoftGracePeriod)",
      "every signal of evictionSoft needs an entry in evictionSoftGracePeriod",
      [](const json::value& self) {
        return keys_within(object_at(self, "evictionSoft"),
                           object_at(self, "evictionSoftGracePeriod"));
      },
      {}};
}

Rule grace_needs_soft() {
  return {
      "!has(self.evictionSoftGracePeriod) || self.evictionSoftGracePeriod.all(k, "
      "has(self.evictionSoft) && k in self.evictionSoft)",
      "every signal of evictionSoftGracePeriod needs an entry in evictionSoft",
      [](const json::value& self) {
        return keys_within(object_at(self, "evictionSoftGracePeriod"),
                           object_at(self, "evictionSoft"));
      },
      {}};
}

Rule high_above_low() {
  return {
      "!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || "
      "self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent",
      "imageGCHighThresholdPercent has to be above imageGCLowThresholdPercent",
      [](const json::value& self) {
        const auto high = integer_at(self, "imageGCHighThresholdPercent");
        const auto low = integer_at(self, "imageGCLowThresholdPercent");
        return !high || !low || *high > *low;
      },
      {}};
}

std::vector<Member> kubelet_members() {
  return {
      optional("clusterDNS",
               list_of("Addresses of the cluster's DNS servers.", string("An IP address."))),
      optional("maxPods", int32("Most pods on a node.").at_least(0)),
      optional("podsPerCore", int32("Most pods per core of a node.").at_least(0)),
      optional("systemReserved", reserved_resources("Kept for the operating system.")),
      optional("kubeReserved", reserved_resources("Kept for Kubernetes' own programs.")),
      optional("evictionHard", eviction("Thresholds at which pods are evicted at once.")),
      optional("evictionSoft",
               eviction("Thresholds at which pods are evicted after a grace period.")),
      optional("evictionSoftGracePeriod",
               map_of("How long a soft threshold may be crossed, per signal.",
                      string("Grace period of the signal.").pattern(grace_period()))
                   .size_at_most(10)
                   .entry_rule(rules::keys_one_of(eviction_signals()))),
      optional("evictionMaxPodGracePeriod",
               int32("Most seconds a pod gets to stop when a soft threshold evicts it.")),
      optional("imageGCHighThresholdPercent",
               int32("Disk usage from which on unused images are always removed.").between(0, 100)),
      optional("imageGCLowThresholdPercent",
               int32("Disk usage down to which unused images are removed.").between(0, 100)),
      optional("cpuCFSQuota", boolean("Whether CPU limits are enforced by CFS quota."))};
}

}  // namespace

Field reserved_resources(std::string description) {
  return map_of(std::move(description),
                string("Amount of the resource.").pattern(patterns::quantity()))
      .size_at_most(10)
      .entry_rule(rules::keys_one_of(reservable_resources()))
      .entry_rule(rules::values_not_negative());
}

Field kubelet_configuration(KubeletOf owner) {
  std::vector<Member> members = kubelet_members();
  if (owner == KubeletOf::Provisioner) {
    members.insert(members.begin() + 1,
                   optional("containerRuntime",
                            string("Container runtime of the nodes. Kept for old manifests; every "
                                   "node runs containerd.")));
  }
  return object("Settings of the kubelet on the nodes.", std::move(members))
      .rule(soft_needs_grace())
      .rule(grace_needs_soft())
      .rule(high_above_low());
}

}  // namespace millwright::schema

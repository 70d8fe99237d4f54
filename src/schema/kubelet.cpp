#include "schema/kubelet.hpp"

#include "millwright/model/quantity.hpp"
#include "schema/rules.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace millwright::schema {
namespace {

const std::vector<std::string> kReservable{"cpu", "memory", "ephemeral-storage", "pid"};
const std::vector<std::string> kSignals{"memory.available",   "nodefs.available",
                                        "nodefs.inodesFree",  "imagefs.available",
                                        "imagefs.inodesFree", "pid.available"};

const Pattern& threshold() {
  static const Pattern kPattern(
      R"(^((\d{1,2}(\.\d{1,2})?|100(\.0{1,2})?)%|)"
      R"((\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))"
      R"((([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?)$)",
      "a percentage such as \"5%\" or a quantity such as \"100Mi\"");
  return kPattern;
}

const Pattern& grace_period() {
  static const Pattern kPattern(R"(^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$)",
                                "a duration such as \"90s\" or \"1m30s\"");
  return kPattern;
}

Field eviction(std::string description) {
  return map_of(std::move(description), string("Threshold of the signal.").pattern(threshold()))
      .size_at_most(10)
      .entry_rule(rules::keys_one_of(kSignals));
}

bool keys_within(const json::object& inner, const json::object& outer) {
  return std::all_of(inner.begin(), inner.end(),
                     [&](const auto& entry) { return outer.contains(entry.key()); });
}

Rule soft_needs_grace() {
  return {
      "!has(self.evictionSoft) || (has(self.evictionSoftGracePeriod) && "
      "self.evictionSoft.all(k, k in self.evictionSoftGracePeriod))",
      "every signal of evictionSoft needs an entry in evictionSoftGracePeriod",
      [](const json::value& self) {
        return keys_within(object_at(self, "evictionSoft"),
                           object_at(self, "evictionSoftGracePeriod"));
      },
      {}};
}

Rule grace_needs_soft() {
  return {
      "!has(self.evictionSoftGracePeriod) || (has(self.evictionSoft) && "
      "self.evictionSoftGracePeriod.all(k, k in self.evictionSoft))",
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
                   .entry_rule(rules::keys_one_of(kSignals))),
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
      .entry_rule(rules::keys_one_of(kReservable))
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

namespace {

// Every field of KubeletConfiguration but registerWithTaints, sorted.
constexpr std::string_view kKubeletFields[] = {"address",
                                               "allowedUnsafeSysctls",
                                               "apiVersion",
                                               "authentication",
                                               "authorization",
                                               "cgroupDriver",
                                               "cgroupRoot",
                                               "cgroupsPerQOS",
                                               "clusterDNS",
                                               "clusterDomain",
                                               "configMapAndSecretChangeDetectionStrategy",
                                               "containerLogMaxFiles",
                                               "containerLogMaxSize",
                                               "containerLogMaxWorkers",
                                               "containerLogMonitorInterval",
                                               "containerRuntimeEndpoint",
                                               "contentType",
                                               "cpuCFSQuota",
                                               "cpuCFSQuotaPeriod",
                                               "cpuManagerPolicy",
                                               "cpuManagerPolicyOptions",
                                               "cpuManagerReconcilePeriod",
                                               "crashLoopBackOff",
                                               "enableContentionProfiling",
                                               "enableControllerAttachDetach",
                                               "enableDebugFlagsHandler",
                                               "enableDebuggingHandlers",
                                               "enableProfilingHandler",
                                               "enableServer",
                                               "enableSystemLogHandler",
                                               "enableSystemLogQuery",
                                               "enforceNodeAllocatable",
                                               "eventBurst",
                                               "eventRecordQPS",
                                               "evictionHard",
                                               "evictionMaxPodGracePeriod",
                                               "evictionMinimumReclaim",
                                               "evictionPressureTransitionPeriod",
                                               "evictionSoft",
                                               "evictionSoftGracePeriod",
                                               "failCgroupV1",
                                               "failSwapOn",
                                               "featureGates",
                                               "fileCheckFrequency",
                                               "hairpinMode",
                                               "healthzBindAddress",
                                               "healthzPort",
                                               "httpCheckFrequency",
                                               "imageGCHighThresholdPercent",
                                               "imageGCLowThresholdPercent",
                                               "imageMaximumGCAge",
                                               "imageMinimumGCAge",
                                               "imagePullCredentialsVerificationPolicy",
                                               "imageServiceEndpoint",
                                               "iptablesDropBit",
                                               "iptablesMasqueradeBit",
                                               "kernelMemcgNotification",
                                               "kind",
                                               "kubeAPIBurst",
                                               "kubeAPIQPS",
                                               "kubeReserved",
                                               "kubeReservedCgroup",
                                               "kubeletCgroups",
                                               "localStorageCapacityIsolation",
                                               "logging",
                                               "makeIPTablesUtilChains",
                                               "maxOpenFiles",
                                               "maxParallelImagePulls",
                                               "maxPods",
                                               "memoryManagerPolicy",
                                               "memoryReservationPolicy",
                                               "memorySwap",
                                               "memoryThrottlingFactor",
                                               "mergeDefaultEvictionSettings",
                                               "nodeLeaseDurationSeconds",
                                               "nodeStatusMaxImages",
                                               "nodeStatusReportFrequency",
                                               "nodeStatusUpdateFrequency",
                                               "oomScoreAdj",
                                               "podCIDR",
                                               "podLogsDir",
                                               "podPidsLimit",
                                               "podsPerCore",
                                               "port",
                                               "preloadedImagesVerificationAllowlist",
                                               "protectKernelDefaults",
                                               "providerID",
                                               "qosReserved",
                                               "readOnlyPort",
                                               "registerNode",
                                               "registryBurst",
                                               "registryPullQPS",
                                               "reservedMemory",
                                               "reservedSystemCPUs",
                                               "resolvConf",
                                               "rotateCertificates",
                                               "runOnce",
                                               "runtimeRequestTimeout",
                                               "seccompDefault",
                                               "serializeImagePulls",
                                               "serverTLSBootstrap",
                                               "showHiddenMetricsForVersion",
                                               "shutdownGracePeriod",
                                               "shutdownGracePeriodByPodPriority",
                                               "shutdownGracePeriodCriticalPods",
                                               "singleProcessOOMKill",
                                               "staticPodPath",
                                               "staticPodURL",
                                               "staticPodURLHeader",
                                               "streamingConnectionIdleTimeout",
                                               "syncFrequency",
                                               "systemCgroups",
                                               "systemReserved",
                                               "systemReservedCgroup",
                                               "tlsCertFile",
                                               "tlsCipherSuites",
                                               "tlsCurvePreferences",
                                               "tlsMinVersion",
                                               "tlsPrivateKeyFile",
                                               "topologyManagerPolicy",
                                               "topologyManagerPolicyOptions",
                                               "topologyManagerScope",
                                               "tracing",
                                               "userNamespaces",
                                               "volumePluginDir",
                                               "volumeStatsAggPeriod"};

class KubeletChecker {
 public:
  KubeletChecker(const json::value& kubelet, std::string path, std::vector<Problem>& problems)
      : kubelet_(kubelet), path_(std::move(path)), problems_(problems) {}

  void check() {
    names();
    for (const std::string_view block : {"evictionHard", "evictionSoft"}) {
      signals(block);
    }
    pairs("evictionSoft", "evictionSoftGracePeriod");
    pairs("evictionSoftGracePeriod", "evictionSoft");
    for (const std::string_view block : {"kubeReserved", "systemReserved"}) {
      reserved(block);
    }
    image_thresholds();
  }

 private:
  void report(std::string path, const json::value& value, std::string message) {
    problems_.push_back({std::move(path), json::serialize(value), std::move(message)});
  }

  void names() {
    for (const auto& [name, value] : as_object(&kubelet_)) {
      const std::string path = path_ + "." + std::string(name);
      if (name == "registerWithTaints") {
        report(path, value,
               "taints of nodes belong into the NodePool: spec.template.spec.taints or "
               "startupTaints");
      } else if (!std::binary_search(std::begin(kKubeletFields), std::end(kKubeletFields),
                                     std::string_view(name))) {
        report(path, value, "expected a field of KubeletConfiguration");
      }
    }
  }

  void signals(std::string_view block) {
    for (const auto& [signal, value] : object_at(kubelet_, block)) {
      const std::string path = entry(block, signal);
      if (std::find(kSignals.begin(), kSignals.end(), std::string_view(signal)) == kSignals.end()) {
        report(path, value, "expected a signal among " + rules::quoted_list(kSignals));
      }
      if (!threshold().matches(as_text(&value))) {
        report(path, value, "expected " + threshold().accepted());
      }
    }
  }

  void pairs(std::string_view from, std::string_view to) {
    for (const auto& [signal, value] : object_at(kubelet_, from)) {
      if (!object_at(kubelet_, to).contains(signal)) {
        report(entry(from, signal), value,
               "every signal of " + std::string(from) + " needs an entry in " + std::string(to));
      }
    }
  }

  void reserved(std::string_view block) {
    for (const auto& [name, value] : object_at(kubelet_, block)) {
      const std::string path = entry(block, name);
      if (std::find(kReservable.begin(), kReservable.end(), std::string_view(name)) ==
          kReservable.end()) {
        report(path, value, "expected a resource among " + rules::quoted_list(kReservable));
      }
      const auto whole = as_integer(&value);
      const std::string text = whole ? std::to_string(*whole) : std::string(as_text(&value));
      const auto amount = model::Quantity::parse(text);
      if (!amount || amount->milli() < 0) {
        report(path, value, "expected a quantity of at least 0 such as \"100m\" or \"1Gi\"");
      }
    }
  }

  void image_thresholds() {
    const auto high = integer_at(kubelet_, "imageGCHighThresholdPercent");
    const auto low = integer_at(kubelet_, "imageGCLowThresholdPercent");
    for (const std::string_view name :
         {"imageGCHighThresholdPercent", "imageGCLowThresholdPercent"}) {
      const auto percent = integer_at(kubelet_, name);
      if (has(kubelet_, name) && (!percent || *percent < 0 || *percent > 100)) {
        report(path_ + "." + std::string(name), *member(kubelet_, name),
               "expected a whole number, 0 to 100");
      }
    }
    if (high && low && *high <= *low) {
      report(path_ + ".imageGCHighThresholdPercent", *high,
             "has to be above imageGCLowThresholdPercent");
    }
  }

  std::string entry(std::string_view block, std::string_view key) const {
    return path_ + "." + std::string(block) + "[" + std::string(key) + "]";
  }

  const json::value& kubelet_;
  std::string path_;
  std::vector<Problem>& problems_;
};

}  // namespace

void check_open_kubelet(const json::value& kubelet, const std::string& path,
                        std::vector<Problem>& problems) {
  KubeletChecker(kubelet, path, problems).check();
}

}  // namespace millwright::schema

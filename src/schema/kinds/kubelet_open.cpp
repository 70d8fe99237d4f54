// The kubelet block that EC2NodeClass keeps open: any field of KubeletConfiguration, checked by
// name and, where Karpenter looks inside, by content.
#include "millwright/model/quantity.hpp"
#include "schema/engine/rules.hpp"
#include "schema/kinds/kubelet.hpp"
#include "schema/kinds/kubelet_names.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace millwright::schema {
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
      if (std::find(eviction_signals().begin(), eviction_signals().end(),
                    std::string_view(signal)) == eviction_signals().end()) {
        report(path, value, "expected a signal among " + rules::quoted_list(eviction_signals()));
      }
      if (!eviction_threshold().matches(as_text(&value))) {
        report(path, value, "expected " + eviction_threshold().accepted());
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
      if (std::find(reservable_resources().begin(), reservable_resources().end(),
                    std::string_view(name)) == reservable_resources().end()) {
        report(path, value,
               "expected a resource among " + rules::quoted_list(reservable_resources()));
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

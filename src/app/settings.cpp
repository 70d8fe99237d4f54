#include "millwright/app/settings.hpp"

#include "app/setting_values.hpp"

#include <algorithm>

namespace millwright::app {
namespace {

using scheduling::MinValuesPolicy;
using scheduling::PreferencePolicy;

const Setting kTable[] = {
    {"kubeconfig", "KUBECONFIG", "", "kubeconfig file; empty inside a cluster",
     [](std::string_view text, Settings& s) {
       s.kubeconfig = text;
       return std::string();
     }},
    {"context", "KUBE_CONTEXT", "", "context of the kubeconfig; empty: its current one",
     [](std::string_view text, Settings& s) {
       s.context = text;
       return std::string();
     }},
    {"cluster-name", "CLUSTER_NAME", "", "name of the cluster, for tags on instances",
     [](std::string_view text, Settings& s) {
       s.cluster_name = text;
       return std::string();
     }},
    {"clouds", "CLOUDS", "", "real clouds to launch instances in: aws", read_real_clouds},
    {"cluster-endpoint", "CLUSTER_ENDPOINT", "",
     "URL of the API server for new AWS nodes; empty: EKS tells",
     [](std::string_view text, Settings& s) {
       s.aws_settings.cluster_endpoint = text;
       return std::string();
     }},
    {"cluster-ca-bundle", "CLUSTER_CA_BUNDLE", "",
     "base64 of the API server's CA for new AWS nodes; empty: EKS tells",
     [](std::string_view text, Settings& s) {
       s.aws_settings.cluster_ca_bundle = text;
       return std::string();
     }},
    {"isolated-vpc", "ISOLATED_VPC", "false", "the AWS Pricing API cannot be reached",
     [](std::string_view text, Settings& s) {
       return read_bool(text, s.aws_settings.isolated_vpc);
     }},
    {"vm-memory-overhead-percent", "VM_MEMORY_OVERHEAD_PERCENT", "0.075",
     "part of an EC2 instance's memory that its node will not have",
     [](std::string_view text, Settings& s) {
       return read_fraction(text, s.aws_settings.vm_memory_overhead_percent);
     }},
    {"reserved-enis", "RESERVED_ENIS", "0", "ENIs of each EC2 instance that pods cannot use",
     [](std::string_view text, Settings& s) {
       return read_count(text, s.aws_settings.reserved_enis);
     }},
    {"disable-dry-run", "DISABLE_DRY_RUN", "false",
     "do not ask EC2 whether it would let an EC2NodeClass's machines be launched",
     [](std::string_view text, Settings& s) {
       return read_bool(text, s.aws_settings.disable_dry_run);
     }},
    {"enable-zonal-shift", "ENABLE_ZONAL_SHIFT", "false",
     "buy nothing in zones that the EKS cluster has been shifted away from",
     [](std::string_view text, Settings& s) {
       return read_bool(text, s.aws_settings.enable_zonal_shift);
     }},
    {"interruption-queue", "INTERRUPTION_QUEUE", "",
     "SQS queue with interruption events of EC2; empty: none is read",
     [](std::string_view text, Settings& s) {
       s.aws_settings.interruption_queue = text;
       return std::string();
     }},
    {"aws-price-file", "AWS_PRICE_FILE", "", "EC2 prices to use while AWS tells none (docs/aws.md)",
     [](std::string_view text, Settings& s) {
       s.aws_settings.price_file = text;
       return std::string();
     }},
    {"aws-price-cache", "AWS_PRICE_CACHE", "", "file in which AWS's last prices outlive a restart",
     [](std::string_view text, Settings& s) {
       s.aws_settings.price_cache = text;
       return std::string();
     }},
    {"simulated-clouds", "SIMULATED_CLOUDS", "kwok",
     "clouds that exist only in memory: kwok, aws, alibaba, huawei", read_clouds},
    {"simulated-cloud-url", "SIMULATED_CLOUD_URL", "",
     "where `millwright cloud` serves the simulated clouds; empty: in this process, which forgets "
     "their instances when it ends",
     [](std::string_view text, Settings& s) {
       s.simulated_cloud_url = text;
       return std::string();
     }},
    {"metrics-port", "METRICS_PORT", "8080", "plain HTTP port of /metrics",
     [](std::string_view text, Settings& s) { return read_port(text, s.metrics_port); }},
    {"health-probe-port", "HEALTH_PROBE_PORT", "8081", "plain HTTP port of /healthz and /readyz",
     [](std::string_view text, Settings& s) { return read_port(text, s.health_port); }},
    {"serving-port", "SERVING_PORT", "8443", "HTTPS port of the extender and the webhooks",
     [](std::string_view text, Settings& s) { return read_port(text, s.serving_port); }},
    {"bind-address", "BIND_ADDRESS", "0.0.0.0", "address that all ports are opened on",
     [](std::string_view text, Settings& s) {
       s.bind_address = text;
       return std::string();
     }},
    {"kube-client-qps", "KUBE_CLIENT_QPS", "200", "API requests per second, sustained",
     [](std::string_view text, Settings& s) { return read_positive(text, s.client_qps); }},
    {"kube-client-burst", "KUBE_CLIENT_BURST", "300", "API requests at once",
     [](std::string_view text, Settings& s) { return read_positive(text, s.client_burst); }},
    {"disable-leader-election", "DISABLE_LEADER_ELECTION", "false",
     "run the writers without a lease; only with one replica",
     [](std::string_view text, Settings& s) {
       bool disabled = false;
       std::string problem = read_bool(text, disabled);
       s.leader_election = !disabled;
       return problem;
     }},
    {"leader-election-name", "LEADER_ELECTION_NAME", "karpenter-leader-election",
     "name of the Lease",
     [](std::string_view text, Settings& s) {
       s.leader_election_name = text;
       return std::string(text.empty() ? "must not be empty" : "");
     }},
    {"leader-election-namespace", "LEADER_ELECTION_NAMESPACE", "",
     "namespace of the Lease; empty: our own",
     [](std::string_view text, Settings& s) {
       s.leader_election_namespace = text;
       return std::string();
     }},
    {"namespace", "POD_NAMESPACE", "kube-system", "namespace of our own Secret, Lease and Service",
     [](std::string_view text, Settings& s) {
       s.namespace_ = text;
       return std::string(text.empty() ? "must not be empty" : "");
     }},
    {"certificate-names", "CERTIFICATE_NAMES", "",
     "more DNS names for the serving certificate, separated by commas",
     [](std::string_view text, Settings& s) {
       s.certificate_names = split(text);
       return std::string();
     }},
    {"certificate-overlap", "CERTIFICATE_OVERLAP", "24h",
     "how long an old CA stays trusted beside a new one; the leaf changes at half of it",
     [](std::string_view text, Settings& s) { return read_duration(text, s.certificate_overlap); }},
    {"certificate-check", "CERTIFICATE_CHECK", "1m",
     "how often each replica looks at the Secret of certificates",
     [](std::string_view text, Settings& s) {
       std::string problem = read_duration(text, s.certificate_check);
       return problem.empty() && s.certificate_check == base::Duration::zero()
                  ? std::string("must be above 0")
                  : problem;
     }},
    {"scheduler-wiring", "SCHEDULER_WIRING", "",
     "what was installed: extender, second-scheduler or alone; an Event says when the extender is "
     "never called though it should be. Empty: nobody said",
     [](std::string_view text, Settings& s) {
       s.scheduler_wiring = controllers::parse_wiring(text);
       return text.empty() || s.scheduler_wiring
                  ? std::string()
                  : "must be extender, second-scheduler or alone, not " + quoted(text);
     }},
    {"log-level", "LOG_LEVEL", "info", "debug, info, warn or error",
     [](std::string_view text, Settings& s) { return read_level(text, s.log_level); }},
    {"log-format", "LOG_FORMAT", "json", "json or text",
     [](std::string_view text, Settings& s) {
       if (text != "json" && text != "text") {
         return "must be json or text, not " + quoted(text);
       }
       s.log_format = text == "json" ? base::LogFormat::Json : base::LogFormat::Text;
       return std::string();
     }},
    {"preference-policy", "PREFERENCE_POLICY", "Respect",
     "Respect or Ignore pods' preferences while planning",
     [](std::string_view text, Settings& s) {
       s.controllers.solve.preferences =
           text == "Ignore" ? PreferencePolicy::Ignore : PreferencePolicy::Respect;
       return text == "Ignore" || text == "Respect"
                  ? std::string()
                  : "must be Respect or Ignore, not " + quoted(text);
     }},
    {"min-values-policy", "MIN_VALUES_POLICY", "Strict", "Strict or BestEffort",
     [](std::string_view text, Settings& s) {
       s.controllers.solve.min_values =
           text == "BestEffort" ? MinValuesPolicy::BestEffort : MinValuesPolicy::Strict;
       return text == "BestEffort" || text == "Strict"
                  ? std::string()
                  : "must be Strict or BestEffort, not " + quoted(text);
     }},
    {"scheduler-config", "SCHEDULER_CONFIG", "",
     "default topology spread constraints for pods without any: a KubeSchedulerConfiguration or "
     "Karpenter's podTopologySpread.defaultConstraints, as text or as the path of a file",
     read_scheduler_config, true},
    {"feature-gates", "FEATURE_GATES",
     "NodeRepair=false,ReservedCapacity=true,SpotToSpotConsolidation=false,NodeOverlay=false,"
     "StaticCapacity=false,CapacityBuffer=false",
     "features to switch, as Name=true,Name=false", read_gates},
    {"instance-types-file-path", "INSTANCE_TYPES_FILE_PATH", "",
     "catalog of the simulated kwok cloud, in Karpenter's kwok format",
     [](std::string_view text, Settings& s) {
       s.instance_types_file = text;
       return std::string();
     }},
    {"registration-timeout", "REGISTRATION_TIMEOUT", "15m",
     "a launched NodeClaim that has no Node by then is given up",
     [](std::string_view text, Settings& s) {
       return read_duration(text, s.controllers.registration_timeout);
     }},
    {"launch-timeout", "LAUNCH_TIMEOUT", "5m",
     "a NodeClaim that was not launched by then is given up",
     [](std::string_view text, Settings& s) {
       return read_duration(text, s.controllers.launch_timeout);
     }},
    {"garbage-collection-period", "GARBAGE_COLLECTION_PERIOD", "2m",
     "how often instances without a NodeClaim, and claims without their instance, are looked for",
     [](std::string_view text, Settings& s) {
       return read_duration(text, s.controllers.garbage_collection_period);
     }},
    {"batch-idle-duration", "BATCH_IDLE_DURATION", "25ms",
     "a plan waits until no more pods have come for so long",
     [](std::string_view text, Settings& s) {
       return read_duration(text, s.controllers.batch_idle);
     }},
    {"batch-max-duration", "BATCH_MAX_DURATION", "80ms", "a plan never waits longer for more pods",
     [](std::string_view text, Settings& s) {
       return read_duration(text, s.controllers.batch_max);
     }},
    {"hold-after-ready", "HOLD_AFTER_READY", "30s",
     "how long room is kept for planned pods once their node is Ready",
     [](std::string_view text, Settings& s) {
       s.policy.hold_after_ready = s.controllers.hold_after_ready;
       std::string problem = read_duration(text, s.controllers.hold_after_ready);
       s.policy.hold_after_ready = s.controllers.hold_after_ready;
       return problem;
     }},
    {"extender-bind", "EXTENDER_BIND", "false", "serve the extender's bind verb",
     [](std::string_view text, Settings& s) { return read_bool(text, s.serve_bind); }},
};

// Settings of Karpenter's that mean nothing here: accepted, so that a manifest need not change.
constexpr std::string_view kIgnoredFlags[] = {
    "karpenter-service", "enable-profiling",    "disable-controller-warmup",
    "memory-limit",      "cpu-requests",        "disable-cluster-state-observability",
    "log-output-paths",  "ignore-dra-requests", "log-error-output-paths"};

}  // namespace

std::span<const Setting> setting_table() {
  return kTable;
}

LoadedSettings load_settings(const std::map<std::string, std::string>& flags,
                             const Environment& environment) {
  LoadedSettings loaded;
  for (const auto& setting : kTable) {
    setting.apply(setting.default_text, loaded.settings);
    if (const auto flag = flags.find(std::string(setting.flag)); flag != flags.end()) {
      if (const auto problem = setting.apply(flag->second, loaded.settings); !problem.empty()) {
        loaded.problems.push_back("--" + std::string(setting.flag) + " " + problem);
      }
      continue;
    }
    const auto value = environment(std::string(setting.environment));
    if (!value || value->empty()) {
      continue;
    }
    if (const auto problem = setting.apply(*value, loaded.settings); !problem.empty()) {
      const std::string text = std::string(setting.environment) + " " + problem;
      if (setting.must_be_right) {
        loaded.problems.push_back(text);
      } else {
        loaded.warnings.push_back(text + "; the default counts");
      }
      setting.apply(setting.default_text, loaded.settings);
    }
  }
  loaded.settings.aws_settings.cluster_name = loaded.settings.cluster_name;
  const auto& simulated = loaded.settings.simulated_clouds;
  if (loaded.settings.aws &&
      std::find(simulated.begin(), simulated.end(), cloud::Profile::Aws) != simulated.end()) {
    loaded.problems.emplace_back(
        "--clouds and --simulated-clouds both name aws; EC2NodeClasses can have one of them");
  }
  for (const auto& [name, value] : flags) {
    const bool known = std::any_of(std::begin(kTable), std::end(kTable),
                                   [&](const auto& setting) { return setting.flag == name; });
    if (known) {
      continue;
    }
    if (std::find(std::begin(kIgnoredFlags), std::end(kIgnoredFlags), name) !=
        std::end(kIgnoredFlags)) {
      loaded.warnings.push_back("--" + name + " has no effect here");
    } else {
      loaded.problems.push_back("--" + name + " is not known; see --help");
    }
  }
  return loaded;
}

}  // namespace millwright::app

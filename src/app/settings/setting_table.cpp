// The table of settings.
#include "app/settings/real_clouds.hpp"
#include "app/settings/setting_values.hpp"
#include "millwright/app/settings.hpp"

namespace millwright::app {
namespace {

using AlibabaSettings = cloud::AlibabaSettings;
using AwsSettings = cloud::AwsSettings;
using ControllerOptions = controllers::Options;
using HuaweiSettings = cloud::HuaweiSettings;
using scheduling::MinValuesPolicy;
using scheduling::PreferencePolicy;

constexpr auto kKarpenter = SettingGroup::Karpenter;
constexpr auto kMillwright = SettingGroup::Millwright;
constexpr auto kAws = SettingGroup::Aws;
constexpr auto kAlibaba = SettingGroup::Alibaba;
constexpr auto kHuawei = SettingGroup::Huawei;
constexpr auto kSimulated = SettingGroup::Simulated;
constexpr auto kNoEffect = SettingGroup::NoEffect;

// How a text is stored in a member: as it is, or read by one of the functions of setting_values.
template <auto Member>
std::string text(std::string_view value, Settings& settings) {
  settings.*Member = value;
  return {};
}
template <auto Member>
std::string some_text(std::string_view value, Settings& settings) {
  settings.*Member = value;
  return value.empty() ? "must not be empty" : "";
}
template <auto Read, auto Member>
std::string value(std::string_view value, Settings& settings) {
  return Read(value, settings.*Member);
}
template <auto Member>
std::string aws_text(std::string_view value, Settings& settings) {
  settings.aws_settings.*Member = value;
  return {};
}
template <auto Read, auto Member>
std::string aws(std::string_view value, Settings& settings) {
  return Read(value, settings.aws_settings.*Member);
}
template <auto Member>
std::string alibaba_text(std::string_view value, Settings& settings) {
  settings.alibaba_settings.*Member = value;
  return {};
}
template <auto Read, auto Member>
std::string alibaba(std::string_view value, Settings& settings) {
  return Read(value, settings.alibaba_settings.*Member);
}
template <auto Member>
std::string huawei_text(std::string_view value, Settings& settings) {
  settings.huawei_settings.*Member = value;
  return {};
}
template <auto Read, auto Member>
std::string huawei(std::string_view value, Settings& settings) {
  return Read(value, settings.huawei_settings.*Member);
}
template <auto Read, auto Member>
std::string controller(std::string_view value, Settings& settings) {
  return Read(value, settings.controllers.*Member);
}
template <auto Member>
std::string legacy_text(std::string_view value, Settings& settings) {
  settings.controllers.legacy.*Member = value;
  return {};
}
std::string ignore(std::string_view /*value*/, Settings& /*settings*/) {
  return {};
}

const Setting kTable[] = {
    // Karpenter's, whatever the cloud.
    {"metrics-port", "METRICS_PORT", "8080", "plain HTTP port of /metrics",
     value<read_port, &Settings::metrics_port>, kKarpenter},
    {"health-probe-port", "HEALTH_PROBE_PORT", "8081", "plain HTTP port of /healthz and /readyz",
     value<read_port, &Settings::health_port>, kKarpenter},
    {"enable-profiling", "ENABLE_PROFILING", "false",
     "serve CPU profiles on the metrics port, under /debug/pprof/profile (docs/metrics.md)",
     value<read_bool, &Settings::profiling>, kKarpenter},
    {"kube-client-qps", "KUBE_CLIENT_QPS", "200",
     "API requests per second, sustained; at most half of them are evictions",
     value<read_positive, &Settings::client_qps>, kKarpenter},
    {"kube-client-burst", "KUBE_CLIENT_BURST", "300", "API requests at once",
     value<read_positive, &Settings::client_burst>, kKarpenter},
    {"disable-leader-election", "DISABLE_LEADER_ELECTION", "false",
     "run the writers without a lease; only with one replica",
     [](std::string_view text, Settings& s) {
       bool disabled = false;
       std::string problem = read_bool(text, disabled);
       s.leader_election = !disabled;
       return problem;
     },
     kKarpenter},
    {"leader-election-name", "LEADER_ELECTION_NAME", "karpenter-leader-election",
     "name of the Lease", some_text<&Settings::leader_election_name>, kKarpenter},
    {"leader-election-namespace", "LEADER_ELECTION_NAMESPACE", "",
     "namespace of the Lease; empty: our own", text<&Settings::leader_election_namespace>,
     kKarpenter},
    {"log-level", "LOG_LEVEL", "info", "debug, info, warn or error",
     value<read_level, &Settings::log_level>, kKarpenter},
    {"preference-policy", "PREFERENCE_POLICY", "Respect",
     "Respect or Ignore pods' preferences while planning",
     [](std::string_view text, Settings& s) {
       s.controllers.solve.preferences =
           text == "Ignore" ? PreferencePolicy::Ignore : PreferencePolicy::Respect;
       return text == "Ignore" || text == "Respect"
                  ? std::string()
                  : "must be Respect or Ignore, not " + in_quotes(text);
     },
     kKarpenter},
    {"min-values-policy", "MIN_VALUES_POLICY", "Strict", "Strict or BestEffort",
     [](std::string_view text, Settings& s) {
       s.controllers.solve.min_values =
           text == "BestEffort" ? MinValuesPolicy::BestEffort : MinValuesPolicy::Strict;
       return text == "BestEffort" || text == "Strict"
                  ? std::string()
                  : "must be Strict or BestEffort, not " + in_quotes(text);
     },
     kKarpenter},
    {"scheduler-config", "SCHEDULER_CONFIG", "",
     "default topology spread constraints for pods without any: a KubeSchedulerConfiguration or "
     "Karpenter's podTopologySpread.defaultConstraints, as text or as the path of a file",
     read_scheduler_config, kKarpenter, true},
    {"feature-gates", "FEATURE_GATES",
     "NodeRepair=false,ReservedCapacity=true,SpotToSpotConsolidation=false,NodeOverlay=false,"
     "StaticCapacity=false,CapacityBuffer=false",
     "features to switch, as Name=true,Name=false", read_gates, kKarpenter},
    {"ignore-dra-requests", "IGNORE_DRA_REQUESTS", "true",
     "refuse pods with resource claims; false: plan for the devices that they claim",
     [](std::string_view text, Settings& s) {
       bool ignored = true;
       std::string problem = read_bool(text, ignored);
       s.controllers.solve.resource_claims = !ignored;
       return problem;
     },
     kKarpenter},
    {"batch-idle-duration", "BATCH_IDLE_DURATION", "25ms",
     "a plan waits until no more pods have come for so long",
     controller<read_duration, &ControllerOptions::batch_idle>, kKarpenter},
    {"batch-max-duration", "BATCH_MAX_DURATION", "80ms", "a plan never waits longer for more pods",
     controller<read_duration, &ControllerOptions::batch_max>, kKarpenter},
    {"cluster-name", "CLUSTER_NAME", "", "name of the cluster, for tags on instances",
     text<&Settings::cluster_name>, kKarpenter},
    // Millwright's own.
    {"kubeconfig", "KUBECONFIG", "", "kubeconfig file; empty inside a cluster",
     text<&Settings::kubeconfig>, kMillwright},
    {"context", "KUBE_CONTEXT", "", "context of the kubeconfig; empty: its current one",
     text<&Settings::context>, kMillwright},
    {"namespace", "POD_NAMESPACE", "kube-system", "namespace of our own Secret, Lease and Service",
     some_text<&Settings::namespace_>, kMillwright},
    {"dra-config-file", "DRA_CONFIG_FILE", "",
     "file of DRAConfigs: the devices of nodes to come whose type has published none yet, for "
     "--ignore-dra-requests=false (docs/gated.md)",
     read_device_config, kMillwright, true},
    {"pod-ip", "POD_IP", "",
     "address of this replica, which it writes as the endpoint of Service millwright-extender "
     "while it leads; empty: nothing is written",
     value<read_address, &Settings::pod_ip>, kMillwright},
    {"clouds", "CLOUDS", "", "real clouds to launch instances in: aws, alibaba, huawei",
     value<read_real_clouds, &Settings::clouds>, kMillwright},
    {"bind-address", "BIND_ADDRESS", "::",
     "address that all ports are opened on; `::` means all addresses of IPv6 and IPv4, or of IPv4 "
     "alone where there is no IPv6",
     text<&Settings::bind_address>, kMillwright},
    {"serving-port", "SERVING_PORT", "8443", "HTTPS port of the webhooks",
     value<read_port, &Settings::serving_port>, kMillwright},
    {"extender-port", "EXTENDER_PORT", "8444",
     "HTTPS port of the extender; callers must show a client certificate",
     value<read_port, &Settings::extender_port>, kMillwright},
    {"asking-port", "ASKING_PORT", "0",
     "HTTPS port of `millwright why` and `top`, for callers with a token of the cluster; 0: none",
     value<read_port, &Settings::asking_port>, kMillwright},
    {"console", "CONSOLE", "false",
     "serve the page of `millwright console` on --asking-port (docs/asking.md)",
     value<read_bool, &Settings::console>, kMillwright},
    {"certificate-names", "CERTIFICATE_NAMES", "",
     "more DNS names for the serving certificate, separated by commas",
     [](std::string_view text, Settings& s) {
       s.certificate_names = split(text);
       return std::string();
     },
     kMillwright},
    {"certificate-overlap", "CERTIFICATE_OVERLAP", "24h",
     "how long an old CA stays trusted beside a new one; the leaf changes at half of it",
     value<read_duration, &Settings::certificate_overlap>, kMillwright},
    {"certificate-check", "CERTIFICATE_CHECK", "1m",
     "how often each replica looks at the Secret of certificates",
     [](std::string_view text, Settings& s) {
       std::string problem = read_duration(text, s.certificate_check);
       return problem.empty() && s.certificate_check == base::Duration::zero()
                  ? std::string("must be above 0")
                  : problem;
     },
     kMillwright},
    {"supplied-certificates", "SUPPLIED_CERTIFICATES", "false",
     "the Secret of certificates is written by somebody else, such as cert-manager: wait for it "
     "and never write it",
     value<read_bool, &Settings::supplied_certificates>, kMillwright},
    {"scheduler-wiring", "SCHEDULER_WIRING", "",
     "what was installed: extender, second-scheduler or alone; an Event says when the extender is "
     "never called though it should be. Empty: nobody said",
     [](std::string_view text, Settings& s) {
       s.scheduler_wiring = controllers::parse_wiring(text);
       return text.empty() || s.scheduler_wiring
                  ? std::string()
                  : "must be extender, second-scheduler or alone, not " + in_quotes(text);
     },
     kMillwright},
    {"log-format", "LOG_FORMAT", "json", "json or text",
     [](std::string_view text, Settings& s) {
       if (text != "json" && text != "text") {
         return "must be json or text, not " + in_quotes(text);
       }
       s.log_format = text == "json" ? base::LogFormat::Json : base::LogFormat::Text;
       return std::string();
     },
     kMillwright},
    {"decision-log", "DECISION_LOG", "",
     "file to which each decision is written as a line of JSON (docs/asking.md), - for standard "
     "output; empty: the newest are kept in memory only",
     text<&Settings::decision_log>, kMillwright},
    {"shadow", "SHADOW", "false",
     "watch a cluster that another autoscaler runs, write nothing, and tell what would have been "
     "done and what it would have cost (docs/asking.md)",
     value<read_bool, &Settings::shadow>, kMillwright, true},
    {"shadow-report-interval", "SHADOW_REPORT_INTERVAL", "10m",
     "how often --shadow logs what it came to so far",
     [](std::string_view text, Settings& s) {
       std::string problem = read_duration(text, s.shadow_report_interval);
       return problem.empty() && s.shadow_report_interval == base::Duration::zero()
                  ? std::string("must be above 0")
                  : problem;
     },
     kMillwright},
    {"registration-timeout", "REGISTRATION_TIMEOUT", "15m",
     "a NodeClaim that has no Node so long after its launch is given up",
     controller<read_duration, &ControllerOptions::registration_timeout>, kMillwright},
    {"launch-timeout", "LAUNCH_TIMEOUT", "5m",
     "a NodeClaim that was not launched by then is given up",
     controller<read_duration, &ControllerOptions::launch_timeout>, kMillwright},
    {"garbage-collection-period", "GARBAGE_COLLECTION_PERIOD", "2m",
     "how often instances without a NodeClaim, and claims without their instance, are looked for",
     controller<read_duration, &ControllerOptions::garbage_collection_period>, kMillwright},
    {"draft-idle", "DRAFT_IDLE", "60ms",
     "a planned NodeClaim with room for more pods is created once no more have come for so long",
     controller<read_duration, &ControllerOptions::draft_idle>, kMillwright},
    {"draft-max", "DRAFT_MAX", "1s",
     "and at the latest so long after the first NodeClaim that waits so was planned",
     controller<read_duration, &ControllerOptions::draft_max>, kMillwright},
    {"reserve-after-ready", "RESERVE_AFTER_READY", "30s",
     "how long room stays reserved for planned pods once their node is Ready",
     controller<read_duration, &ControllerOptions::reserve_after_ready>, kMillwright},
    {"node-overhead", "NODE_OVERHEAD", "0.005",
     "what a node costs per hour beside its instance (disk, address, licences), in the currency of "
     "the cloud's prices; the annotation millwright.io/node-overhead of a NodePool comes first",
     controller<read_price, &ControllerOptions::node_overhead>, kMillwright},
    {"max-price-ratio", "MAX_PRICE_RATIO", "0",
     "a NodeClaim lists no instance type that costs more than so many times the cheapest one, "
     "unless minValues asks for it; 0: it lists all that hold its pods; the annotation "
     "millwright.io/max-price-ratio of a NodePool comes first",
     controller<read_price_ratio, &ControllerOptions::max_price_ratio>, kMillwright},
    {"extender-bind", "EXTENDER_BIND", "false", "serve the extender's bind verb",
     value<read_bool, &Settings::serve_bind>, kMillwright},
    {"extender-full-nodes", "EXTENDER_FULL_NODES", "false",
     "take requests of up to 64 MiB instead of 2 MiB: for a kube-scheduler that sends whole Nodes "
     "(nodeCacheCapable: false)",
     value<read_bool, &Settings::full_nodes>, kMillwright},
    // Two providers have it, with defaults of their own.
    {"vm-memory-overhead-percent", "VM_MEMORY_OVERHEAD_PERCENT", "",
     "part of an instance's memory that its node will not have; empty: 0.075 of EC2's, 0.065 of "
     "ECS's",
     read_memory_overhead, SettingGroup::AwsAndAlibaba},
    // Karpenter's provider for AWS; the price files are ours.
    {"cluster-endpoint", "CLUSTER_ENDPOINT", "",
     "URL of the API server for new AWS nodes; empty: EKS tells",
     aws_text<&AwsSettings::cluster_endpoint>, kAws},
    {"cluster-ca-bundle", "CLUSTER_CA_BUNDLE", "",
     "base64 of the API server's CA for new AWS nodes; empty: EKS tells",
     aws_text<&AwsSettings::cluster_ca_bundle>, kAws},
    {"isolated-vpc", "ISOLATED_VPC", "false", "the AWS Pricing API cannot be reached",
     aws<read_bool, &AwsSettings::isolated_vpc>, kAws},
    {"reserved-enis", "RESERVED_ENIS", "0", "ENIs of each EC2 instance that pods cannot use",
     aws<read_count, &AwsSettings::reserved_enis>, kAws},
    {"disable-dry-run", "DISABLE_DRY_RUN", "false",
     "do not ask EC2 whether it would let an EC2NodeClass's machines be launched",
     aws<read_bool, &AwsSettings::disable_dry_run>, kAws},
    {"enable-zonal-shift", "ENABLE_ZONAL_SHIFT", "false",
     "buy nothing in zones that the EKS cluster has been shifted away from",
     aws<read_bool, &AwsSettings::enable_zonal_shift>, kAws},
    {"interruption-queue", "INTERRUPTION_QUEUE", "",
     "SQS queue with interruption events of EC2; empty: none is read",
     aws_text<&AwsSettings::interruption_queue>, kAws},
    {"aws-price-file", "AWS_PRICE_FILE", "", "EC2 prices to use while AWS tells none (docs/aws.md)",
     aws_text<&AwsSettings::price_file>, kAws},
    {"aws-price-cache", "AWS_PRICE_CACHE", "", "file in which AWS's last prices outlive a restart",
     aws_text<&AwsSettings::price_cache>, kAws},
    {"eks-control-plane", "EKS_CONTROL_PLANE", "false",
     "the control plane is EKS: facts about the cluster come from its API",
     aws<read_bool, &AwsSettings::eks_control_plane>, kAws},
    {"ami-refresh-interval", "AMI_REFRESH_INTERVAL", "1m",
     "how often the images of EC2NodeClasses are looked up; at least 1m", read_ami_interval, kAws},
    {"subnet-refresh-interval", "SUBNET_REFRESH_INTERVAL", "1m",
     "how often the subnets of EC2NodeClasses are looked up",
     aws<read_duration, &AwsSettings::subnet_refresh_interval>, kAws},
    {"aws-feature-gates", "AWS_FEATURE_GATES", "NodeClassCEL=false",
     "features of the AWS provider to switch, as Name=true,Name=false", read_aws_gates, kAws},
    {"legacy-node-role", "LEGACY_NODE_ROLE", "KarpenterNodeRole",
     "IAM role of nodes whose AWSNodeTemplate names no instance profile",
     legacy_text<&controllers::LegacySettings::node_role>, kAws},
    {"legacy-instance-profile", "LEGACY_INSTANCE_PROFILE", "",
     "instance profile of such nodes instead (aws.defaultInstanceProfile of Karpenter's old "
     "ConfigMap)",
     legacy_text<&controllers::LegacySettings::default_instance_profile>, kAws},
    // CloudPilot's provider for Alibaba Cloud; the flag of the region and the price files are ours.
    {"alibaba-region", "ALIBABA_CLOUD_REGION_ID", "",
     "region of the ECS instances; empty: as docs/alibaba.md says, at last this machine's own",
     alibaba_text<&AlibabaSettings::region>, kAlibaba},
    {"cluster-id", "CLUSTER_ID", "", "id of the ACK cluster",
     alibaba_text<&AlibabaSettings::cluster_id>, kAlibaba},
    {"cluster-type", "CLUSTER_TYPE", "ACKManaged",
     "ACKManaged; or Custom: nodes join by the class's user data alone",
     alibaba<read_cluster_type, &AlibabaSettings::custom_cluster>, kAlibaba},
    {"interruption", "INTERRUPTION", "true",
     "drain the nodes of spot instances that ECS is about to take back",
     alibaba<read_bool, &AlibabaSettings::interruption>, kAlibaba},
    {"alibaba-price-file", "ALIBABA_PRICE_FILE", "",
     "ECS prices to use while Alibaba Cloud tells none (docs/alibaba.md)",
     alibaba_text<&AlibabaSettings::price_file>, kAlibaba},
    {"alibaba-price-cache", "ALIBABA_PRICE_CACHE", "",
     "file in which ECS's last prices outlive a restart",
     alibaba_text<&AlibabaSettings::price_cache>, kAlibaba},
    // The first three variables are those of Karpenter's provider for Huawei Cloud; the rest is
    // ours.
    {"huawei-region", "HUAWEICLOUD_SDK_REGION_ID", "", "region of the CCE cluster",
     huawei_text<&HuaweiSettings::region>, kHuawei},
    {"huawei-cluster-id", "HUAWEICLOUD_SDK_CCE_CLUSTER_ID", "", "id of the CCE cluster",
     huawei_text<&HuaweiSettings::cluster_id>, kHuawei},
    {"huawei-project-id", "HUAWEICLOUD_SDK_PROJECT_ID", "",
     "id of the project; empty: the region's only one", huawei_text<&HuaweiSettings::project_id>,
     kHuawei},
    {"huawei-price-file", "HUAWEI_PRICE_FILE", "",
     "prices to use while Huawei Cloud tells none, and those of spot (docs/huawei.md)",
     huawei_text<&HuaweiSettings::price_file>, kHuawei},
    {"huawei-price-cache", "HUAWEI_PRICE_CACHE", "",
     "file in which Huawei Cloud's last prices outlive a restart",
     huawei_text<&HuaweiSettings::price_cache>, kHuawei},
    {"huawei-spot", "HUAWEI_SPOT", "false",
     "offer flavors as spot where Huawei Cloud says that it sells them so (docs/huawei.md)",
     huawei<read_bool, &HuaweiSettings::spot>, kHuawei},
    // Clouds that exist only in memory.
    {"simulated-clouds", "SIMULATED_CLOUDS", "kwok",
     "clouds that exist only in memory: kwok, aws, alibaba, huawei", read_clouds, kSimulated},
    {"simulated-cloud-url", "SIMULATED_CLOUD_URL", "",
     "where `millwright cloud` serves the simulated clouds; empty: in this process, which forgets "
     "their instances when it ends",
     text<&Settings::simulated_cloud_url>, kSimulated},
    {"instance-types-file-path", "INSTANCE_TYPES_FILE_PATH", "",
     "catalog of the simulated kwok cloud, in Karpenter's kwok format",
     text<&Settings::instance_types_file>, kSimulated},
    // Karpenter's without a meaning here: taken with a warning, so that a manifest need not change.
    {"karpenter-service", "KARPENTER_SERVICE", "", "the Service is called millwright", ignore,
     kNoEffect},
    {"disable-controller-warmup", "DISABLE_CONTROLLER_WARMUP", "",
     "every replica keeps its cluster state up to date", ignore, kNoEffect},
    {"memory-limit", "MEMORY_LIMIT", "", "there is no garbage collector to limit", ignore,
     kNoEffect},
    {"cpu-requests", "CPU_REQUESTS", "", "the number of threads is fixed", ignore, kNoEffect},
    {"disable-cluster-state-observability", "DISABLE_CLUSTER_STATE_OBSERVABILITY", "",
     "gauges of the cluster state cost nothing until /metrics is read", ignore, kNoEffect},
    {"log-output-paths", "LOG_OUTPUT_PATHS", "", "the log goes to standard output", ignore,
     kNoEffect},
    {"log-error-output-paths", "LOG_ERROR_OUTPUT_PATHS", "", "the log goes to standard output",
     ignore, kNoEffect},
    {"telemetry-share", "TELEMETRY_SHARE", "", "no telemetry is sent to anybody", ignore,
     kNoEffect},
    {"apg-creation-qps", "APG_CREATION_QPS", "",
     "calls to Alibaba Cloud slow down where it throttles them", ignore, kNoEffect},
};

}  // namespace

std::span<const Setting> setting_table() {
  return kTable;
}

}  // namespace millwright::app

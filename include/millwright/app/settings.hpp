// The configuration of `millwright controller`: one table of settings, each a flag and an
// environment variable with Karpenter's names where Karpenter has them. The flag wins.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/cloud/alibaba.hpp"
#include "millwright/cloud/aws.hpp"
#include "millwright/cloud/huawei.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/controllers/process/calling_scheduler.hpp"
#include "millwright/controllers/services.hpp"
#include "millwright/extender/extender.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

struct Settings {
  std::string kubeconfig;
  std::string context;
  std::string cluster_name;
  std::vector<cloud::Profile> clouds;  // whose NodeClasses are served with real instances
  cloud::AwsSettings aws_settings;
  cloud::AlibabaSettings alibaba_settings;
  cloud::HuaweiSettings huawei_settings;
  // With shadow, empty: those whose NodeClasses are there.
  std::vector<cloud::Profile> simulated_clouds;
  std::string simulated_cloud_url;  // empty: they live in this process
  int metrics_port = 8080;
  int health_port = 8081;
  int serving_port = 8443;   // webhooks, HTTPS
  int extender_port = 8444;  // extender, HTTPS for callers with a client certificate
  int asking_port = 0;       // `why --server`, HTTPS for callers with a token; 0: not served
  bool console = false;      // on that port, a page for browsers
  bool profiling = false;    // CPU profiles on the metrics port
  std::string bind_address = "::";
  double client_qps = 200;
  double client_burst = 300;
  bool leader_election = true;
  std::string leader_election_name = "karpenter-leader-election";
  std::string leader_election_namespace;  // empty: our own
  std::string namespace_ = "kube-system";
  std::string pod_ip;                          // empty: kube-scheduler is not led to the leader
  std::vector<std::string> certificate_names;  // DNS names besides the Service's
  base::Duration certificate_overlap = std::chrono::hours(24);
  base::Duration certificate_check = std::chrono::minutes(1);
  bool supplied_certificates = false;                   // somebody else writes the Secret
  std::optional<controllers::Wiring> scheduler_wiring;  // what was installed
  base::LogLevel log_level = base::LogLevel::Info;
  base::LogFormat log_format = base::LogFormat::Json;
  bool shadow = false;  // watch the cluster and write nothing
  base::Duration shadow_report_interval = std::chrono::minutes(10);
  std::string decision_log;  // a path, or "-"; empty: decisions are not written
  std::string instance_types_file;
  bool serve_bind = false;
  bool full_nodes = false;                        // the extender takes whole Nodes instead of names
  std::map<std::string, bool> feature_gates;      // as switched, known or not
  std::map<std::string, bool> aws_feature_gates;  // the same
  controllers::Options controllers;
  extender::Policy policy;
};

// Whose a setting is.
enum class SettingGroup {
  Karpenter,
  Millwright,
  AwsAndAlibaba,
  Aws,
  Alibaba,
  Huawei,
  Simulated,
  NoEffect,
};

struct Setting {
  std::string_view flag;         // "metrics-port"
  std::string_view environment;  // "METRICS_PORT"
  std::string_view default_text;
  std::string_view help;
  // Stores the value; what is wrong with it, or empty.
  std::string (*apply)(std::string_view text, Settings& settings);
  SettingGroup group = SettingGroup::Millwright;
  // A malformed environment value is a problem too: the default would quietly be something else.
  bool must_be_right = false;
};
std::span<const Setting> setting_table();

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

struct LoadedSettings {
  Settings settings;
  std::vector<std::string> problems;  // all of them; not empty: do not start
  // What was given and does not count: wrong environment values (Karpenter ignores those too),
  // settings and feature gates without effect.
  std::vector<std::string> warnings;
};
// `flags` by flag name, without dashes.
LoadedSettings load_settings(const std::map<std::string, std::string>& flags,
                             const Environment& environment);

// The table for --help, and as the page docs/settings.md.
std::string settings_help();
std::string settings_reference();

}  // namespace millwright::app

// The documents that `millwright install` prints, by concern.
#pragma once

#include "millwright/app/install.hpp"
#include "millwright/controllers/process/calling_scheduler.hpp"
#include "millwright/controllers/process/extender_endpoint.hpp"

#include <boost/json/value.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::app::install {

inline constexpr std::string_view kName = "millwright";  // fixed: the program looks for these names
inline constexpr std::string_view kCertificateSecret = "millwright-certs";
// Names of the Secrets that hold a cloud's keys, as in the charts people come from.
inline constexpr std::string_view kAlibabaSecret = "alibabacloud-credentials";
inline constexpr std::string_view kHuaweiSecret = "huawei-credentials";
inline constexpr std::string_view kLeaseName = "karpenter-leader-election";
inline constexpr std::string_view kSchedulerName = controllers::kSecondScheduler;
inline constexpr std::string_view kOptInLabel = "millwright.io/scheduler";
inline constexpr int kWebhookPort = 8443;
inline constexpr int kExtenderPort = 8444;
inline constexpr int kMetricsPort = 8080;
inline constexpr int kHealthPort = 8081;

bool serves(const InstallOptions& options, cloud::Profile cloud);
// extender, second-scheduler or alone.
std::string_view install_mode_name(InstallMode mode);

// A YAML document, with comments above it and, for roles, above each of its rules.
struct Document {
  std::string why;
  boost::json::value object;
  std::vector<std::string> rule_reasons;  // as many as the role has rules; else empty
};
using Documents = std::vector<Document>;

struct Target {
  std::string_view api_version;
  std::string_view kind;
  std::string name;
  std::string namespace_;  // empty: cluster-scoped
  std::string_view application = kName;
};
// apiVersion, kind and metadata with our labels.
boost::json::object header(const Target& target);
boost::json::object labels(std::string_view application);  // also the selector of our pods
boost::json::array strings(std::initializer_list<std::string_view> texts);

Documents namespace_and_crds(const InstallOptions& options);
Documents permissions(const InstallOptions& options);
Documents admission_policies(const InstallOptions& options);
Documents flow_schemas(const InstallOptions& options);
Documents workload(const InstallOptions& options);
Documents webhooks(const InstallOptions& options);
Documents second_scheduler(const InstallOptions& options);
Documents opt_in_policy();
Documents reading_permissions();
// {"extenders": [...]}
boost::json::object scheduler_stanza(const InstallOptions& options);

// What every pod of ours is: not root, nothing writable, no capability ("restricted").
boost::json::object pod_security();
boost::json::object container_security();
// One replica per host, never on nodes that Millwright itself buys and removes.
boost::json::object affinity(std::string_view application);
boost::json::array tolerations();
boost::json::object disruption_budget(std::string_view name, const std::string& namespace_);

}  // namespace millwright::app::install

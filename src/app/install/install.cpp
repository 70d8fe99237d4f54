#include "millwright/app/install.hpp"

#include "app/install/install_parts.hpp"
#include "app/settings/real_clouds.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/schema/schema.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace millwright::app {
namespace install {
namespace {

namespace json = boost::json;

// "# " before each line of a text that is wrapped at 100 columns.
std::string comment(std::string_view text, std::string_view indent) {
  constexpr std::size_t kColumns = 98;
  std::string out;
  std::string line;
  const auto flush = [&] {
    out.append(indent).append("# ").append(line).append("\n");
    line.clear();
  };
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (!line.empty() && indent.size() + 3 + line.size() + word.size() > kColumns) {
      flush();
    }
    line.append(line.empty() ? "" : " ").append(word);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  if (!line.empty()) {
    flush();
  }
  return out;
}

std::string to_text(const Document& document) {
  std::string out = "---\n" + comment(document.why, "");
  if (document.rule_reasons.empty()) {
    return out + model::to_yaml(document.object);
  }
  json::object head = document.object.as_object();
  const json::array rules = head.at("rules").as_array();
  head.erase("rules");
  out += model::to_yaml(head) + "rules:\n";
  for (std::size_t i = 0; i < rules.size(); ++i) {
    out += comment(document.rule_reasons[i], "") + model::to_yaml(json::array{rules[i]});
  }
  return out;
}

std::string to_text(const Documents& documents) {
  std::string out;
  for (const auto& document : documents) {
    out += to_text(document);
  }
  return out;
}

void append(Documents& to, Documents more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

// RFC 1123 label: what a namespace's name may be.
bool is_label(std::string_view text) {
  const auto inner = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !text.empty() && text.size() <= 63 && std::all_of(text.begin(), text.end(), inner) &&
         text.front() != '-' && text.back() != '-';
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isgraph(c) != 0; });
}

tl::unexpected<base::Error> invalid(std::string message) {
  return base::fail(base::ErrorKind::Invalid, std::move(message));
}

base::Result<> check_clouds(const InstallOptions& options) {
  struct Need {
    cloud::Profile cloud;
    const std::string& value;
    std::string_view option;
    std::string_view why;
  };
  const Need needs[] = {
      {cloud::Profile::Aws, options.cluster_name, "--cluster-name", "instances are tagged with it"},
      {cloud::Profile::Alibaba, options.cluster_id, "--cluster-id",
       "nodes join the ACK cluster of that id"}};
  for (const auto& [cloud, value, option, why] : needs) {
    if (!value.empty() && !is_word(value)) {
      return invalid(std::string(option) + " must not hold blanks, as \"" + value + "\" does");
    }
    if (value.empty() && serves(options, cloud)) {
      return invalid("--clouds " + std::string(cloud::to_string(cloud)) + " needs " +
                     std::string(option) + ": " + std::string(why));
    }
  }
  if (const auto problems = named_twice(options.clouds, options.simulated_clouds);
      !problems.empty()) {
    return invalid(problems.front());
  }
  return {};
}

base::Result<> check_asking_port(int port) {
  constexpr int kHighestPort = 65535;
  if (port < 0 || port > kHighestPort) {
    return invalid("--asking-port must be a port, or 0 for none, not " + std::to_string(port));
  }
  for (const int taken : {kWebhookPort, kExtenderPort, kMetricsPort, kHealthPort}) {
    if (port == taken) {
      return invalid("--asking-port must not be " + std::to_string(port) +
                     ", which another port of the program is; 8445 is free");
    }
  }
  return {};
}

base::Result<> check(const InstallOptions& options) {
  if (!is_label(options.namespace_)) {
    return invalid("--namespace must be lower-case letters, digits and dashes, at most 63, not \"" +
                   options.namespace_ + "\"");
  }
  if (!options.lease_namespace.empty() && !is_label(options.lease_namespace)) {
    return invalid("--leader-election-namespace must be the name of a namespace, not \"" +
                   options.lease_namespace + "\"");
  }
  constexpr int kMostReplicas = 9;
  if (options.replicas < 1 || options.replicas > kMostReplicas) {
    return invalid("--replicas must be from 1 to 9, not " + std::to_string(options.replicas));
  }
  if (!options.image.empty() && !is_word(options.image)) {
    return invalid("--image must be an image reference without blanks, not \"" + options.image +
                   "\"");
  }
  if (!is_word(options.scheduler_image)) {
    return invalid("--scheduler-image must be an image reference without blanks, not \"" +
                   options.scheduler_image + "\"");
  }
  if (auto port = check_asking_port(options.asking_port); !port) {
    return port;
  }
  if (options.console && options.asking_port == 0) {
    return invalid("--console needs --asking-port, which it is served on");
  }
  if (auto clouds = check_clouds(options); !clouds) {
    return clouds;
  }
  if (!is_word(options.cluster_ip) || !is_word(options.ca_data) ||
      !is_word(options.client_cert_data) || !is_word(options.client_key_data)) {
    return invalid(
        "--cluster-ip, --ca-data, --client-cert-data and --client-key-data must not be empty or "
        "hold blanks");
  }
  if (!options.tls_directory.empty() &&
      (!is_word(options.tls_directory) || options.tls_directory.front() != '/')) {
    return invalid("--tls-dir must be an absolute path without blanks, not \"" +
                   options.tls_directory + "\"");
  }
  return {};
}

Documents everything(const InstallOptions& options) {
  Documents documents = namespace_and_crds(options);
  append(documents, permissions(options));
  append(documents, admission_policies(options));
  append(documents, flow_schemas(options));
  append(documents, workload(options));
  append(documents, webhooks(options));
  if (options.mode == InstallMode::SecondScheduler) {
    append(documents, second_scheduler(options));
  }
  return documents;
}

}  // namespace

bool serves(const InstallOptions& options, cloud::Profile cloud) {
  return std::find(options.clouds.begin(), options.clouds.end(), cloud) != options.clouds.end();
}

std::string_view install_mode_name(InstallMode mode) {
  switch (mode) {
    case InstallMode::Extender:
      return "extender";
    case InstallMode::SecondScheduler:
      return "second-scheduler";
    case InstallMode::Alone:
      break;
  }
  return "alone";
}

json::array strings(std::initializer_list<std::string_view> texts) {
  json::array out;
  for (const auto text : texts) {
    out.emplace_back(text);
  }
  return out;
}

json::object labels(std::string_view application) {
  return {{"app.kubernetes.io/name", application}, {"app.kubernetes.io/instance", kName}};
}

json::object header(const Target& target) {
  json::object metadata{{"name", target.name}};
  if (!target.namespace_.empty()) {
    metadata["namespace"] = target.namespace_;
  }
  metadata["labels"] = labels(target.application);
  return {
      {"apiVersion", target.api_version}, {"kind", target.kind}, {"metadata", std::move(metadata)}};
}

Documents namespace_and_crds(const InstallOptions& options) {
  Documents documents;
  // A namespace that every cluster has is not ours to apply, label or delete.
  if (!options.namespace_.starts_with("kube-") && options.namespace_ != "default") {
    json::object space = header({"v1", "Namespace", options.namespace_, {}});
    auto& own = space.at("metadata").at("labels").as_object();
    own["pod-security.kubernetes.io/enforce"] = "restricted";
    documents.push_back({"Pods here meet the strictest Pod Security level.", std::move(space), {}});
  }
  if (options.crds) {
    for (const auto* kind : schema::all_kinds()) {
      documents.push_back(
          {"Deleting this definition deletes its objects, and with them their nodes.",
           schema::crd(*kind),
           {}});
    }
  }
  return documents;
}

}  // namespace install

base::Result<InstallMode> parse_install_mode(std::string_view text) {
  if (text == "extender") {
    return InstallMode::Extender;
  }
  if (text == "second-scheduler") {
    return InstallMode::SecondScheduler;
  }
  if (text == "alone") {
    return InstallMode::Alone;
  }
  return base::fail(
      base::ErrorKind::Invalid,
      "--mode must be extender, second-scheduler or alone, not \"" + std::string(text) + "\"");
}

base::Result<InstallPart> parse_install_part(std::string_view text) {
  if (text == "all") {
    return InstallPart::Everything;
  }
  if (text == "stanza") {
    return InstallPart::SchedulerStanza;
  }
  if (text == "second-scheduler") {
    return InstallPart::SecondScheduler;
  }
  if (text == "reader") {
    return InstallPart::Reader;
  }
  if (text == "opt-in-policy") {
    return InstallPart::OptInPolicy;
  }
  return base::fail(
      base::ErrorKind::Invalid,
      "--part must be all, stanza, second-scheduler, opt-in-policy or reader, not \"" +
          std::string(text) + "\"");
}

base::Result<std::string> install_text(const InstallOptions& options) {
  auto checked = install::check(options);
  if (!checked) {
    return tl::unexpected(std::move(checked).error());
  }
  switch (options.part) {
    case InstallPart::SchedulerStanza:
      return install::comment(
                 "For the KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) of an "
                 "existing kube-scheduler. CLUSTER_IP is the address of Service "
                 "millwright-extender: on the host network its name does not resolve. CA_DATA, "
                 "CLIENT_CERT_DATA and CLIENT_KEY_DATA are ca.crt, client.crt and client.key of "
                 "Secret millwright-certs, as they stand there; kube-scheduler reads them once, at "
                 "its start. See docs/install.md.",
                 "") +
             model::to_yaml(install::scheduler_stanza(options));
    case InstallPart::SecondScheduler:
      return install::to_text(install::second_scheduler(options));
    case InstallPart::OptInPolicy:
      return install::to_text(install::opt_in_policy());
    case InstallPart::Reader:
      return install::to_text(install::reading_permissions());
    case InstallPart::Everything:
      break;
  }
  return install::to_text(install::everything(options));
}

}  // namespace millwright::app

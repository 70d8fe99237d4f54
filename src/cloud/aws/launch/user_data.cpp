#include "cloud/aws/launch/user_data.hpp"

#include "cloud/common/environment.hpp"
#include "cloud/common/text/text.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr std::size_t kLimit = 16U << 10;  // EC2's, before base64
constexpr std::string_view kShellType = "text/x-shellscript; charset=\"us-ascii\"";
constexpr std::string_view kNodeadmType = "application/node.eks.aws";

struct Part {
  std::string content_type;
  std::string body;
};

std::string without_carriage_returns(std::string text) {
  std::erase(text, '\r');
  return text;
}

// "k=v,k2=v2"
std::string pairs_of(const model::StringMap& map, std::string_view between = "=") {
  std::string out;
  for (const auto& [key, value] : map) {
    out.append(out.empty() ? "" : ",").append(key).append(between).append(value);
  }
  return out;
}

std::string taints_text(const std::vector<model::Taint>& taints) {
  std::string out;
  for (const auto& taint : taints) {
    // kubelet wants the = also without a value.
    out.append(out.empty() ? "" : ",").append(taint.key).append("=").append(taint.value);
    out.append(":").append(taint.effect);
  }
  return out;
}

// The value of a header in the block of headers before the first empty line.
std::string header_value(std::string_view headers, std::string_view name) {
  const auto at = headers.find(name);
  if (at == std::string_view::npos) {
    return {};
  }
  const auto line = headers.substr(at + name.size());
  return std::string(trimmed(line.substr(0, line.find('\n'))));
}

// The parts of a MIME multipart document; Invalid when it has no boundary.
base::Result<std::vector<Part>> split_mime(std::string_view text) {
  const auto boundary_at = text.find("boundary=");
  if (boundary_at == std::string_view::npos) {
    return base::fail(ErrorKind::Invalid,
                      "spec.userData: a MIME document needs a boundary in its Content-Type");
  }
  auto boundary = text.substr(boundary_at + 9);
  boundary = trimmed(boundary.substr(0, boundary.find_first_of("\n;")));
  if (boundary.size() >= 2 && boundary.front() == '"' && boundary.back() == '"') {
    boundary = boundary.substr(1, boundary.size() - 2);
  }
  const auto mark = "\n--" + std::string(boundary);
  std::vector<Part> parts;
  auto at = text.find(mark);
  while (at != std::string_view::npos) {
    auto rest = text.substr(at + mark.size());
    if (rest.starts_with("--")) {
      break;
    }
    rest.remove_prefix(std::min(rest.size(), rest.find('\n') + 1));
    const auto next = rest.find(mark);
    const auto part = rest.substr(0, next);
    const auto blank = part.find("\n\n");
    if (blank != std::string_view::npos) {
      parts.push_back({header_value(part.substr(0, blank), "Content-Type:"),
                       std::string(part.substr(blank + 2))});
    }
    at = next == std::string_view::npos ? next : text.find(mark, at + mark.size());
  }
  return parts;
}

bool is_mime(std::string_view text) {
  return text.starts_with("MIME-Version:") || text.starts_with("Content-Type: multipart");
}

bool is_node_config(const std::string& text) {
  const auto documents = model::parse_yaml(text);
  return documents && documents->size() == 1 &&
         model::text_at(documents->front(), "kind") == "NodeConfig";
}

// nodeadm takes the last word of all documents on each field, and ours comes last.
bool gives_service_cidr(const Part& part) {
  if (part.content_type.find(kNodeadmType) == std::string::npos) {
    return false;
  }
  const auto documents = model::parse_yaml(part.body);
  return documents && std::any_of(documents->begin(), documents->end(), [](const auto& each) {
           return !model::text_at(each, "spec.cluster.cidr").empty();
         });
}

// nodeadm refuses to start without the service addresses: the node would never join.
base::Result<> check_service_cidr(const Boot& boot, const std::vector<Part>& own) {
  if (!boot.cluster.service_cidr.empty() ||
      std::any_of(own.begin(), own.end(), gives_service_cidr)) {
    return base::Result<>{};
  }
  return base::fail(ErrorKind::Invalid,
                    "AL2023 nodes cannot join without the cluster's service addresses, which EKS "
                    "has not told: allow the controller eks:DescribeCluster (docs/aws.md); outside "
                    "EKS, set spec.cluster.cidr in a NodeConfig in spec.userData");
}

// The person's part or parts: theirs first, so that ours has the last word.
base::Result<std::vector<Part>> own_parts(const Boot& boot) {
  const std::string text(trimmed(boot.user_data));
  if (text.empty()) {
    return std::vector<Part>{};
  }
  if (is_mime(text)) {
    return split_mime(text + "\n");
  }
  if (boot.family == Family::Al2023 && is_node_config(text)) {
    return std::vector<Part>{{std::string(kNodeadmType), text + "\n"}};
  }
  return std::vector<Part>{{std::string(kShellType), text + "\n"}};
}

std::string join_mime(const std::vector<Part>& parts) {
  std::string out = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n";
  for (const auto& part : parts) {
    out.append("--//\nContent-Type: ").append(part.content_type).append("\n\n");
    out.append(part.body);
    if (!out.ends_with('\n')) {
      out += '\n';
    }
  }
  return out.append("--//--\n");
}

// Flags for a kubelet that is started by a script.
std::string kubelet_flags(const Boot& boot) {
  std::string out = "--node-labels=\"" + pairs_of(boot.labels) + "\"";
  if (!boot.taints.empty()) {
    out.append(" --register-with-taints=\"").append(taints_text(boot.taints)).append("\"");
  }
  out.append(" --max-pods=").append(std::to_string(boot.max_pods));
  const auto add_map = [&out](std::string_view flag, const model::StringMap& map,
                              std::string_view between) {
    if (!map.empty()) {
      out.append(" --").append(flag).append("=\"").append(pairs_of(map, between)).append("\"");
    }
  };
  const auto& kubelet = boot.kubelet;
  add_map("kube-reserved", kubelet.kube_reserved, "=");
  add_map("system-reserved", kubelet.system_reserved, "=");
  add_map("eviction-hard", kubelet.eviction_hard.value_or(model::StringMap{}), "<");
  add_map("eviction-soft", kubelet.eviction_soft.value_or(model::StringMap{}), "<");
  const auto add = [&](std::string_view flag, std::string_view field) {
    const auto* value = kubelet.all.if_contains(field);
    if (value != nullptr && !value->is_object()) {
      out.append(" --").append(flag).append("=").append(json::serialize(*value));
    }
  };
  add("pods-per-core", "podsPerCore");
  add("image-gc-high-threshold", "imageGCHighThresholdPercent");
  add("image-gc-low-threshold", "imageGCLowThresholdPercent");
  add("cpu-cfs-quota", "cpuCFSQuota");
  add("eviction-max-pod-grace-period", "evictionMaxPodGracePeriod");
  if (const auto* grace = kubelet.all.if_contains("evictionSoftGracePeriod");
      grace != nullptr && grace->is_object()) {
    model::StringMap periods;
    for (const auto& [signal, period] : grace->get_object()) {
      periods[signal] = model::as_text(&period);
    }
    add_map("eviction-soft-grace-period", periods, "=");
  }
  return out;
}

std::string dns_of(const Boot& boot) {
  return boot.kubelet.cluster_dns.empty() ? boot.cluster.dns_address
                                          : boot.kubelet.cluster_dns.front();
}

std::string al2_script(const Boot& boot) {
  std::string out =
      "#!/bin/bash -xe\n"
      "exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n";
  out.append("/etc/eks/bootstrap.sh '").append(boot.cluster.name);
  out.append("' --apiserver-endpoint '").append(boot.cluster.endpoint).append("'");
  if (!boot.cluster.ca_bundle.empty()) {
    out.append(" --b64-cluster-ca '").append(boot.cluster.ca_bundle).append("'");
  }
  if (const auto dns = dns_of(boot); !dns.empty()) {
    out.append(" --dns-cluster-ip '").append(dns).append("'");
  }
  if (boot.cluster.ipv6) {
    out.append(" --ip-family ipv6");
  }
  out.append(" --use-max-pods false --kubelet-extra-args '").append(kubelet_flags(boot));
  out.append("'");
  if (boot.raid0) {
    out.append(" --local-disks raid0");
  }
  return out.append("\n");
}

std::string node_config(const Boot& boot) {
  json::object cluster{{"name", boot.cluster.name},
                       {"apiServerEndpoint", boot.cluster.endpoint},
                       {"certificateAuthority", boot.cluster.ca_bundle}};
  if (!boot.cluster.service_cidr.empty()) {
    cluster["cidr"] = boot.cluster.service_cidr;
  }
  json::object config = boot.kubelet.all;
  config["maxPods"] = boot.max_pods;
  // kubelet.clusterDNS is in there already, with all its addresses.
  if (boot.kubelet.cluster_dns.empty() && !boot.cluster.dns_address.empty()) {
    config["clusterDNS"] = json::array{boot.cluster.dns_address};
  }
  json::array taints;
  for (const auto& taint : boot.taints) {
    json::object item{{"key", taint.key}, {"effect", taint.effect}};
    if (!taint.value.empty()) {
      item["value"] = taint.value;
    }
    taints.push_back(std::move(item));
  }
  config["registerWithTaints"] = std::move(taints);
  json::object kubelet;
  kubelet["config"] = std::move(config);
  kubelet["flags"] = json::array{"--node-labels=" + pairs_of(boot.labels)};
  json::object spec;
  spec["cluster"] = std::move(cluster);
  spec["kubelet"] = std::move(kubelet);
  if (boot.raid0) {
    spec["instance"] = {{"localStorage", {{"strategy", "RAID0"}}}};
  }
  json::object document{{"apiVersion", "node.eks.aws/v1alpha1"}, {"kind", "NodeConfig"}};
  document["spec"] = std::move(spec);
  return model::to_yaml(document);
}

std::string windows_script(const Boot& boot) {
  std::string out = "<powershell>\n";
  if (!trimmed(boot.user_data).empty()) {
    out.append(trimmed(boot.user_data)).append("\n");
  }
  out.append(
      "[string]$EKSBootstrapScriptFile = "
      "\"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n");
  out.append("& $EKSBootstrapScriptFile -EKSClusterName '").append(boot.cluster.name);
  out.append("' -APIServerEndpoint '").append(boot.cluster.endpoint).append("'");
  if (!boot.cluster.ca_bundle.empty()) {
    out.append(" -Base64ClusterCA '").append(boot.cluster.ca_bundle).append("'");
  }
  out.append(" -KubeletExtraArgs '").append(kubelet_flags(boot)).append("'");
  if (const auto dns = dns_of(boot); !dns.empty()) {
    out.append(" -DNSClusterIP '").append(dns).append("'");
  }
  return out.append("\n</powershell>\n");
}

base::Result<std::string> make_text(const Boot& boot) {
  switch (boot.family) {
    case Family::Custom:
      return boot.user_data;
    case Family::Bottlerocket:
      return merge_bottlerocket(boot);
    case Family::Al2:
    case Family::Al2023: {
      Boot clean = boot;
      clean.user_data = without_carriage_returns(boot.user_data);
      MW_TRY(parts, own_parts(clean));
      if (boot.family == Family::Al2) {
        parts.push_back({std::string(kShellType), al2_script(boot)});
      } else {
        if (auto known = check_service_cidr(clean, parts); !known) {
          return tl::unexpected(std::move(known).error());
        }
        parts.push_back({std::string(kNodeadmType), node_config(boot)});
      }
      return join_mime(parts);
    }
    default:
      return windows_script(boot);
  }
}

}  // namespace

model::StringMap kubelet_labels(const model::StringMap& labels) {
  model::StringMap result;
  for (const auto& [key, value] : labels) {
    const auto domain = std::string_view(key).substr(0, key.find('/'));
    const auto within = [domain](std::string_view parent) {
      return domain == parent || domain.ends_with("." + std::string(parent));
    };
    const bool reserved = within("kubernetes.io") || within("k8s.io");
    const bool allowed = within("node.kubernetes.io") || within("kubelet.kubernetes.io");
    if (!reserved || allowed) {
      result.emplace(key, value);
    }
  }
  return result;
}

base::Result<std::string> make_user_data(const Boot& boot) {
  MW_TRY(text, make_text(boot));
  auto clean = without_carriage_returns(std::move(text));
  if (clean.size() > kLimit) {
    return base::fail(ErrorKind::Invalid, "spec.userData: with what nodes need it has " +
                                              std::to_string(clean.size()) +
                                              " bytes; EC2 takes 16384; make it shorter");
  }
  return clean;
}

}  // namespace millwright::cloud::aws

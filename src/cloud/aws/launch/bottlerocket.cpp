// Bottlerocket's user data is TOML: the user's tables stay, and settings.kubernetes is completed.
#include "cloud/aws/launch/toml.hpp"
#include "cloud/aws/launch/user_data.hpp"
#include "millwright/model/json_fields.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

toml::table& table_at(toml::table& parent, std::string_view key) {
  if (parent[key].as_table() == nullptr) {
    parent.insert_or_assign(key, toml::table{});
  }
  return *parent[key].as_table();
}

toml::table to_toml(const model::StringMap& map) {
  toml::table table;
  for (const auto& [key, value] : map) {
    table.insert_or_assign(key, value);
  }
  return table;
}

// A key may have several taints: it maps to a list of "value:effect".
void add_taints(toml::table& kubernetes, const std::vector<model::Taint>& taints) {
  auto& table = table_at(kubernetes, "node-taints");
  table.clear();
  for (const auto& taint : taints) {
    if (table[taint.key].as_array() == nullptr) {
      table.insert_or_assign(taint.key, toml::array{});
    }
    table[taint.key].as_array()->push_back(taint.value + ":" + taint.effect);
  }
}

void add_kubelet(toml::table& kubernetes, const Kubelet& kubelet) {
  const auto add_map = [&](std::string_view key, const model::StringMap& map) {
    if (!map.empty()) {
      kubernetes.insert_or_assign(key, to_toml(map));
    }
  };
  add_map("kube-reserved", kubelet.kube_reserved);
  add_map("system-reserved", kubelet.system_reserved);
  add_map("eviction-hard", kubelet.eviction_hard.value_or(model::StringMap{}));
  add_map("eviction-soft", kubelet.eviction_soft.value_or(model::StringMap{}));
  if (const auto* grace = kubelet.all.if_contains("evictionSoftGracePeriod");
      grace != nullptr && grace->is_object()) {
    model::StringMap periods;
    for (const auto& [signal, period] : grace->get_object()) {
      periods[signal] = model::as_text(&period);
    }
    add_map("eviction-soft-grace-period", periods);
  }
  const auto percent = [&](std::string_view key, std::string_view field) {
    if (const auto* value = kubelet.all.if_contains(field); value != nullptr && value->is_int64()) {
      kubernetes.insert_or_assign(key, std::to_string(value->get_int64()));
    }
  };
  percent("image-gc-high-threshold-percent", "imageGCHighThresholdPercent");
  percent("image-gc-low-threshold-percent", "imageGCLowThresholdPercent");
  if (const auto* quota = kubelet.all.if_contains("cpuCFSQuota");
      quota != nullptr && quota->is_bool()) {
    kubernetes.insert_or_assign("cpu-cfs-quota-enforced", quota->get_bool());
  }
}

// Local NVMe disks become one volume before the kubelet starts.
void add_raid0(toml::table& settings) {
  toml::array commands;
  commands.push_back(toml::array{"apiclient", "ephemeral-storage", "init"});
  commands.push_back(toml::array{"apiclient", "ephemeral-storage", "bind", "--dirs",
                                 "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"});
  auto& command = table_at(table_at(settings, "bootstrap-commands"), "000-mount-instance-storage");
  command.insert_or_assign("commands", std::move(commands));
  command.insert_or_assign("essential", true);
  command.insert_or_assign("mode", "always");
}

// Past the string or the comment that begins at `at`; a string without an end ends the text.
std::size_t skip_text(std::string_view text, std::size_t at) {
  if (text[at] == '#') {
    return std::min(text.find('\n', at), text.size());
  }
  const char quote = text[at];
  const bool many = text.substr(at, 3) == std::string(3, quote);
  const auto end = many ? std::string(3, quote) : std::string(1, quote);
  for (at += end.size(); at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text.substr(at, end.size()) == end) {
      return at + end.size();
    } else if (text[at] == '\n' && !many) {
      return at;
    }
  }
  return text.size();
}

// Outside strings and comments, TOML allows only ASCII without control characters. On any other
// character toml++ 3.3 reaches code that it believes to be unreachable.
std::optional<std::size_t> foreign_byte(std::string_view text) {
  std::size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // a byte order mark
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '#' || byte == '"' || byte == '\'') {
      at = skip_text(text, at);
      continue;
    }
    const bool blank = byte == '\t' || byte == '\n' || byte == '\r';
    if (byte > 0x7E || (byte < 0x20 && !blank)) {
      return at;
    }
    ++at;
  }
  return std::nullopt;
}

base::Result<toml::table> parse(const std::string& text) {
  constexpr std::string_view kProblem = "spec.userData is not TOML: ";
  if (const auto at = foreign_byte(text)) {
    return base::fail(
        ErrorKind::Invalid,
        std::string(kProblem) + "a character that needs quotes at byte " + std::to_string(*at));
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    std::ostringstream where;
    where << error.source().begin;
    return base::fail(ErrorKind::Invalid, std::string(kProblem) + std::string(error.description()) +
                                              " at " + where.str());
  } catch (const std::exception& error) {
    return base::fail(ErrorKind::Invalid, std::string(kProblem) + error.what());
  }
}

}  // namespace

base::Result<std::string> merge_bottlerocket(const Boot& boot) {
  MW_TRY(document, parse(boot.user_data));
  auto& settings = table_at(document, "settings");
  auto& kubernetes = table_at(settings, "kubernetes");
  kubernetes.insert_or_assign("cluster-name", boot.cluster.name);
  kubernetes.insert_or_assign("api-server", boot.cluster.endpoint);
  if (!boot.cluster.ca_bundle.empty()) {
    kubernetes.insert_or_assign("cluster-certificate", boot.cluster.ca_bundle);
  }
  const auto dns = boot.kubelet.cluster_dns.empty() ? boot.cluster.dns_address
                                                    : boot.kubelet.cluster_dns.front();
  if (!dns.empty()) {
    kubernetes.insert_or_assign("cluster-dns-ip", dns);
  }
  kubernetes.insert_or_assign("max-pods", boot.max_pods);
  auto& labels = table_at(kubernetes, "node-labels");
  for (const auto& [key, value] : boot.labels) {
    labels.insert_or_assign(key, value);
  }
  add_taints(kubernetes, boot.taints);
  add_kubelet(kubernetes, boot.kubelet);
  if (boot.raid0) {
    add_raid0(settings);
  }
  std::ostringstream out;
  out << document << "\n";
  return out.str();
}

}  // namespace millwright::cloud::aws

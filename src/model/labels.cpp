#include "millwright/model/labels.hpp"

#include <array>
#include <set>

namespace millwright::model {
namespace {

using NameSet = std::set<std::string, std::less<>>;

NameSet& well_known_labels() {
  static NameSet names{std::string(kNodePoolLabel),     std::string(kZoneLabel),
                       std::string(kRegionLabel),       std::string(kInstanceTypeLabel),
                       std::string(kArchLabel),         std::string(kOsLabel),
                       std::string(kCapacityTypeLabel), std::string(kWindowsBuildLabel)};
  return names;
}

NameSet& restricted_domains() {
  static NameSet domains{std::string(kKarpenterDomain)};
  return domains;
}

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_alphanumeric(char c) {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

// Letters, digits, '-', '_' and '.', beginning and ending with a letter or digit.
bool is_name(std::string_view text) {
  if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) {
    return false;
  }
  for (const char c : text) {
    if (!is_alphanumeric(c) && c != '-' && c != '_' && c != '.') {
      return false;
    }
  }
  return true;
}

// RFC 1123 sub-domain: lower-case labels of letters, digits and '-', separated by dots.
bool is_subdomain(std::string_view text) {
  bool at_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool at_end = i + 1 == text.size() || text[i + 1] == '.';
    if (c == '.') {
      if (at_start) {
        return false;
      }
      at_start = true;
      continue;
    }
    if (!is_lower_or_digit(c) && (c != '-' || at_start || at_end)) {
      return false;
    }
    at_start = false;
  }
  return !at_start;
}

constexpr std::size_t kMaxNameLength = 63;
constexpr std::size_t kMaxPrefixLength = 253;

}  // namespace

bool is_well_known_label(std::string_view key) {
  return well_known_labels().contains(key);
}
void register_well_known_label(std::string_view key) {
  well_known_labels().emplace(key);
}
void register_restricted_domain(std::string_view domain) {
  restricted_domains().emplace(domain);
}

std::string_view normalized_label_key(std::string_view key) {
  struct Alias {
    std::string_view key;
    std::string_view stable;
  };
  static constexpr std::array<Alias, 8> kAliases{
      {{"failure-domain.beta.kubernetes.io/zone", kZoneLabel},
       {"failure-domain.beta.kubernetes.io/region", kRegionLabel},
       {"beta.kubernetes.io/arch", kArchLabel},
       {"beta.kubernetes.io/os", kOsLabel},
       {"beta.kubernetes.io/instance-type", kInstanceTypeLabel},
       {"topology.ebs.csi.aws.com/zone", kZoneLabel},
       {"topology.diskplugin.csi.alibabacloud.com/zone", kZoneLabel},
       {kProvisionerNameLabel, kNodePoolLabel}}};
  for (const Alias& alias : kAliases) {
    if (alias.key == key) {
      return alias.stable;
    }
  }
  return key;
}

bool is_restricted_label(std::string_view key) {
  if (is_well_known_label(key)) {
    return false;
  }
  if (key == kHostnameLabel) {
    return true;
  }
  const std::size_t slash = key.find('/');
  const std::string_view domain = slash == std::string_view::npos ? "" : key.substr(0, slash);
  for (const std::string& restricted : restricted_domains()) {
    if (domain == restricted || domain.ends_with("." + restricted)) {
      return true;
    }
  }
  return false;
}

std::string qualified_name_problem(std::string_view key) {
  std::string_view name = key;
  const std::size_t slash = key.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (prefix.empty()) {
      return "the part before / must not be empty";
    }
    if (prefix.size() > kMaxPrefixLength) {
      return "the part before / must have at most 253 characters";
    }
    if (!is_subdomain(prefix)) {
      return "the part before / must be a lower-case DNS name such as example.com";
    }
  }
  if (name.empty()) {
    return "the name must not be empty";
  }
  if (name.size() > kMaxNameLength) {
    return "the name must have at most 63 characters";
  }
  if (!is_name(name)) {
    return "the name must consist of letters, digits, '-', '_' and '.', and begin and end with a "
           "letter or digit";
  }
  return {};
}

std::string label_value_problem(std::string_view value) {
  if (value.size() > kMaxNameLength) {
    return "the value must have at most 63 characters";
  }
  if (!value.empty() && !is_name(value)) {
    return "the value must be empty or consist of letters, digits, '-', '_' and '.', and begin "
           "and end with a letter or digit";
  }
  return {};
}

}  // namespace millwright::model

#include "app/settings/setting_values.hpp"

#include "app/install/scheduler_config.hpp"
#include "app/settings/device_config.hpp"
#include "millwright/base/text.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace millwright::app {
std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (const auto part = base::trimmed(text.substr(0, comma)); !part.empty()) {
      parts.emplace_back(part);
    }
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

// The words of Go's strconv.ParseBool, which Karpenter reads its flags and variables by.
std::string read_bool(std::string_view text, bool& value) {
  constexpr std::array<std::string_view, 6> kTrue{"1", "t", "T", "TRUE", "true", "True"};
  constexpr std::array<std::string_view, 6> kFalse{"0", "f", "F", "FALSE", "false", "False"};
  const bool is_true = std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end();
  if (!is_true && std::find(kFalse.begin(), kFalse.end(), text) == kFalse.end()) {
    return "must be true or false, not " + in_quotes(text);
  }
  value = is_true;
  return {};
}

std::string read_port(std::string_view text, int& value) {
  int parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size() || parsed < 0 || parsed > 65535) {
    return "must be a port from 0 to 65535, not " + in_quotes(text);
  }
  value = parsed;
  return {};
}

std::string read_address(std::string_view text, std::string& value) {
  const std::string copy(text);
  in6_addr parsed{};  // large enough for both families
  if (!copy.empty() && inet_pton(AF_INET, copy.c_str(), &parsed) != 1 &&
      inet_pton(AF_INET6, copy.c_str(), &parsed) != 1) {
    return "must be an IP address, not " + in_quotes(text);
  }
  value = copy;
  return {};
}

std::string read_positive(std::string_view text, double& value) {
  const std::string copy(text);
  char* end = nullptr;
  const double parsed = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0' || !std::isfinite(parsed) || parsed <= 0) {
    return "must be a number above 0, not " + in_quotes(text);
  }
  value = parsed;
  return {};
}

std::string read_duration(std::string_view text, base::Duration& value) {
  const auto parsed = base::parse_go_duration(text);
  if (!parsed || *parsed < base::Duration::zero()) {
    return "must be a duration such as 15m or 30s, not " + in_quotes(text);
  }
  value = *parsed;
  return {};
}

std::string read_level(std::string_view text, base::LogLevel& level) {
  if (text == "debug") {
    level = base::LogLevel::Debug;
  } else if (text == "info" || text.empty()) {
    level = base::LogLevel::Info;
  } else if (text == "warn") {
    level = base::LogLevel::Warn;
  } else if (text == "error") {
    level = base::LogLevel::Error;
  } else {
    return "must be debug, info, warn or error, not " + in_quotes(text);
  }
  return {};
}

namespace {

// Adds what `text` switches to `gates`.
std::string read_gate_list(std::string_view text, std::map<std::string, bool>& gates) {
  for (const auto& item : split(text)) {
    const std::size_t equals = item.find('=');
    bool value = false;
    if (equals == std::string::npos ||
        !read_bool(base::trimmed(std::string_view(item).substr(equals + 1)), value).empty()) {
      return "must be a list like NodeRepair=true,NodeOverlay=false; " + in_quotes(item) +
             " is not gate=true or gate=false";
    }
    gates[std::string(base::trimmed(std::string_view(item).substr(0, equals)))] = value;
  }
  return {};
}

}  // namespace

std::string read_gates(std::string_view text, Settings& settings) {
  auto& gates = settings.feature_gates;
  if (auto problem = read_gate_list(text, gates); !problem.empty()) {
    return problem;
  }
  settings.aws_settings.reserved_capacity = gates["ReservedCapacity"];
  settings.controllers.spot_to_spot = gates["SpotToSpotConsolidation"];
  settings.controllers.node_overlay = gates["NodeOverlay"];
  settings.controllers.static_capacity = gates["StaticCapacity"];
  settings.controllers.capacity_buffer = gates["CapacityBuffer"];
  settings.controllers.node_repair = gates["NodeRepair"];
  return {};
}

std::string read_aws_gates(std::string_view text, Settings& settings) {
  return read_gate_list(text, settings.aws_feature_gates);
}

std::string read_ami_interval(std::string_view text, Settings& settings) {
  base::Duration interval{};
  std::string problem = read_duration(text, interval);
  if (problem.empty() && interval < std::chrono::minutes(1)) {
    problem = "must be at least 1m, not " + in_quotes(text);
  }
  if (problem.empty()) {
    settings.aws_settings.ami_refresh_interval = interval;
  }
  return problem;
}

std::string read_memory_overhead(std::string_view text, Settings& settings) {
  auto& aws = settings.aws_settings.vm_memory_overhead_percent;
  auto& alibaba = settings.alibaba_settings.vm_memory_overhead_percent;
  if (text.empty()) {
    aws = cloud::AwsSettings().vm_memory_overhead_percent;
    alibaba = cloud::AlibabaSettings().vm_memory_overhead_percent;
    return {};
  }
  auto problem = read_fraction(text, aws);
  if (problem.empty()) {
    alibaba = aws;
  }
  return problem;
}

std::string read_cluster_type(std::string_view text, bool& is_custom) {
  if (text != "ACKManaged" && text != "Custom") {
    return "must be ACKManaged or Custom, not " + in_quotes(text);
  }
  is_custom = text == "Custom";
  return {};
}

std::string read_price(std::string_view text, double& value) {
  double parsed = 0;
  if (text != "0" && !read_positive(text, parsed).empty()) {
    return "must be a number from 0 up, not " + in_quotes(text);
  }
  value = parsed;
  return {};
}

std::string read_price_ratio(std::string_view text, double& value) {
  double parsed = 0;
  if (text != "0" && (!read_positive(text, parsed).empty() || parsed < 1)) {
    return "must be 0, or a number from 1 up, not " + in_quotes(text);
  }
  value = parsed;
  return {};
}

std::string read_fraction(std::string_view text, double& value) {
  double parsed = 0;
  std::string problem = text == "0" ? std::string() : read_positive(text, parsed);
  if (!problem.empty() || parsed >= 1) {
    return "must be a number from 0 to below 1, not " + in_quotes(text);
  }
  value = parsed;
  return {};
}

std::string read_count(std::string_view text, std::int64_t& value) {
  std::int64_t parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size() || parsed < 0) {
    return "must be a number from 0 up, not " + in_quotes(text);
  }
  value = parsed;
  return {};
}

std::string read_clouds(std::string_view text, Settings& settings) {
  settings.simulated_clouds.clear();
  for (const auto& name : split(text)) {
    const auto profile = cloud::parse_profile(name);
    if (!profile) {
      return "must be a list of kwok, aws, alibaba, huawei; " + in_quotes(name) +
             " is none of them";
    }
    settings.simulated_clouds.push_back(*profile);
  }
  return {};
}

std::string read_scheduler_config(std::string_view text, Settings& settings) {
  settings.controllers.solve.default_spread.clear();
  auto defaults = load_scheduler_config(text);
  if (!defaults) {
    return "is not usable: " + defaults.error().message;
  }
  settings.controllers.solve.default_spread = *std::move(defaults);
  return {};
}

std::string read_device_config(std::string_view path, Settings& settings) {
  auto& known = settings.controllers.solve.device_templates;
  known = nullptr;
  if (path.empty()) {
    return {};
  }
  auto templates = load_device_templates(std::string(path));
  if (!templates) {
    return "is not usable: " + templates.error().message;
  }
  known = std::make_shared<const std::vector<model::DeviceTemplate>>(*std::move(templates));
  return {};
}

}  // namespace millwright::app

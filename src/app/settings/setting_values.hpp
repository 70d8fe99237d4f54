// How the text of a flag or an environment variable becomes a value of the settings. Each function
// answers what is wrong with the text, or nothing.
#pragma once

#include "millwright/app/settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

std::string in_quotes(std::string_view text);
// At commas; empty parts are left out.
std::vector<std::string> split(std::string_view text);

std::string read_bool(std::string_view text, bool& value);
std::string read_port(std::string_view text, int& value);
// IPv4 or IPv6, or nothing.
std::string read_address(std::string_view text, std::string& value);
std::string read_positive(std::string_view text, double& value);
std::string read_price(std::string_view text, double& value);
std::string read_price_ratio(std::string_view text, double& value);  // 0, or from 1 up
std::string read_fraction(std::string_view text, double& value);
std::string read_count(std::string_view text, std::int64_t& value);
std::string read_duration(std::string_view text, base::Duration& value);
std::string read_level(std::string_view text, base::LogLevel& level);
// "A=true,B=false". An unknown gate is no problem, as in Karpenter: load_settings() warns of it.
std::string read_gates(std::string_view text, Settings& settings);
std::string read_aws_gates(std::string_view text, Settings& settings);
std::string read_ami_interval(std::string_view text, Settings& settings);
// Of EC2 and of ECS; nothing leaves each its own default.
std::string read_memory_overhead(std::string_view text, Settings& settings);
std::string read_cluster_type(std::string_view text, bool& is_custom);
std::string read_clouds(std::string_view text, Settings& settings);
std::string read_scheduler_config(std::string_view text, Settings& settings);
std::string read_device_config(std::string_view path, Settings& settings);

}  // namespace millwright::app

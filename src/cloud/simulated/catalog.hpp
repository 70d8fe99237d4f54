// The tables of what each simulated cloud sells, and what they are built with.
#pragma once

#include "millwright/cloud/simulated.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::simulated {

using Types = std::vector<scheduling::InstanceType>;

Types kwok_types();
Types aws_types();
Types alibaba_types();
// Those of one of them as a class of Alibaba Cloud's own provider has it.
scheduling::Requirements with_official_labels(const scheduling::Requirements& of_type);
Types huawei_types();

inline constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
inline constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
model::Quantity bytes(std::int64_t count);
model::Quantity millicores(std::int64_t milli);
model::Quantity count(std::int64_t units);

// Requirements of a type or an offering: the key has exactly these values, or none at all.
void pin(scheduling::Requirements& requirements, std::string_view key, std::string value);
void pin(scheduling::Requirements& requirements, std::string_view key,
         std::vector<std::string> values);
void forbid(scheduling::Requirements& requirements, std::string_view key);

// instance-type, arch, os, zones and capacity types.
void pin_core_labels(scheduling::InstanceType& type, std::string_view arch,
                     std::span<const std::string_view> zones,
                     std::span<const std::string_view> capacity_types);

// One offering in `zone`.
scheduling::Offering offering(std::string_view zone, std::string_view capacity_type, double price);

// Spot costs 30 to 40 % of the list price, differently by type and zone but always the same.
double spot_fraction(std::string_view type, std::string_view zone);

// A stable 64-bit hash (FNV-1a), for formulas that must not change between runs.
std::uint64_t stable_hash(std::string_view text);

}  // namespace millwright::cloud::simulated

// The list of described kinds and plain look-ups in it.
#include "schema/engine/kind.hpp"

#include <algorithm>
#include <array>

namespace millwright::schema {

std::span<const Kind* const> all_kinds() {
  static const std::array kKinds{
      kinds::node_pool(),      kinds::node_claim(),     kinds::kwok_node_class(),
      kinds::ec2_node_class(), kinds::ecs_node_class(), kinds::official_ecs_node_class(),
      kinds::cce_node_class(), kinds::provisioner(),    kinds::aws_node_template(),
      kinds::node_overlay(),   kinds::capacity_buffer()};
  static const auto kPointers = [] {
    std::array<const Kind*, kKinds.size()> pointers{};
    std::transform(kKinds.begin(), kKinds.end(), pointers.begin(),
                   [](const Kind& kind) { return &kind; });
    return pointers;
  }();
  return kPointers;
}

const Kind* find_kind(std::string_view api_version, std::string_view kind) {
  for (const Kind* candidate : all_kinds()) {
    if (candidate->resource.kind == kind && candidate->resource.api_version() == api_version) {
      return candidate;
    }
  }
  return nullptr;
}

const model::Resource& resource_of(const Kind& kind) {
  return kind.resource;
}

std::span<const std::string_view> short_names(const Kind& kind) {
  return kind.short_names;
}

std::span<const std::string_view> categories(const Kind& kind) {
  return kind.categories;
}

std::span<const PrinterColumn> printer_columns(const Kind& kind) {
  return kind.columns;
}

std::string Problem::to_string() const {
  if (value.empty()) {
    return path + ": Required value: " + message;
  }
  return path + ": Invalid value: " + value + ": " + message;
}

}  // namespace millwright::schema

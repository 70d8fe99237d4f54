// What the API server serves: model::all_resources() with the facts that discovery, printing and
// the write rules need.
#pragma once

#include "millwright/model/kinds.hpp"
#include "millwright/schema/schema.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::sandbox {

struct ResourceInfo {
  model::Resource resource;
  std::size_t index = 0;  // position in all_infos()
  std::string qualified;  // "pods", "deployments.apps"
  std::string singular;
  std::vector<std::string_view> short_names;
  std::vector<std::string_view> categories;
  bool has_status = false;
  bool has_scale = false;
  // Karpenter's kinds are custom resources: defaulted, pruned and validated by their schema.
  const schema::Kind* custom = nullptr;
};

// In discovery order; never changes.
const std::vector<ResourceInfo>& all_infos();
const ResourceInfo* find_info(std::string_view group, std::string_view version,
                              std::string_view plural);
const ResourceInfo* find_info_by_kind(std::string_view api_version, std::string_view kind);
// `resource` must be one of model::all_resources().
const ResourceInfo& info_of(const model::Resource& resource);

}  // namespace millwright::sandbox

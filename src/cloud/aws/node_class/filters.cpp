#include "cloud/aws/node_class/filters.hpp"

namespace millwright::cloud::aws {

std::vector<Filter> tag_filters(const model::StringMap& tags) {
  std::vector<Filter> filters;
  for (const auto& [key, value] : tags) {
    filters.push_back(value == "*" ? Filter{"tag-key", {key}} : Filter{"tag:" + key, {value}});
  }
  return filters;
}

}  // namespace millwright::cloud::aws

#include "cloud/alibaba/node_class/images.hpp"

#include <algorithm>
#include <set>

namespace millwright::cloud::alibaba {
namespace {

constexpr std::string_view kContainerOs = "ContainerOS";
constexpr std::string_view kLinux3 = "AlibabaCloudLinux3";

// "aliyun_3_x64_20G_alibase_20240528.vhd": Alibaba Cloud Linux 3 for any use.
bool is_linux3(std::string_view text) {
  const auto size = text.find("G_alibase_");
  return text.starts_with("aliyun_3_") && size != std::string_view::npos &&
         text.find("vhd", size) != std::string_view::npos;
}

bool is_of_distribution(const Image& image, std::string_view family) {
  if (family == kContainerOs) {
    // It exists for x86-64 alone as far as aliases go.
    return image.arch == "amd64" &&
           (image.name.starts_with(kContainerOs) || image.id.starts_with(kContainerOs));
  }
  return family == kLinux3 && (is_linux3(image.id) || is_linux3(image.name));
}

bool mentions(const Image& image, std::string_view version) {
  return version.empty() || version == "latest" || image.id.find(version) != std::string::npos ||
         image.name.find(version) != std::string::npos;
}

// Ids of one family end in their date.
bool is_newer(const Image& a, const Image& b) {
  return a.created != b.created ? a.created > b.created : a.id > b.id;
}

// What DescribeImages filters by; empty for a term that names nothing.
Parameters filter_of(const SelectorTerm& term) {
  Parameters filter;
  const auto set = [&filter](const char* name, const std::string& value) {
    if (!value.empty()) {
      filter.set(name, value);
    }
  };
  set("ImageId", term.id);
  if (!term.id.empty()) {
    filter.set("ShowExpired", true);
  }
  set("ImageName", term.name);
  set("ImageFamily", term.family);
  set("ImageOwnerAlias", term.owner);
  set("ImageOwnerId", term.owner_id);
  filter.set_tag_filter(term.tags);
  return filter;
}

}  // namespace

std::vector<Image> images_of_alias(std::vector<Image> all, std::string_view alias) {
  const auto at = alias.find('@');
  const auto family = alias.substr(0, at);
  const auto version = at == std::string_view::npos ? std::string_view() : alias.substr(at + 1);
  std::erase_if(all, [&](const Image& image) {
    return !is_of_distribution(image, family) || !mentions(image, version);
  });
  std::sort(all.begin(), all.end(), is_newer);
  return all;
}

ResolvedImage resolved(const Image& image) {
  model::SelectorRequirement arch;
  arch.key = model::kArchLabel;
  arch.values = {image.arch};
  return {.id = image.id, .name = image.name, .requirements = {std::move(arch)}};
}

base::Task<ApiResult<std::vector<Image>>> Images::of_term(SelectorTerm term,
                                                          std::string kubernetes) {
  if (!term.alias.empty()) {
    MW_CO_TRY(all, co_await cs_.images(std::move(kubernetes)));
    co_return images_of_alias(std::move(all), term.alias);
  }
  auto filter = filter_of(term);
  if (filter.all().empty()) {
    co_return std::vector<Image>();
  }
  MW_CO_TRY(found, co_await ecs_.images(std::move(filter)));
  // ECS looks at the account only where it searches among images that others share.
  std::erase_if(found, [&term](const Image& image) {
    return !term.owner_id.empty() && image.owner_id != term.owner_id;
  });
  std::sort(found.begin(), found.end(), is_newer);
  co_return found;
}

base::Task<ApiResult<std::vector<ResolvedImage>>> Images::find(std::vector<SelectorTerm> terms,
                                                               std::string kubernetes) {
  std::vector<ResolvedImage> result;
  std::set<std::string> seen;
  for (const auto& term : terms) {
    MW_CO_TRY(found, co_await of_term(term, kubernetes));
    for (const auto& image : found) {
      if (seen.insert(image.id).second) {
        result.push_back(resolved(image));
      }
    }
  }
  co_return result;
}

}  // namespace millwright::cloud::alibaba

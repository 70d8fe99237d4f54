#include "sandbox/apiserver/store/resources.hpp"

#include "sandbox/json.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace millwright::sandbox {

namespace {

struct BuiltIn {
  std::string_view plural;
  std::vector<std::string_view> short_names;
  std::vector<std::string_view> categories;
  bool has_status = false;
  bool has_scale = false;
};

const std::vector<BuiltIn>& built_ins() {
  static const std::vector<BuiltIn> kBuiltIns = {
      {"pods", {"po"}, {"all"}, true},
      {"nodes", {"no"}, {}, true},
      {"namespaces", {"ns"}, {}, true},
      {"events", {"ev"}, {}},
      {"configmaps", {"cm"}, {}},
      {"services", {"svc"}, {"all"}, true},
      {"serviceaccounts", {"sa"}, {}},
      {"persistentvolumeclaims", {"pvc"}, {}, true},
      {"persistentvolumes", {"pv"}, {}, true},
      {"podtemplates", {}, {}},
      {"resourcequotas", {"quota"}, {}, true},
      {"deployments", {"deploy"}, {"all"}, true, true},
      {"replicasets", {"rs"}, {"all"}, true, true},
      {"statefulsets", {"sts"}, {"all"}, true, true},
      {"daemonsets", {"ds"}, {"all"}, true},
      {"jobs", {}, {"all"}, true},
      {"poddisruptionbudgets", {"pdb"}, {}, true},
      {"storageclasses", {"sc"}, {}},
      {"priorityclasses", {"pc"}, {}},
      {"volumeattachments", {}, {}, true},
      {"resourceclaims", {}, {}, true},
      {"customresourcedefinitions", {"crd", "crds"}, {"api-extensions"}, true},
      {"validatingwebhookconfigurations", {}, {"api-extensions"}},
      {"mutatingwebhookconfigurations", {}, {"api-extensions"}},
  };
  return kBuiltIns;
}

void describe_custom(ResourceInfo& info) {
  const auto names = schema::short_names(*info.custom);
  const auto categories = schema::categories(*info.custom);
  info.short_names.assign(names.begin(), names.end());
  info.categories.assign(categories.begin(), categories.end());
  const auto crd = schema::crd(*info.custom);
  for (const auto& version : items(crd, "spec.versions")) {
    if (text(version, "name") == info.resource.version) {
      info.has_status = find(version, "subresources.status") != nullptr;
      info.has_scale = find(version, "subresources.scale") != nullptr;
    }
  }
}

std::vector<ResourceInfo> describe_all() {
  std::vector<ResourceInfo> infos;
  for (const auto& resource : model::all_resources()) {
    ResourceInfo info;
    info.resource = resource;
    info.index = infos.size();
    info.qualified = resource.plural;
    if (!resource.group.empty()) {
      info.qualified.append(".").append(resource.group);
    }
    for (const char c : resource.kind) {
      info.singular += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    info.custom = schema::find_kind(resource.api_version(), resource.kind);
    if (info.custom != nullptr) {
      describe_custom(info);
    }
    for (const auto& built_in : built_ins()) {
      if (info.custom == nullptr && built_in.plural == resource.plural) {
        info.short_names = built_in.short_names;
        info.categories = built_in.categories;
        info.has_status = built_in.has_status;
        info.has_scale = built_in.has_scale;
      }
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace

const std::vector<ResourceInfo>& all_infos() {
  static const std::vector<ResourceInfo> kInfos = describe_all();
  return kInfos;
}

const ResourceInfo* find_info(std::string_view group, std::string_view version,
                              std::string_view plural) {
  const auto& infos = all_infos();
  const auto found = std::find_if(infos.begin(), infos.end(), [&](const ResourceInfo& info) {
    return info.resource.plural == plural && info.resource.group == group &&
           info.resource.version == version;
  });
  return found == infos.end() ? nullptr : &*found;
}

const ResourceInfo* find_info_by_kind(std::string_view api_version, std::string_view kind) {
  const auto& infos = all_infos();
  const auto found = std::find_if(infos.begin(), infos.end(), [&](const ResourceInfo& info) {
    return info.resource.kind == kind && info.resource.api_version() == api_version;
  });
  return found == infos.end() ? nullptr : &*found;
}

const ResourceInfo& info_of(const model::Resource& resource) {
  const auto* info = find_info(resource.group, resource.version, resource.plural);
  if (info == nullptr) {
    throw std::logic_error("the sandbox does not serve " + std::string(resource.plural));
  }
  return *info;
}

}  // namespace millwright::sandbox

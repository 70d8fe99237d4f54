#include "millwright/cloud/provider.hpp"

namespace millwright::cloud {

void ProviderSet::add(std::unique_ptr<Provider> provider) {
  providers_.push_back(std::move(provider));
}

Provider* ProviderSet::find(std::string_view group, std::string_view kind) const {
  for (const auto& provider : providers_) {
    for (const auto& resource : provider->node_classes()) {
      if (resource.group == group && resource.kind == kind) {
        return provider.get();
      }
    }
  }
  return nullptr;
}

}  // namespace millwright::cloud

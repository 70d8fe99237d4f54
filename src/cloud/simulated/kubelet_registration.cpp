#include "millwright/cloud/simulated.hpp"
#include "millwright/model/labels.hpp"

namespace millwright::cloud {

KubeletRegistration kubelet_registration(const Instance& instance, const model::NodeClaim* claim,
                                         const std::string& node_name) {
  KubeletRegistration result;
  result.labels = instance.labels;
  result.labels[std::string(model::kHostnameLabel)] = node_name;
  result.taints = {
      {.key = std::string(model::kUnregisteredTaint), .value = {}, .effect = "NoExecute"}};
  if (claim != nullptr) {
    for (const auto& [key, value] : claim->meta.labels) {
      result.labels.try_emplace(key, value);
    }
    result.taints.insert(result.taints.end(), claim->taints.begin(), claim->taints.end());
    result.taints.insert(result.taints.end(), claim->startup_taints.begin(),
                         claim->startup_taints.end());
  }
  result.labels.try_emplace(std::string(model::kArchLabel), "amd64");
  result.labels.try_emplace(std::string(model::kOsLabel), "linux");
  return result;
}

}  // namespace millwright::cloud

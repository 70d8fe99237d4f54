// What an ECSNodeClass selects: vSwitches, security groups and images, with a condition for each.
// Loop thread only.
#pragma once

#include "cloud/alibaba/calls/ecs.hpp"
#include "cloud/alibaba/node_class/images.hpp"
#include "cloud/alibaba/node_class/node_class_spec.hpp"
#include "millwright/cloud/provider.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::cloud::alibaba {

class Resolver {
 public:
  explicit Resolver(Api& api) : api_(api), ecs_(api), images_(api) {}

  // An error when a call failed. A selector that finds nothing makes a condition false.
  base::Task<ApiResult<NodeClassState>> resolve(NodeClassPtr node_class, std::string kubernetes);

  // Free addresses of a vSwitch when it was asked last, less those that launches since then have
  // taken; 0 when not known.
  std::int64_t free_addresses(std::string_view vswitch) const;
  void take_address(const std::string& vswitch) { --free_addresses_[vswitch]; }
  // ECS said that the vSwitch has none left.
  void mark_full(const std::string& vswitch) { free_addresses_[vswitch] = 0; }

 private:
  base::Task<ApiResult<std::vector<VSwitch>>> find_vswitches(std::vector<SelectorTerm> terms);
  base::Task<ApiResult<std::vector<SecurityGroup>>> find_groups(std::vector<SelectorTerm> terms);
  // Asked again at most once a minute (images: every five), so that a burst of events costs no
  // calls. What found nothing is asked again after 15 seconds.
  template <class T>
  struct Remembered {
    std::vector<T> found;
    base::TimePoint until;
  };
  template <class T>
  using Memory = std::map<std::vector<SelectorTerm>, Remembered<T>>;
  template <class T>
  void remember(Memory<T>& memory, const std::vector<SelectorTerm>& terms,
                const std::vector<T>& found, base::Duration kept);

  Api& api_;
  Ecs ecs_;
  Images images_;
  std::map<std::string, std::int64_t, std::less<>> free_addresses_;
  Memory<VSwitch> vswitches_;
  Memory<SecurityGroup> groups_;
  std::map<std::string, Memory<ResolvedImage>> image_memory_;  // by Kubernetes version
};

}  // namespace millwright::cloud::alibaba

// What a CCENodeClass selects, whether nodes can be made by it, and which of its subnets the next
// node goes to. Loop thread only.
#pragma once

#include "cloud/huawei/calls/operations.hpp"
#include "cloud/huawei/node_class/node_class_spec.hpp"
#include "millwright/cloud/provider.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace millwright::cloud::huawei {

using NodeClassPtr = std::shared_ptr<const model::NodeClass>;

class Resolver {
 public:
  static constexpr base::Duration kSubnetsKept = std::chrono::minutes(1);  // as Karpenter's

  explicit Resolver(Api& api) : api_(api) {}

  // Subnets are asked for once a minute, for all classes together.
  base::Task<base::Result<NodeClassState>> resolve(NodeClassPtr node_class);

  // Among `ids` the one with most free addresses, less those that nodes made since the last look
  // will take. Empty when there are no ids.
  std::string choose_subnet(std::span<const std::string> ids) const;
  // A node was asked for in the subnet.
  void take_address(const std::string& subnet) { ++taken_[subnet]; }

 private:
  base::Task<ApiResult<std::vector<Subnet>>> subnets();
  std::int64_t free_addresses(const std::string& id) const;

  Api& api_;
  std::vector<Subnet> known_;
  std::map<std::string, std::int64_t, std::less<>> taken_;
  base::TimePoint known_until_{};
};

// What is wrong with the spec that the CRD's rules cannot tell; empty when nothing is.
std::string spec_problem(const NodeClassSpec& spec);

// The ids of the subnets that meet one of the terms. Sorted.
std::vector<std::string> selected_subnets(std::span<const SubnetTerm> terms,
                                          std::span<const Subnet> subnets);

}  // namespace millwright::cloud::huawei

// Running instances as EC2 told of them lately, for whoever need not know how they are at this
// moment (Karpenter's instance cache). Loop thread only.
#pragma once

#include "cloud/aws/calls/ec2_types.hpp"
#include "millwright/base/loop.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::aws {

class InstanceCache {
 public:
  explicit InstanceCache(base::Loop& loop) : loop_(loop) {}

  // nullptr when nothing is known that is young enough.
  const Ec2Instance* find(std::string_view id) const {
    const auto found = known_.find(id);
    const bool is_fresh = found != known_.end() && loop_.now() - found->second.when < kKept;
    return is_fresh ? &found->second.instance : nullptr;
  }
  // One that starts is left out: EC2 tells its parts one after another.
  void put(const Ec2Instance& instance) {
    if (instance.state == "running") {
      known_.insert_or_assign(instance.id, Known{instance, loop_.now()});
    }
  }
  // All there are; others are forgotten.
  void replace(const std::vector<Ec2Instance>& all) {
    known_.clear();
    for (const auto& instance : all) {
      put(instance);
    }
  }
  void forget(const std::string& id) { known_.erase(id); }

 private:
  // Claims are judged every five minutes, and garbage collection lists every two.
  static constexpr base::Duration kKept = std::chrono::minutes(5);
  struct Known {
    Ec2Instance instance;
    base::TimePoint when;
  };

  base::Loop& loop_;
  std::map<std::string, Known, std::less<>> known_;  // by id
};

}  // namespace millwright::cloud::aws

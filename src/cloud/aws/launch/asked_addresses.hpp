// Addresses of subnets that launches under way may take (Karpenter's in-flight IPs). A burst of
// launches would else go to the subnet that had most before it, until that has none. Loop thread
// only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::cloud::aws {

class AskedAddresses {
  using Counts = std::map<std::string, std::int64_t, std::less<>>;

 public:
  // One address of each subnet, until it goes.
  class Hold {
   public:
    Hold(std::shared_ptr<Counts> counts, std::set<std::string> subnets)
        : counts_(std::move(counts)), subnets_(std::move(subnets)) {
      for (const auto& subnet : subnets_) {
        ++(*counts_)[subnet];
      }
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
      for (const auto& subnet : subnets_) {
        if (const auto found = counts_->find(subnet); --found->second == 0) {
          counts_->erase(found);
        }
      }
    }

   private:
    std::shared_ptr<Counts> counts_;  // a launch may be given up after its launcher
    std::set<std::string> subnets_;
  };

  Hold hold(std::set<std::string> subnets) const { return {counts_, std::move(subnets)}; }
  std::int64_t in(std::string_view subnet) const {
    const auto found = counts_->find(subnet);
    return found == counts_->end() ? 0 : found->second;
  }

 private:
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace millwright::cloud::aws

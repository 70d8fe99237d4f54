// What the pods of each namespace take of its quotas, kept up to date pod by pod.
#pragma once

#include "cluster/hashes.hpp"
#include "millwright/model/pod.hpp"
#include "millwright/model/resource_quota.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace millwright::cluster {

class NamespaceUse {
 public:
  // As a pod comes; and, with the same version of it, as it goes.
  void add(const model::Pod& pod) { count(pod, 1); }
  void subtract(const model::Pod& pod) { count(pod, -1); }
  model::QuotaUse of(std::string_view name) const;

 private:
  void count(const model::Pod& pod, std::int64_t times);

  struct Sums {
    std::int64_t objects = 0;
    // In thousandths. They wrap instead of saturating, so that a pod takes away again just what it
    // brought, however much it asks for.
    std::map<std::string, std::uint64_t, std::less<>> requests;
  };
  std::unordered_map<std::string, Sums, NameHash, std::equal_to<>> by_namespace_;
};

}  // namespace millwright::cluster

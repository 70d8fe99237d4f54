// What the pods of a problem ask for by their resource claims.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/devices/device_queries.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// One request of a claim: so many devices of one query, of the first alternative that can be had.
struct DeviceAsk {
  struct Alternative {
    std::size_t query = 0;
    std::int64_t count = 0;
  };
  std::vector<Alternative> alternatives;
};

struct PodDevices {
  std::vector<DeviceAsk> asks;
  // Where devices that it has already can be used: one list for each claim, any term of which.
  std::vector<std::vector<model::NodeSelectorTerm>> node_terms;
  // Not empty: it cannot be planned.
  std::string refusal;
  std::string remedy;
};

class DeviceAsks {
 public:
  // Adds what the pods ask for to `queries`.
  DeviceAsks(const Problem& problem, DeviceQueries& queries);

  // Of a pod of the problem that has resource claims.
  const PodDevices& of(std::string_view uid) const { return by_uid_.find(uid)->second; }
  // Of pods that room is kept for and that are not in the problem, by the pod that stands for them.
  const PodDevices* of_sample(const model::Pod* sample) const;

 private:
  using ClaimKey = std::pair<std::string_view, std::string_view>;  // namespace, name

  void find_first_users(const Problem& problem);
  PodDevices read(const model::Pod& pod);
  void read_claim(const model::Pod& pod, const model::PodResourceClaim& reference,
                  PodDevices& devices);
  void read_named(const model::Pod& pod, const model::PodResourceClaim& reference,
                  PodDevices& devices);
  void read_spec(const std::string& claim, const model::ResourceClaimSpec& spec,
                 PodDevices& devices);
  // False: the devices have a refusal now.
  bool read_request(const std::string& claim, const model::DeviceRequest& request, DeviceAsk& ask,
                    PodDevices& devices);

  const Snapshot& cluster_;
  DeviceQueries& queries_;
  std::map<ClaimKey, std::string_view> first_users_;  // uids
  std::map<std::string, PodDevices, std::less<>> by_uid_;
  std::map<const model::Pod*, PodDevices> by_sample_;
};

}  // namespace millwright::scheduling

// How many pods each workload wants, by the uid that its pods name as their owner. Workloads that
// want none are not kept: they are most of a cluster's ReplicaSets.
#pragma once

#include "cluster/hashes.hpp"
#include "millwright/model/workload.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::cluster {

class WorkloadTable {
 public:
  struct Wants {
    std::int32_t pods = 0;
    bool at_once = false;
    friend bool operator==(const Wants&, const Wants&) = default;
  };

  // The uids of the owners whose wants changed: none when the event is older than what is known or
  // says nothing new, two when the name went over to a new object.
  std::vector<std::string> put(const model::Workload& workload);
  // An empty uid removes whatever has the key.
  std::vector<std::string> erase(std::string_view kind, const model::ObjectKey& key,
                                 std::string_view uid = {});

  // nullptr when it is not known or wants no pods.
  const Wants* find(std::string_view uid) const;
  // The resource version that its wants were read from last; empty when it wants no pods.
  std::string_view version_of(std::string_view uid) const;

 private:
  struct Entry {
    std::string uid;
    std::string resource_version;
    Wants wants;
  };
  using Entries = std::unordered_map<model::ObjectKey, Entry, KeyHash>;

  void drop(Entries& entries, Entries::iterator entry);

  std::map<std::string, Entries, std::less<>> by_kind_;
  std::unordered_map<std::string_view, const Entry*> by_uid_;  // views of Entry::uid
};

}  // namespace millwright::cluster

// What the pods of one node come to, as far as neither the time nor budgets nor other nodes say it.
#pragma once

#include "millwright/disruption/decide.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::disruption {

struct PodFacts {
  std::vector<scheduling::PodPtr> movable;  // those that must find another place
  model::ResourceList most_requested;       // per resource, by any one of these
  // 1 + their eviction costs, where a negative cost counts as 0.
  double disruption_cost = 1;
  // What it costs to evict them if none is young or a Job's, and no budget selects any.
  double ordinary_trouble = 0;
  std::optional<base::TimePoint> last_start;  // of any of them
  bool any_of_job = false;
  // Of all pods of the node:
  bool any_annotated = false;                // with do-not-disrupt, whatever its value
  std::vector<std::string_view> namespaces;  // sorted, each once
};
PodFacts facts_of(const scheduling::NodeRecord& record);

// What is remembered of a record stays right: records do not change.
class Memory {
 public:
  std::shared_ptr<const PodFacts> facts_of(const scheduling::NodeRecordPtr& record);
  // Of nodes that have changed or gone since.
  void forget_all_but(const scheduling::Snapshot& snapshot);

 private:
  struct Entry {
    scheduling::NodeRecordPtr record;  // so that no other comes to be at its address
    std::shared_ptr<const PodFacts> facts;
    std::uint64_t seen = 0;
  };

  std::unordered_map<const scheduling::NodeRecord*, Entry> entries_;
  std::uint64_t look_ = 0;
};

}  // namespace millwright::disruption

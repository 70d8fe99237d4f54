#include "disruption/candidates/pod_facts.hpp"

#include "disruption/candidates/candidate.hpp"
#include "disruption/candidates/eviction_price.hpp"

#include <algorithm>

namespace millwright::disruption {

PodFacts facts_of(const scheduling::NodeRecord& record) {
  PodFacts facts;
  facts.movable.reserve(record.pods.size());
  for (const auto& pod : record.pods) {
    facts.any_annotated =
        facts.any_annotated || !pod->meta.annotation(model::kDoNotDisruptAnnotation).empty();
    facts.namespaces.push_back(pod->meta.namespace_);
    if (!scheduling::is_reschedulable(*pod)) {
      continue;
    }
    facts.movable.push_back(pod);
    model::max_into(facts.most_requested, scheduling::effective_requests(*pod));
    facts.disruption_cost += std::max(0.0, eviction_cost(*pod));
    facts.ordinary_trouble += ordinary_trouble(*pod);
    facts.any_of_job = facts.any_of_job || is_of_job(*pod);
    if (const auto& start = pod->status.start_time) {
      facts.last_start = std::max(facts.last_start.value_or(*start), *start);
    }
  }
  std::sort(facts.namespaces.begin(), facts.namespaces.end());
  facts.namespaces.erase(std::unique(facts.namespaces.begin(), facts.namespaces.end()),
                         facts.namespaces.end());
  return facts;
}

std::shared_ptr<const PodFacts> Memory::facts_of(const scheduling::NodeRecordPtr& record) {
  auto& entry = entries_[record.get()];
  if (!entry.facts) {
    entry.record = record;
    entry.facts = std::make_shared<const PodFacts>(disruption::facts_of(*record));
  }
  return entry.facts;
}

void Memory::forget_all_but(const scheduling::Snapshot& snapshot) {
  ++look_;
  for (const auto& record : snapshot.nodes) {
    if (const auto found = entries_.find(record.get()); found != entries_.end()) {
      found->second.seen = look_;
    }
  }
  std::erase_if(entries_, [&](const auto& item) { return item.second.seen != look_; });
}

std::shared_ptr<Memory> make_memory() {
  return std::make_shared<Memory>();
}

}  // namespace millwright::disruption

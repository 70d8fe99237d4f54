#include "cluster/demand/gathering.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace millwright::cluster {
namespace {

// What quotas still admit. Owners of one namespace share it: who gets it nobody knows, but together
// they get no more.
class QuotaBudget {
 public:
  explicit QuotaBudget(const StillToCome& known) : known_(known) {}

  std::int32_t take(const model::Pod& sample, std::int32_t wanted) {
    const std::string& ns = sample.meta.namespace_;
    const auto quotas = known_.quotas.in_namespace(ns);
    if (quotas.empty() || wanted <= 0) {
      return wanted;
    }
    const auto [entry, added] = used_.try_emplace(ns);
    model::QuotaUse& used = entry->second;
    if (added) {
      used = known_.use.of(ns);
    }
    const model::ResourceList requests = scheduling::effective_requests(sample);
    std::int64_t most = wanted;
    for (const auto& quota : quotas) {
      most = std::min(most, model::pods_within(*quota, requests, used));
    }
    used.objects += most;
    model::add_to(used.requests, model::multiplied(requests, most));
    return static_cast<std::int32_t>(most);
  }

 private:
  const StillToCome& known_;
  std::map<std::string, model::QuotaUse> used_;
};

}  // namespace

bool is_replaced(const model::Pod& pod) {
  return scheduling::has_successor(pod) && !model::is_owned_by_daemonset(pod) &&
         !model::is_mirror(pod);
}

bool is_closing(const scheduling::NodeRecord& record) {
  return record.marked_for_deletion || record.fenced;
}

scheduling::Demand gather_demand(DemandTable& table, const scheduling::Snapshot& snapshot,
                                 const StillToCome& still_to_come) {
  for (const scheduling::PodPtr& pod : snapshot.pending_pods) {
    if (!pod->meta.is_deleting() && pod->spec.scheduling_gates.empty() &&
        !model::is_owned_by_daemonset(*pod)) {
      table.add_waiting(pod);
    }
  }
  for (const scheduling::NodeRecordPtr& record : snapshot.nodes) {
    if (!is_closing(*record)) {
      continue;
    }
    for (const scheduling::PodPtr& pod : record->pods) {
      if (!is_replaced(*pod)) {
        continue;
      }
      // A fence alone may be taken back. One that is being deleted is missed by its workload.
      if (record->marked_for_deletion && !pod->meta.is_deleting()) {
        table.add_leaving(pod);
      } else if (!pod->meta.is_deleting() || !model::is_workload(*pod->meta.controller())) {
        table.add_later(pod);
      }
    }
  }
  still_to_come.departures.for_each([&](const scheduling::PodPtr& pod) { table.add_later(pod); });
  QuotaBudget budget(still_to_come);
  still_to_come.shortfalls.for_each([&](const Shortfall& shortfall) {
    table.add_expected(shortfall.sample, budget.take(*shortfall.sample, shortfall.expected));
    table.add_later(shortfall.sample, shortfall.later);
    for (const scheduling::PodPtr& pod : shortfall.away) {
      table.add_later(pod);
    }
  });
  return table.take();
}

}  // namespace millwright::cluster

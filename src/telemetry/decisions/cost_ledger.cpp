#include "millwright/telemetry/cost_ledger.hpp"

#include "millwright/scheduling/solve.hpp"
#include "millwright/telemetry/node_costs.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace millwright::telemetry {
namespace {

NodeUse use_of(const scheduling::NodeRecord& record, const std::set<std::string_view>& reserved) {
  if (record.marked_for_deletion) {
    return NodeUse::Leaving;
  }
  if (!record.initialized()) {
    return NodeUse::Starting;
  }
  if (std::any_of(record.pods.begin(), record.pods.end(),
                  [](const auto& pod) { return scheduling::is_reschedulable(*pod); })) {
    return NodeUse::Working;
  }
  return reserved.contains(record.name()) ? NodeUse::Reserved : NodeUse::Empty;
}

}  // namespace

std::string_view to_string(NodeUse use) {
  switch (use) {
    case NodeUse::Starting:
      return "starting";
    case NodeUse::Reserved:
      return "reserved";
    case NodeUse::Empty:
      return "empty";
    case NodeUse::Working:
      return "working";
    case NodeUse::Leaving:
      return "leaving";
  }
  return "";
}

void CostLedger::look(const scheduling::Snapshot& snapshot, const scheduling::Catalog& catalog,
                      base::TimePoint now) {
  const std::chrono::duration<double, std::ratio<3600>> hours =
      now - std::exchange(last_, now).value_or(now);
  std::set<std::string_view> reserved;
  for (const auto& reservation : snapshot.reservations) {
    reserved.insert(reservation.target);
  }
  NodeCosts costs(catalog);
  std::map<std::pair<std::string_view, NodeUse>, double> spent;
  for (const auto& record : snapshot.nodes) {
    // No label of an instance, no price: the claim is not launched yet.
    if (const auto price = costs.price_of(*record)) {
      spent[{record->node_pool(), use_of(*record, reserved)}] += *price * hours.count();
    }
  }
  for (const auto& [key, amount] : spent) {
    metrics_.count(
        "millwright_cost_total",
        "What nodes have cost since the process began, by what they were used for.",
        {{"nodepool", std::string(key.first)}, {"use", std::string(to_string(key.second))}},
        amount);
  }
}

}  // namespace millwright::telemetry

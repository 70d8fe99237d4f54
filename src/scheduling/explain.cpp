#include "scheduling/explain.hpp"

#include "scheduling/existing_nodes.hpp"
#include "scheduling/explain_topology.hpp"
#include "scheduling/min_values.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

constexpr std::size_t kShownPools = 5;
constexpr std::int64_t kSuspiciousCpu = 1'000'000'000;  // a million CPUs, in thousandths

// How far a pod came in one pool on one rung; the furthest is the most telling.
enum class Stage : std::uint8_t {
  Pool,
  Taints,
  Requirements,
  InstanceTypes,
  Resources,
  Ports,
  Offerings,
  Topology,
  MinValues,
  Limits,
};

struct Finding {
  Stage stage = Stage::Pool;
  std::string reason;
  std::string remedy;
};

std::string with_unit(std::string_view resource, std::int64_t milli) {
  const auto format = resource == model::kMemory || resource == model::kEphemeralStorage
                          ? model::Quantity::Format::BinarySI
                          : model::Quantity::Format::DecimalSI;
  return model::Quantity::from_milli(milli, format).to_string();
}

class Inspector {
 public:
  Inspector(const PodClasses& pods, const PodClass& pod_class, std::span<const PoolTemplate> pools,
            Packing& packing)
      : pods_(pods),
        pod_class_(pod_class),
        pools_(pools),
        packing_(packing),
        drafts_(packing.drafts()) {}

  Finding furthest(std::uint32_t pool) {
    std::optional<Finding> best;
    const Constraint& constraint = pods_.constraints[pod_class_.constraint];
    for (const Rung& rung : constraint.ladder) {
      Finding finding = inspect(pool, {pod_class_, constraint, rung});
      // Later rungs ask for less; of equal findings theirs is the one without preferences.
      if (!best || finding.stage >= best->stage) {
        best = std::move(finding);
      }
    }
    return best.value_or(Finding{});
  }

 private:
  Finding inspect(std::uint32_t index, const Candidate& candidate) {
    const PoolTemplate& pool = pools_[index];
    if (!pool.problem.empty()) {
      return {Stage::Pool, pool.problem, "review the requirements of NodePool " + pool.name()};
    }
    if (const auto* taint = blocking_taint(pool.taints, candidate.constraint, candidate.rung)) {
      return {Stage::Taints, "it does not tolerate taint " + taint->to_string(),
              "tolerate " + taint->to_string()};
    }
    const Requirements& wanted = candidate.rung.requirements;
    if (const auto problem = pool.requirements.incompatibility(wanted, AllowUndefined::WellKnown);
        !problem.empty()) {
      return incompatible(pool, wanted, problem);
    }
    return inspect_types(
        index, candidate,
        drafts_.shapes().joined(drafts_.shapes().empty_claim(index), candidate.rung));
  }

  static Finding incompatible(const PoolTemplate& pool, const Requirements& wanted,
                              const std::string& problem) {
    if (const auto* hostname = wanted.find(model::kHostnameLabel);
        hostname != nullptr && !hostname->admits_absence()) {
      return {Stage::Requirements,
              "no new node can have the name it asks for (" + hostname->to_string() + ")",
              "remove " + std::string(model::kHostnameLabel) + " from its node selector"};
    }
    for (const Requirement& want : wanted) {
      Requirements one;
      one.add(want);
      if (pool.requirements.compatible(one, AllowUndefined::WellKnown)) {
        continue;
      }
      const bool named = !want.is_complement() && !want.values().empty();
      const std::string value = named ? want.values().front() : std::string();
      const bool has_types = pool.table->admitted(want).intersects(pool.table->all());
      if (pool.requirements.find(want.key()) == nullptr) {
        return {Stage::Requirements, problem,
                "add label " + want.key() + (named ? "=" + value : "") +
                    " to the template of NodePool " + pool.name()};
      }
      if (named && has_types && want.key() != model::kNodePoolLabel) {
        return {Stage::Requirements, problem,
                "allow " + want.key() + " " + value + " in NodePool " + pool.name()};
      }
      break;
    }
    return {Stage::Requirements, problem, ""};
  }

  Finding inspect_types(std::uint32_t index, const Candidate& candidate, std::uint32_t id) {
    const PoolTemplate& pool = pools_[index];
    const ClaimShape shape = drafts_.shapes()[id];  // looking further may make more of them
    if (shape.admitted.empty()) {
      return {Stage::InstanceTypes,
              "no instance type meets " + candidate.rung.requirements.to_string(), ""};
    }
    RowSet fitting = shape.admitted;
    if (!pool.room.keep_fitting(fitting, pod_class_.requests)) {
      return too_small(pool, shape, candidate);
    }
    RowSet beside_daemons = fitting;
    for (const DaemonGroup& group : pool.daemon_groups) {
      if (const auto* port = group.ports.conflict(candidate.constraint.ports)) {
        beside_daemons -= group.rows;
        if (beside_daemons.empty()) {
          return {Stage::Ports, "a DaemonSet takes host port " + port->to_string() + " everywhere",
                  "use another host port"};
        }
      }
    }
    RowSet sold(pool.table->size());
    sold |= shape.offered;
    for (const std::uint32_t kind : shape.reserved) {
      sold |= pool.table->kinds()[kind].rows;
    }
    RowSet buyable = beside_daemons & sold;
    if (buyable.empty()) {
      return {
          Stage::Offerings,
          "the instance types that would do have no available offering for " + shape_text(shape),
          "allow other zones or capacity types, or wait for capacity"};
    }
    if (auto obstacle = topology_obstacle(packing_, candidate, id, buyable)) {
      return {Stage::Topology, std::move(obstacle->reason), std::move(obstacle->remedy)};
    }
    if (const auto shortfall = min_values_shortfall(shape.requirements, *pool.table, buyable);
        !shortfall.empty()) {
      return {Stage::MinValues, "of the instance types that would do, " + shortfall,
              "lower minValues in NodePool " + pool.name()};
    }
    return over_limits(index, shape, buyable);
  }

  // Only what the pod itself narrows is of interest: zone and capacity type.
  static std::string shape_text(const ClaimShape& shape) {
    Requirements shown;
    for (const auto key : {model::kZoneLabel, model::kCapacityTypeLabel}) {
      if (const auto* requirement = shape.requirements.find(key)) {
        shown.add(*requirement);
      }
    }
    return shown.size() == 0 ? std::string("any zone or capacity type") : shown.to_string();
  }

  Finding too_small(const PoolTemplate& pool, const ClaimShape& shape,
                    const Candidate& candidate) const {
    Finding finding{Stage::Resources, "", ""};
    RowSet anything = pool.rows;
    const bool any_fits = pool.room.keep_fitting(anything, pod_class_.requests);
    finding.reason =
        "no instance type" +
        (any_fits ? " that meets " + candidate.rung.requirements.to_string() : std::string()) +
        " has enough for " + model::to_string(pod_class_.request_list);
    const RowSet& rows = shape.admitted;
    for (std::size_t c = 0; c < pods_.columns.size(); ++c) {
      const auto least = least_reduction(pool, rows, c);
      const std::string& name = pods_.columns.name(c);
      if (least) {
        finding.remedy = *least <= 0 ? "remove its request for " + name
                                     : "fits if " + name + " <= " + with_unit(name, *least);
        break;
      }
    }
    if (finding.remedy.empty()) {
      finding.remedy = closest_type(pool, rows);
    }
    if (model::get(pod_class_.request_list, model::kCpu).milli() >= kSuspiciousCpu) {
      finding.remedy = "check its cpu request: \"m\" is a thousandth, \"M\" a million";
    }
    return finding;
  }

  // The most of one resource that it could have, the others as they are.
  std::optional<std::int64_t> least_reduction(const PoolTemplate& pool, const RowSet& rows,
                                              std::size_t column) const {
    Amounts others = pod_class_.requests;
    if (others[column] == 0) {
      return std::nullopt;
    }
    others[column] = 0;
    RowSet candidates = rows;
    if (!pool.room.keep_fitting(candidates, others)) {
      return std::nullopt;
    }
    std::int64_t most = 0;
    candidates.for_each(
        [&](std::size_t row) { most = std::max(most, pool.room.room(row)[column]); });
    return most;
  }

  // What it may ask for on the type that comes closest.
  std::string closest_type(const PoolTemplate& pool, const RowSet& rows) const {
    std::optional<std::pair<double, std::size_t>> closest;
    rows.for_each([&](std::size_t row) {
      double excess = 0;
      for (std::size_t c = 0; c < pods_.columns.size(); ++c) {
        const auto room = std::max<std::int64_t>(pool.room.room(row)[c], 1);
        excess = std::max(excess,
                          static_cast<double>(pod_class_.requests[c]) / static_cast<double>(room));
      }
      if (!closest || excess < closest->first) {
        closest.emplace(excess, row);
      }
    });
    std::string text;
    for (std::size_t c = 0; closest && c < pods_.columns.size(); ++c) {
      const std::int64_t room = pool.room.room(closest->second)[c];
      if (pod_class_.requests[c] > room) {
        const std::string& name = pods_.columns.name(c);
        text.append(text.empty() ? "fits if " : " and ")
            .append(name + " <= " + with_unit(name, std::max<std::int64_t>(room, 0)));
      }
    }
    return text;
  }

  Finding over_limits(std::uint32_t index, const ClaimShape& shape, const RowSet& rows) const {
    const PoolTemplate& pool = pools_[index];
    const ClaimDraft claim{.pool = index, .rows = rows};
    const auto cheapest = cheapest_row(pool, shape, claim);
    const auto shortages =
        cheapest ? drafts_.limits(index).shortages(cheapest->row) : std::vector<Limits::Shortage>{};
    if (shortages.empty()) {
      return {Stage::Limits, "its reservations are all taken",
              "allow capacity type on-demand or spot in NodePool " + pool.name()};
    }
    Finding finding{Stage::Limits, "", ""};
    for (const auto& shortage : shortages) {
      const std::string name = "limits." + std::string(shortage.resource);
      finding.reason.append(finding.reason.empty() ? "it would exceed " : " and ")
          .append(name + " (" + shortage.limit.to_string() + ")");
      finding.remedy.append(finding.remedy.empty() ? "raise " : " and ")
          .append(name + " of NodePool " + pool.name() + " to " + shortage.needed.to_string());
    }
    return finding;
  }

  const PodClasses& pods_;
  const PodClass& pod_class_;
  std::span<const PoolTemplate> pools_;
  Packing& packing_;
  ClaimDrafts& drafts_;
};

}  // namespace

Explanation explain(const PodClasses& pods, const PodClass& pod_class,
                    std::span<const PoolTemplate> pools, Packing& packing) {
  const Constraint& constraint = pods.constraints[pod_class.constraint];
  if (!constraint.refusal.empty()) {
    return {constraint.refusal, constraint.remedy};
  }
  if (pools.empty()) {
    return {"it fits on no node, and no NodePool may grow",
            "create a NodePool, or make an existing one Ready"};
  }
  Inspector inspector(pods, pod_class, pools, packing);
  Explanation result;
  std::optional<Stage> furthest;
  for (std::uint32_t pool = 0; pool < pools.size(); ++pool) {
    const Finding finding = inspector.furthest(pool);
    if (pool < kShownPools) {
      result.reason.append(pool == 0 ? "" : "; ")
          .append("NodePool " + pools[pool].name() + ": " + finding.reason);
    }
    if (!furthest || finding.stage > *furthest) {
      furthest = finding.stage;
      result.remedy = finding.remedy;
    }
  }
  if (pools.size() > kShownPools) {
    result.reason.append("; and " + std::to_string(pools.size() - kShownPools) + " more");
  }
  return result;
}

}  // namespace millwright::scheduling

#include "scheduling/explain/explain_pool.hpp"

#include "scheduling/compile/pools/min_values.hpp"
#include "scheduling/explain/explain_room.hpp"
#include "scheduling/explain/explain_terms.hpp"
#include "scheduling/explain/explain_topology.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace millwright::scheduling {
namespace {

class PoolInspector {
 public:
  PoolInspector(const Inspected& inspected, const Rung& rung)
      : in_(inspected),
        pool_(inspected.pool),
        table_(*inspected.pool.table),
        constraint_(inspected.pods.constraints[inspected.pod_class.constraint]),
        rung_(rung),
        terms_(inspected, rung, found_),
        rows_(table_.size()) {}

  std::vector<Obstacle> run() {
    if (table_.size() == 0) {
      add(Stage::Pool, pool_.problem,
          "let the NodeClass of NodePool " + pool_.name() + " offer instance types");
      return std::move(found_);
    }
    terms_.mend_pool();
    look_at_taints();
    terms_.mend_requirements();
    find_rows();
    look_at_ports();
    look_at_topology();
    look_at_min_values();
    look_at_reservations();
    look_at_limits();
    if (found_.empty()) {
      look_at_min_values_of_domains();
    }
    if (found_.empty()) {
      add(Stage::Limits,
          "what other pods have left of limits, reservations and domains does not go together",
          "drop one of its constraints, or raise the limits of NodePool " + pool_.name());
    }
    return std::move(found_);
  }

 private:
  void add(Stage stage, std::string reason, std::string change, std::vector<Change> changes = {}) {
    found_.push_back({stage, std::move(reason), std::move(change), std::move(changes)});
  }

  void look_at_taints() {
    for (const model::Taint& taint : pool_.taints) {
      if (blocking_taint({&taint, 1}, constraint_, rung_) != nullptr) {
        add(Stage::Taints, "it does not tolerate taint " + taint.to_string(),
            "tolerate " + taint.to_string(), {{.kind = Change::Kind::Tolerate, .taint = taint}});
      }
    }
  }

  // Instance types that meet everything, are on sale and are large enough.
  void find_rows() {
    if (terms_.fit(terms_.on_sale())) {
      rows_ = fitting(terms_.on_sale());
      return;
    }
    if (terms_.on_sale().empty() || terms_.fit(terms_.meeting())) {
      terms_.mend_combination();
    }
    RowSet candidates = terms_.on_sale();
    if (candidates.empty()) {
      candidates = terms_.meeting();
    }
    if (terms_.fit(candidates)) {
      rows_ = fitting(candidates);
    } else {
      too_small(candidates.empty() ? pool_.rows : candidates);
    }
  }

  RowSet fitting(RowSet rows) const {
    pool_.room.keep_fitting(rows, in_.pod_class.first());
    return rows;
  }

  void too_small(const RowSet& candidates) {
    std::string meeting;
    if (terms_.fit(pool_.rows)) {
      meeting = " that meets " + terms_.wanted().to_string();
    } else if (terms_.fit(table_.admitted(pool_.requirements))) {
      meeting = " that is on sale";
    }
    Reduction reduction = least_reduction(pool_, in_.pods, in_.pod_class, candidates);
    add(Stage::Resources, "no instance type" + meeting + " has enough for " + wanted(),
        std::move(reduction.change), std::move(reduction.changes));
    rows_ = std::move(reduction.rows);
  }

  std::string wanted() const {
    std::string text = model::to_string(in_.pod_class.request_list);
    for (const VolumeColumn& volumes : in_.pods.volume_columns) {
      if (const auto amount = in_.pod_class.first()[volumes.column]; amount > 0) {
        text += " and " + std::to_string(amount / kOneVolume) + " volumes of " + volumes.driver;
      }
    }
    return text;
  }

  void look_at_ports() {
    RowSet left = rows_;
    const HostPort* taken = nullptr;
    for (const DaemonGroup& group : pool_.daemon_groups) {
      if (const auto* port = group.ports.conflict(constraint_.ports);
          port != nullptr && left.intersects(group.rows)) {
        taken = port;
        left -= group.rows;
      }
    }
    if (taken != nullptr && left.empty()) {
      add(Stage::Ports, "a DaemonSet takes host port " + taken->to_string() + " everywhere",
          "use another host port than " + taken->to_string());
    } else {
      rows_ = left;
    }
  }

  void look_at_topology() {
    const Applicant applicant{in_.pod_class, constraint_, rung_};
    const auto reaches = [this](const Requirements& domains) {
      return rows_.intersects(terms_.on_sale_in(domains));
    };
    auto topology = topology_obstacles(in_.packing, applicant, reaches);
    for (auto& obstacle : topology.obstacles) {
      add(Stage::Topology, std::move(obstacle.reason), std::move(obstacle.remedy));
    }
    if (topology.obstacles.empty() && topology.open.size() > 0) {
      terms_.keep_to(topology.open);
      rows_ &= terms_.on_sale();
    }
  }

  void look_at_min_values() {
    if (in_.problem.options.min_values == MinValuesPolicy::BestEffort) {
      return;
    }
    const Requirements all = terms_.merged();
    const auto shortfall = min_values_shortfall(all, table_, rows_);
    if (!shortfall.empty()) {
      add(Stage::MinValues, "of the instance types that would do, " + shortfall,
          lower_min_values(all, table_, rows_) + " in NodePool " + pool_.name());
    }
  }

  void look_at_reservations() {
    if (!found_.empty() || rows_.intersects(terms_.on_open_sale())) {
      return;
    }
    const std::string key(model::kCapacityTypeLabel);
    add(Stage::Limits, "its reservations are all taken",
        rows_.intersects(terms_.on_open_sale_without(key))
            ? terms_.drop_text(key)
            : "allow " + key + " on-demand or spot in NodePool " + pool_.name());
  }

  // The limits that would have to be raised for the type that needs the least.
  void look_at_limits() {
    const Limits& limits = in_.packing.drafts().builder().limits(in_.pool_id);
    std::optional<std::vector<Limits::Shortage>> least;
    double least_excess = std::numeric_limits<double>::infinity();
    rows_.for_each([&](std::size_t row) {
      auto shortages = limits.shortages(row);
      double excess = 0;
      for (const auto& shortage : shortages) {
        excess += static_cast<double>(shortage.needed.milli()) /
                  static_cast<double>(std::max<std::int64_t>(shortage.limit.milli(), 1));
      }
      if (!least || shortages.size() < least->size() ||
          (shortages.size() == least->size() && excess < least_excess)) {
        least = std::move(shortages);
        least_excess = excess;
      }
    });
    if (!least || least->empty()) {
      look_at_min_values_within(limits);
      return;
    }
    std::string reason;
    std::string change;
    std::vector<Change> changes;
    for (const auto& shortage : *least) {
      const std::string name = "limits." + std::string(shortage.resource);
      reason.append(reason.empty() ? "it would exceed " : " and ")
          .append(name + " (" + shortage.limit.to_string() + ")");
      change.append(change.empty() ? "raise " : " and ")
          .append(name + " of NodePool " + pool_.name() + " to " + shortage.needed.to_string());
      changes.push_back({.kind = Change::Kind::RaiseLimit,
                         .node_pool = pool_.name(),
                         .key = std::string(shortage.resource),
                         .amount = shortage.needed});
    }
    add(Stage::Limits, std::move(reason), std::move(change), std::move(changes));
  }

  // Enough instance types would do, but not of those that the limits still admit.
  void look_at_min_values_within(const Limits& limits) {
    if (!found_.empty() || in_.problem.options.min_values == MinValuesPolicy::BestEffort) {
      return;
    }
    RowSet within = rows_;
    limits.keep_within(within);
    const Requirements all = terms_.merged();
    const auto shortfall = min_values_shortfall(all, table_, within);
    if (!shortfall.empty()) {
      add(Stage::Limits,
          "of the instance types that would do and that its limits still admit, " + shortfall,
          "raise the limits of NodePool " + pool_.name() + ", or " +
              lower_min_values(all, table_, within));
    }
  }

  // A claim that a spread constraint ties to one domain of a key has one value of it.
  void look_at_min_values_of_domains() {
    if (in_.problem.options.min_values == MinValuesPolicy::BestEffort) {
      return;
    }
    const Topology& topology = in_.packing.counts().topology();
    for (const Rung::Keyed& keyed : rung_.keyed) {
      const bool is_tied =
          std::any_of(keyed.groups.begin(), keyed.groups.end(), [&](TopologyGroupId group) {
            return topology.groups()[group].kind == TopologyKind::Spread;
          });
      const std::string& key = topology.keys()[keyed.key].name();
      const auto least = terms_.merged().get(key).min_values();
      if (is_tied && least && *least > 1) {
        add(Stage::MinValues,
            key + " wants minValues " + std::to_string(*least) +
                ", and a spread constraint of the pod ties its node to one value",
            "lower minValues of " + key + " to 1 in NodePool " + pool_.name());
      }
    }
  }

  const Inspected& in_;
  const PoolTemplate& pool_;
  const TypeTable& table_;
  const Constraint& constraint_;
  const Rung& rung_;
  std::vector<Obstacle> found_;
  Terms terms_;
  RowSet rows_;  // instance types that would do
};

}  // namespace

std::vector<Obstacle> obstacles(const Inspected& inspected, const Rung& rung) {
  return PoolInspector(inspected, rung).run();
}

}  // namespace millwright::scheduling

#include "scheduling/explain/explain_topology.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace millwright::scheduling {
namespace {

constexpr std::size_t kShownDomains = 25;

// Several selectors: pods count that match all of them, as those of several affinity terms do.
std::string selector_text(const TopologyGroup& group) {
  std::vector<std::string> selectors;
  for (const auto& part : group.selection.parts) {
    if (!part.selector) {
      return "nothing (it has no valid label selector)";
    }
    selectors.push_back(part.selector->empty() ? "any pod" : model::to_string(*part.selector));
  }
  std::string text;
  for (auto one = selectors.begin(); one != selectors.end(); ++one) {
    if (std::find(selectors.begin(), one, *one) == one) {
      text.append(text.empty() ? "" : " and ").append(*one);
    }
  }
  return text;
}

class TopologyInspector {
 public:
  TopologyInspector(const Packing& packing, const Applicant& applicant, const Reaches& reaches)
      : packing_(packing),
        counts_(packing.counts()),
        topology_(packing.counts().topology()),
        applicant_(applicant),
        reaches_(reaches) {}

  TopologyFindings find() const {
    std::vector<TopologyObstacle> found;
    Requirements open;
    const auto note = [&found](std::optional<TopologyObstacle> obstacle) {
      if (obstacle) {
        found.push_back(*std::move(obstacle));
      }
    };
    for (const Rung::Keyed& keyed : applicant_.rung.keyed) {
      const auto reachable = reachable_domains(keyed.key);
      if (reachable.empty() && packing_.choices().only_distance(keyed)) {
        continue;  // nodes without the label are apart from everything
      }
      const std::size_t before = found.size();
      for (const TopologyGroupId id : keyed.groups) {
        note(group_obstacle(id, reachable));
      }
      const auto left = open_domains(keyed, reachable);
      if (left.empty() && found.size() == before) {
        note(TopologyObstacle{
            "its constraints on " + name(keyed.key) + " leave no domain when taken together",
            "drop one of them"});
      }
      open.add(Requirement::in(name(keyed.key), left));
    }
    for (const TopologyGroupId id : applicant_.constraint.repelling) {
      // What it must itself keep apart from was said above.
      const auto& own = applicant_.rung.groups;
      if (std::find(own.begin(), own.end(), id) == own.end()) {
        note(closed_by_others(id, open));
      }
    }
    if (found.empty()) {
      note(not_together(open));
    }
    for (const TopologyGroupId id : applicant_.rung.on_host) {
      note(missing_company(id));
    }
    // Groups are numbered in the order of the input, which must not show.
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::tie(a.reason, a.remedy) < std::tie(b.reason, b.remedy);
    });
    return {std::move(found), std::move(open)};
  }

 private:
  const std::string& name(KeyId key) const { return topology_.keys()[key].name(); }

  std::vector<std::int32_t> reachable_domains(KeyId key) const {
    std::vector<std::int32_t> result;
    const auto& domains = topology_.keys()[key].domains();
    for (std::size_t i = 0; i < domains.size(); ++i) {
      Requirements domain;
      domain.add(Requirement::in(name(key), {domains[i]}));
      if (reaches_(domain)) {
        result.push_back(static_cast<std::int32_t>(i));
      }
    }
    return result;
  }

  const std::string& domain_name(KeyId key, std::int32_t domain) const {
    return topology_.keys()[key].domains()[static_cast<std::size_t>(domain)];
  }

  // Each constraint leaves something, and so do those of each key: all together nothing.
  std::optional<TopologyObstacle> not_together(const Requirements& open) const {
    if (open.size() == 0 || reaches_(open)) {
      return std::nullopt;
    }
    for (const Requirement& requirement : open) {
      if (!requirement.is_complement() && requirement.values().empty()) {
        return TopologyObstacle{"its constraints on " + requirement.key() +
                                    " and those of other pods leave no domain when taken together",
                                "drop one of its own, or change theirs"};
      }
    }
    return TopologyObstacle{"its constraints and those of other pods leave only " +
                                open.to_string() + ", which is not on sale together",
                            "drop one of its own, or change theirs"};
  }

  // Those of them that no group of the key closes.
  std::vector<std::string> open_domains(const Rung::Keyed& keyed,
                                        const std::vector<std::int32_t>& reachable) const {
    std::vector<std::string> open;
    for (const std::int32_t domain : reachable) {
      if (packing_.choices().allows(applicant_, keyed, domain)) {
        open.push_back(domain_name(keyed.key, domain));
      }
    }
    return open;
  }

  std::string list(KeyId key, const std::vector<std::int32_t>& domains) const {
    std::string text;
    for (std::size_t i = 0; i < domains.size() && i < kShownDomains; ++i) {
      text.append(i == 0 ? "" : ", ")
          .append(topology_.keys()[key].domains()[static_cast<std::size_t>(domains[i])]);
    }
    if (domains.size() > kShownDomains) {
      text.append(" and " + std::to_string(domains.size() - kShownDomains) + " more");
    }
    return text.empty() ? "none" : text;
  }

  // Why the group leaves none of the reachable domains.
  std::optional<TopologyObstacle> group_obstacle(TopologyGroupId id,
                                                 const std::vector<std::int32_t>& reachable) const {
    const TopologyGroup& group = topology_.groups()[id];
    const bool self = applicant_.constraint.counts_for(id);
    const bool first =
        group.kind == TopologyKind::Affinity && packing_.choices().is_first(applicant_, id);
    if (std::any_of(reachable.begin(), reachable.end(),
                    [&](std::int32_t domain) { return counts_.allows(id, domain, self, first); })) {
      return std::nullopt;
    }
    switch (group.kind) {
      case TopologyKind::Spread:
        return spread_obstacle(id, reachable, self);
      case TopologyKind::Affinity:
        return affinity_obstacle(id);
      case TopologyKind::AntiAffinity:
        return TopologyObstacle{"it must be kept apart by " + group.key + " from pods that match " +
                                    selector_text(group) + ", and every domain it can go to (" +
                                    list(group.key_id, reachable) + ") has one",
                                "allow more values of " + group.key +
                                    ", or use preferredDuringSchedulingIgnoredDuringExecution"};
    }
    return std::nullopt;
  }

  TopologyObstacle spread_obstacle(TopologyGroupId id, const std::vector<std::int32_t>& reachable,
                                   bool self) const {
    const TopologyGroup& group = topology_.groups()[id];
    TopologyObstacle result;
    result.reason =
        "it must be spread over " + group.key + " with maxSkew " + std::to_string(group.max_skew);
    if (reachable.empty()) {
      result.reason += ", and no instance type that would do has a known " + group.key;
      result.remedy = "let a NodePool define " + group.key + ", or drop the constraint";
      return result;
    }
    std::int32_t needed = std::numeric_limits<std::int32_t>::max();
    std::string where;
    for (const std::int32_t domain : reachable) {
      const std::int32_t count = counts_.selected(id, domain);
      needed = std::min(needed, count + (self ? 1 : 0) - counts_.least(id));
      where.append(where.empty() ? "" : ", ")
          .append(list(group.key_id, {domain}) + " with " + std::to_string(count));
    }
    result.reason += ": the least of all domains is " + std::to_string(counts_.least(id)) +
                     ", and it can only go to " + where;
    result.remedy =
        "raise maxSkew to " + std::to_string(needed) + ", or use whenUnsatisfiable: ScheduleAnyway";
    return result;
  }

  TopologyObstacle affinity_obstacle(TopologyGroupId id) const {
    const TopologyGroup& group = topology_.groups()[id];
    const std::string text =
        "it must share " + group.key + " with pods that match " + selector_text(group);
    if (counts_.total(id) == 0) {
      return {text + ", and there are none",
              "start such a pod, correct the selector, or use "
              "preferredDuringSchedulingIgnoredDuringExecution"};
    }
    std::vector<std::int32_t> company;
    for (std::size_t i = 0; i < topology_.keys()[group.key_id].size(); ++i) {
      if (counts_.selected(id, static_cast<std::int32_t>(i)) > 0) {
        company.push_back(static_cast<std::int32_t>(i));
      }
    }
    return {text + ", which are only in " + list(group.key_id, company) + ", where it cannot go",
            "let it go to " + list(group.key_id, company)};
  }

  // Takes what it closes out of `open`.
  std::optional<TopologyObstacle> closed_by_others(TopologyGroupId id, Requirements& open) const {
    const TopologyGroup& group = topology_.groups()[id];
    if (group.by_host) {
      return std::nullopt;  // a new node is free of others
    }
    const auto reachable = reachable_domains(group.key_id);
    std::vector<std::string> left;
    for (const std::int32_t domain : reachable) {
      if (!counts_.is_closed(id, domain)) {
        left.push_back(domain_name(group.key_id, domain));
      }
    }
    if (left.size() < reachable.size()) {
      open.add(Requirement::in(group.key, left));
    }
    if (reachable.empty() || !left.empty()) {
      return std::nullopt;
    }
    return TopologyObstacle{
        "pods whose anti-affinity keeps out pods that match " + selector_text(group) +
            " are in every domain of " + group.key + " that it can go to (" +
            list(group.key_id, reachable) + ")",
        "allow more values of " + group.key + ", or change their anti-affinity"};
  }

  std::optional<TopologyObstacle> missing_company(TopologyGroupId id) const {
    const TopologyGroup& group = topology_.groups()[id];
    if (group.kind != TopologyKind::Affinity || packing_.choices().is_first(applicant_, id)) {
      return std::nullopt;
    }
    const std::string text = "it must share a node with pods that match " + selector_text(group);
    return counts_.total(id) == 0
               ? TopologyObstacle{text + ", and there are none",
                                  "start such a pod or correct the selector"}
               : TopologyObstacle{text + ", and no node that has one has room for it",
                                  "use preferredDuringSchedulingIgnoredDuringExecution, or "
                                  "make room on such a node"};
  }

  const Packing& packing_;
  const TopologyCounts& counts_;
  const Topology& topology_;
  const Applicant& applicant_;
  const Reaches& reaches_;
};

}  // namespace

TopologyFindings topology_obstacles(const Packing& packing, const Applicant& applicant,
                                    const Reaches& reaches) {
  if (!applicant.constraint.has_topology()) {
    return {};
  }
  return TopologyInspector(packing, applicant, reaches).find();
}

}  // namespace millwright::scheduling

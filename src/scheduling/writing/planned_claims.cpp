#include "scheduling/writing/planned_claims.hpp"

#include "scheduling/compile/pools/min_values.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

// A member of the set to label the node with: the first listed value or the least integer, so
// that equal plans give equal labels. nullopt when the label need not exist: one that nobody asked
// for would make a topology domain of its own.
std::optional<std::string> label_value(const Requirement& requirement) {
  if (requirement.admits_absence()) {
    return std::nullopt;
  }
  if (!requirement.is_complement()) {
    return requirement.values().empty() ? std::nullopt
                                        : std::optional(requirement.values().front());
  }
  std::int64_t candidate = std::max<std::int64_t>(requirement.gte().value_or(0), 0);
  candidate = std::min(candidate, requirement.lte().value_or(candidate));
  // Each excluded value can block one candidate.
  for (std::size_t tries = 0; tries <= requirement.values().size(); ++tries, ++candidate) {
    if (requirement.has(std::to_string(candidate))) {
      return std::to_string(candidate);
    }
  }
  return std::nullopt;
}

struct PricedType {
  double price;
  const InstanceType* type;
};

// One entry per instance type, cheapest first.
std::vector<PricedType> types_by_price(const PoolTemplate& pool, const ClaimShape& shape,
                                       const ClaimDraft& claim) {
  std::vector<PricedType> priced;
  priced.reserve(claim.rows.count());
  if (!claim.reserved && pool.table->size() == pool.table->types()->size()) {
    // A row is a type, and the shape has sorted them.
    for (const std::uint32_t row : shape.by_price) {
      if (claim.rows.contains(row)) {
        priced.push_back({shape.price[row], pool.table->row(row).type});
      }
    }
    return priced;
  }
  claim.rows.for_each([&](std::size_t row) {
    const InstanceType* type = pool.table->row(row).type;
    const double price = row_price(pool, shape, claim, row);
    if (!priced.empty() && priced.back().type == type) {
      // Another part of the same type: rows of one type are neighbours.
      priced.back().price = std::min(priced.back().price, price);
      return;
    }
    priced.push_back({price, type});
  });
  std::sort(priced.begin(), priced.end(), [](const PricedType& a, const PricedType& b) {
    return a.price != b.price ? a.price < b.price : a.type->name < b.type->name;
  });
  return priced;
}

// How many of the types, the cheapest first, cost no more than max_price_ratio times the cheapest.
std::size_t within_price_ratio(const PoolTemplate& pool, const std::vector<PricedType>& types) {
  if (pool.max_price_ratio <= 0 || types.empty()) {
    return types.size();
  }
  const double overhead = pool.table->node_overhead();
  // Prices that differ by what doubles cannot tell are equal.
  const double most = (types.front().price - overhead) * pool.max_price_ratio * (1 + 1e-9);
  const auto end = std::find_if(types.begin(), types.end(), [&](const PricedType& type) {
    return type.price - overhead > most;
  });
  return static_cast<std::size_t>(end - types.begin());
}

// The claim's rows of those types.
RowSet rows_of(std::span<const PricedType> types, const PoolTemplate& pool,
               const ClaimDraft& claim) {
  std::set<const InstanceType*> wanted;
  for (const PricedType& type : types) {
    wanted.insert(type.type);
  }
  RowSet result = claim.rows;
  claim.rows.for_each([&](std::size_t row) {
    if (!wanted.contains(pool.table->row(row).type)) {
      result.erase(row);
    }
  });
  return result;
}

void append(const RowSet& rows, std::vector<std::uint64_t>& key) {
  for (std::size_t i = 0; i < rows.word_count(); ++i) {
    key.push_back(rows.word(i));
  }
}

// What the DaemonSets take on every type that is left, whichever the cloud chooses.
model::ResourceList least_daemon_requests(const PoolTemplate& pool, const RowSet& rows) {
  std::optional<model::ResourceList> least;
  for (const DaemonGroup& group : pool.daemon_groups) {
    if (!group.rows.intersects(rows)) {
      continue;
    }
    if (!least) {
      least = group.requests;
      continue;
    }
    std::erase_if(*least, [&](const auto& item) { return !group.requests.contains(item.first); });
    for (auto& [name, quantity] : *least) {
      quantity = std::min(quantity, group.requests.at(name));
    }
  }
  return least.value_or(model::ResourceList{});
}

}  // namespace

void add_custom_labels(const Requirements& requirements, model::StringMap& labels) {
  for (const Requirement& requirement : requirements) {
    if (!model::is_well_known_label(requirement.key()) && !labels.contains(requirement.key())) {
      if (auto value = label_value(requirement)) {
        labels.emplace(requirement.key(), *std::move(value));
      }
    }
  }
}

std::optional<PlannedClaim> ClaimWriter::write(const ClaimDraft& claim, Dropped& dropped) {
  std::vector<std::uint64_t> key = {claim.shape.index(), claim.reserved ? *claim.reserved + 1 : 0,
                                    claim.min_values_relaxed ? 1U : 0U};
  append(claim.rows, key);
  const auto [found, added] = prototypes_.try_emplace(std::move(key));
  Prototype& prototype = found->second;
  if (added) {
    prototype.claim = make_prototype(claim, prototype);
  }
  if (!prototype.claim) {
    dropped = prototype.dropped;
    return std::nullopt;
  }
  PlannedClaim planned = *prototype.claim;
  planned.requests = requests_of(claim);
  model::add_to(planned.requests, least_daemon_requests(pools_[claim.pool], prototype.kept));
  for (const PodId pod : claim.pods) {
    planned.pod_uids.push_back(pods_.pods[pod].pod->meta.uid);
  }
  return planned;
}

std::optional<PlannedClaim> ClaimWriter::make_prototype(const ClaimDraft& claim,
                                                        Prototype& prototype) {
  const PoolTemplate& pool = pools_[claim.pool];
  const ClaimShape& shape = shapes_[claim.shape];
  PlannedClaim planned{.node_pool = pool.name(), .requirements = shape.requirements};
  bool relaxed = claim.min_values_relaxed;

  auto types = types_by_price(pool, shape, claim);
  RowSet& kept = prototype.kept;
  kept = claim.rows;
  if (claim.reserved) {
    // The types that met them are not bought; see ClaimBuilder::has_choice().
    relax_min_values(planned.requirements, *pool.table, kept);
  }
  const std::size_t allowed = std::min(types.size(), problem_.options.max_instance_types);
  const auto lacks_values = [&] {
    return !min_values_shortfall(planned.requirements, *pool.table, kept).empty();
  };
  std::size_t count = std::min(allowed, within_price_ratio(pool, types));
  kept = count < types.size() ? rows_of(std::span(types).first(count), pool, claim) : kept;
  while (count < allowed && lacks_values()) {
    kept = rows_of(std::span(types).first(++count), pool, claim);
  }
  if (count < types.size()) {
    types.resize(count);
    if (const auto shortfall = min_values_shortfall(planned.requirements, *pool.table, kept);
        !shortfall.empty()) {
      if (problem_.options.min_values == MinValuesPolicy::Strict) {
        prototype.dropped = {"NodePool " + pool.name() + ": of the " +
                                 std::to_string(types.size()) + " cheapest instance types, " +
                                 shortfall,
                             lower_min_values(planned.requirements, *pool.table, kept) +
                                 " in NodePool " + pool.name()};
        return std::nullopt;
      }
      relaxed = relax_min_values(planned.requirements, *pool.table, kept) || relaxed;
    }
  }
  std::vector<const InstanceType*> in_order;
  std::transform(types.begin(), types.end(), std::back_inserter(in_order),
                 [](const PricedType& type) { return type.type; });
  planned.instance_types = names_of(std::move(in_order));
  planned.price = types.empty() ? 0 : types.front().price - pool.table->node_overhead();
  relaxed = set_types(planned, claim, kept) || relaxed;
  planned.labels = pool.labels;
  add_custom_labels(planned.requirements, planned.labels);
  planned.annotations = annotations_of(pool, relaxed);
  return planned;
}

bool ClaimWriter::set_types(PlannedClaim& planned, const ClaimDraft& claim, const RowSet& rows) {
  for (const auto key :
       {model::kRegisteredLabel, model::kInitializedLabel, model::kHostnameLabel}) {
    planned.requirements.remove(key);
  }
  planned.requirements.add(types_in(claim.pool, rows));
  keep_to_offerings(planned, claim, rows);
  // The types that are listed had enough values, but not all of those can be bought now.
  return keep_min_values_listed(planned.requirements);
}

void ClaimWriter::keep_to_offerings(PlannedClaim& planned, const ClaimDraft& claim,
                                    const RowSet& rows) const {
  const auto& kinds = pools_[claim.pool].table->kinds();
  if (claim.reserved) {
    planned.requirements.add(kinds[*claim.reserved].requirements);
    return;
  }
  std::set<std::string> capacity_types;
  for (const std::uint32_t kind : shapes_[claim.shape].kinds) {
    if (!kinds[kind].rows.intersects(rows)) {
      continue;
    }
    if (const auto* wanted = kinds[kind].requirements.find(model::kCapacityTypeLabel)) {
      capacity_types.insert(wanted->values().begin(), wanted->values().end());
    }
  }
  if (!capacity_types.empty()) {
    planned.requirements.add(
        Requirement::in(model::kCapacityTypeLabel, {capacity_types.begin(), capacity_types.end()}));
  }
}

const SharedList<std::string>& ClaimWriter::names_of(std::vector<const InstanceType*> types) {
  const auto [found, added] = names_.try_emplace(std::move(types));
  if (added) {
    std::vector<std::string> names;
    names.reserve(found->first.size());
    for (const InstanceType* type : found->first) {
      names.push_back(type->name);
    }
    found->second = std::move(names);
  }
  return found->second;
}

const Requirement& ClaimWriter::types_in(PoolId pool, const RowSet& rows) {
  std::vector<std::uint64_t> key = {pool.index()};
  append(rows, key);
  const auto found = types_.find(key);
  if (found != types_.end()) {
    return found->second;
  }
  const TypeTable& table = *pools_[pool].table;
  std::vector<std::string> names;
  names.reserve(rows.count());
  for (const std::uint32_t row : table.by_name()) {
    const std::string& name = table.row(row).type->name;
    if (rows.contains(row) && (names.empty() || names.back() != name)) {
      names.push_back(name);
    }
  }
  return types_
      .emplace(std::move(key), Requirement::in(model::kInstanceTypeLabel, std::move(names)))
      .first->second;
}

model::ResourceList ClaimWriter::requests_of(const ClaimDraft& claim) const {
  std::vector<std::uint32_t> classes;
  for (const PodId pod : claim.pods) {
    classes.push_back(pods_.pods[pod].pod_class);
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  model::ResourceList result;
  for (const std::uint32_t pod_class : classes) {
    for (const auto& [name, quantity] : pods_.classes[pod_class].request_list) {
      const auto column = pods_.columns.find(name);
      const auto [found, added] = result.try_emplace(name, quantity);
      if (added && column) {
        // One pod's notation, the claim's total.
        found->second += model::Quantity::from_milli(claim.requests[*column] - quantity.milli());
      }
    }
  }
  return result;
}

model::StringMap ClaimWriter::annotations_of(const PoolTemplate& pool, bool min_values_relaxed) {
  const auto& node_claim_template = pool.pool->template_;
  auto [hash, added] = hashes_.try_emplace(pool.name());
  if (added) {
    hash->second = model::nodepool_hash(node_claim_template);
  }
  model::StringMap result = node_claim_template.annotations.value_or(model::StringMap{});
  result[std::string(model::kNodePoolHashAnnotation)] = hash->second;
  result[std::string(model::kNodePoolHashVersionAnnotation)] = model::kNodePoolHashVersion;
  result[std::string(model::kMinValuesRelaxedAnnotation)] = min_values_relaxed ? "true" : "false";
  return result;
}

model::NodeClaim to_node_claim(const PlannedClaim& claim, const model::NodePool& pool) {
  const auto& node_claim_template = pool.template_;
  model::NodeClaim result;
  result.meta.generate_name = pool.meta.name + "-";
  result.meta.labels = claim.labels;
  result.meta.annotations = claim.annotations;
  result.meta.owner_references.push_back({.api_version = "karpenter.sh/v1",
                                          .kind = "NodePool",
                                          .name = pool.meta.name,
                                          .uid = pool.meta.uid,
                                          .block_owner_deletion = true});
  result.taints = node_claim_template.taints.value_or(std::vector<model::Taint>{});
  result.startup_taints = node_claim_template.startup_taints.value_or(std::vector<model::Taint>{});
  result.requirements = claim.requirements.to_selectors();
  result.requests = claim.requests;
  result.node_class_ref = node_claim_template.node_class_ref;
  result.termination_grace_period = node_claim_template.termination_grace_period;
  result.expire_after = node_claim_template.expire_after;
  return result;
}

}  // namespace millwright::scheduling

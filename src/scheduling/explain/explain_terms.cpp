#include "scheduling/explain/explain_terms.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

using Keys = std::vector<std::string>;

// Keys without which `holds` is true: one if one is enough, else as few as are found by putting
// back each that need not go. Empty when not even all of them are.
template <class Holds>
Keys least_to_drop(const Keys& keys, Holds holds) {
  for (const std::string& key : keys) {
    if (Keys one{key}; holds(one)) {
      return one;
    }
  }
  Keys dropped = keys;
  if (!holds(dropped)) {
    return {};
  }
  for (const std::string& key : keys) {
    Keys fewer = dropped;
    std::erase(fewer, key);
    if (holds(fewer)) {
      dropped = std::move(fewer);
    }
  }
  return dropped;
}

Requirements without(Requirements requirements, const Keys& keys) {
  for (const std::string& key : keys) {
    requirements.remove(key);
  }
  return requirements;
}

Keys keys_of(const Requirements& requirements) {
  Keys keys;
  for (const Requirement& requirement : requirements) {
    if (!is_simulated_key(requirement.key()) && requirement.key() != model::kNodePoolLabel) {
      keys.push_back(requirement.key());
    }
  }
  return keys;
}

template <class Text>
std::string joined(const Keys& keys, Text text) {
  std::string result;
  for (const std::string& key : keys) {
    result.append(result.empty() ? "" : " and ").append(text(key));
  }
  return result;
}

}  // namespace

Terms::Terms(const Inspected& inspected, const Rung& rung, std::vector<Obstacle>& found)
    : in_(inspected),
      pool_(inspected.pool),
      table_(*inspected.pool.table),
      rung_(rung),
      offered_(pool_.requirements),
      wanted_(rung.requirements),
      found_(found) {}

void Terms::add(Stage stage, std::string reason, Remedy remedy) {
  found_.push_back({stage, std::move(reason), std::move(remedy.text), std::move(remedy.changes)});
}

Requirements Terms::merged() const {
  Requirements all = offered_;
  all.add(wanted_);
  all.add(domains_);
  return all;
}

RowSet Terms::admitted(const Requirements& requirements) const {
  RowSet rows = table_.admitted(requirements);
  return widened_ ? rows : rows & pool_.rows;
}

RowSet Terms::sold(const Requirements& requirements, bool reserved) const {
  RowSet rows(table_.size());
  for (const OfferingKind& kind : table_.kinds()) {
    if ((reserved || !kind.reserved) &&
        requirements.compatible(kind.requirements, AllowUndefined::WellKnown)) {
      rows |= kind.rows;
    }
  }
  return rows;
}

RowSet Terms::on_sale_without(const Keys& keys) const {
  Requirements rest = offered_;
  rest.add(without(wanted_, keys));
  return admitted(rest) & sold(rest, true);
}

RowSet Terms::on_open_sale_without(std::string_view key) const {
  Requirements rest = offered_;
  rest.add(without(wanted_, {std::string(key)}));
  rest.add(without(domains_, {std::string(key)}));
  return admitted(rest) & sold(rest, false);
}

RowSet Terms::on_sale_in(const Requirements& more) const {
  Requirements all = merged();
  if (!all.compatible(more, AllowUndefined::WellKnown)) {
    return RowSet(table_.size());
  }
  all.add(more);
  return admitted(all) & sold(all, true);
}

bool Terms::fit(RowSet rows) const {
  return !rows.empty() && pool_.room.keep_fitting(rows, in_.pod_class.first());
}

void Terms::mend_pool() {
  if (pool_.problem.empty() || !pool_.rows.empty()) {
    return;
  }
  widened_ = true;
  const Keys dropped = least_to_drop(keys_of(offered_), [&](const Keys& keys) {
    const Requirements rest = without(offered_, keys);
    return admitted(rest).intersects(sold(rest, true));
  });
  add(Stage::Pool, pool_.problem,
      {"allow other values of " + joined(dropped, [](const std::string& key) { return key; }) +
       " in NodePool " + pool_.name()});
  offered_ = without(offered_, dropped);
}

void Terms::mend_requirements() {
  for (const Requirement& want : rung_.requirements) {
    mend(want);
  }
}

std::string Terms::drop_text(const std::string& key) const {
  const auto index = static_cast<std::uint32_t>(&in_.pod_class - in_.pods.classes.data());
  const auto pod = std::find_if(in_.pods.pods.begin(), in_.pods.pods.end(),
                                [&](const PlannedPod& p) { return p.pod_class == index; });
  if (strict_pod_requirements(pod->pod->spec).find(key) != nullptr) {
    return "remove " + key + " from its node selector";
  }
  return "use volumes elsewhere than in " + rung_.requirements.get(key).to_string();
}

void Terms::mend(const Requirement& want) {
  Requirements one;
  one.add(want);
  std::string problem = offered_.incompatibility(one, AllowUndefined::WellKnown);
  if (problem.empty()) {
    return;
  }
  if (want.key() == model::kNodePoolLabel) {
    add(Stage::OtherPool, std::move(problem), {other_pool(want)});
    wanted_.remove(want.key());
  } else if (want.key() == model::kHostnameLabel) {
    add(Stage::Requirements, "no new node can have the name it asks for (" + want.to_string() + ")",
        {drop_text(want.key())});
    wanted_.remove(want.key());
  } else if (offered_.find(want.key()) == nullptr) {
    add(Stage::Requirements, std::move(problem), {add_label(want)});
    offered_.add(want);
  } else {
    add(Stage::Requirements, std::move(problem), widen(want));
  }
}

std::string Terms::other_pool(const Requirement& want) const {
  const std::string drop = drop_text(want.key());
  if (want.is_complement() || want.values().empty()) {
    return drop;
  }
  const std::string& name = want.values().front();
  const auto found =
      std::find_if(in_.problem.pools.begin(), in_.problem.pools.end(),
                   [&](const PoolOption& option) { return option.pool->meta.name == name; });
  if (found == in_.problem.pools.end()) {
    return "create NodePool " + name + ", or " + drop;
  }
  return found->pool->replicas || found->pool->meta.is_deleting()
             ? drop
             : "make NodePool " + name + " Ready, or " + drop;
}

std::string Terms::add_label(const Requirement& want) const {
  const bool named = !want.is_complement() && !want.values().empty();
  const bool bounded = want.gte() || want.lte();
  const std::string label = named     ? "label " + want.key() + "=" + want.values().front()
                            : bounded ? "a label that meets " + want.to_string()
                                      : "label " + want.key();
  return "add " + label + " to the template of NodePool " + pool_.name();
}

// The pool allows other values of the key than the pod wants.
Terms::Remedy Terms::widen(const Requirement& want) {
  const std::string key = want.key();
  const auto label = pool_.labels.find(key);
  if (label != pool_.labels.end()) {
    wanted_.remove(key);
    return {want.is_complement() || want.values().empty()
                ? drop_text(key)
                : "change " + key + " to " + label->second + " in its node selector"};
  }
  Keys values = want.is_complement() ? Keys() : Keys(want.values());
  for (const std::string& value : values) {
    if (sells_with(Requirement::in(key, {value}))) {
      return {.text = "allow " + key + " " + value + " in NodePool " + pool_.name(),
              .changes = {{.kind = Change::Kind::AllowValue,
                           .node_pool = pool_.name(),
                           .key = key,
                           .value = value}}};
    }
  }
  if (want.is_complement() && sells_with(want)) {
    return {"allow other values of " + key + " in NodePool " + pool_.name()};
  }
  wanted_.remove(key);
  return {drop_text(key)};
}

// Takes the requirement in place of the pool's own if something is on sale then.
bool Terms::sells_with(const Requirement& requirement) {
  Requirements offer = offered_;
  offer.replace(requirement);
  if (!table_.admitted(offer).intersects(sold(offer, true))) {
    return false;
  }
  offered_ = std::move(offer);
  widened_ = true;
  return true;
}

bool Terms::mend_combination() {
  const bool none_made = meeting().empty();
  const Keys own = keys_of(wanted_);
  Keys dropped = least_to_drop(own, [&](const Keys& keys) { return fit(on_sale_without(keys)); });
  if (dropped.empty() && none_made) {
    dropped = least_to_drop(own, [&](const Keys& keys) { return !on_sale_without(keys).empty(); });
  }
  const std::string change =
      joined(dropped, [&](const std::string& key) { return drop_text(key); });
  if (none_made) {
    add(Stage::Types, "no instance type meets " + wanted_.to_string(), {change});
  } else {
    add(Stage::Offerings,
        "the instance types that would do have no available offering for " + sale_text(),
        {dropped.empty() ? "wait for capacity" : change + ", or wait for capacity"});
  }
  wanted_ = without(wanted_, dropped);
  return !dropped.empty();
}

// Zone and capacity type: what else a type is does not matter to whether it is on sale.
std::string Terms::sale_text() const {
  const Requirements all = merged();
  Requirements shown;
  for (const auto key : {model::kZoneLabel, model::kCapacityTypeLabel}) {
    if (const auto* requirement = all.find(key)) {
      shown.add(*requirement);
    }
  }
  return shown.size() == 0 ? std::string("any zone or capacity type") : shown.to_string();
}

}  // namespace millwright::scheduling

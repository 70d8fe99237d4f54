#include "cluster/node_table.hpp"

#include "cluster/freshness.hpp"

#include <algorithm>

namespace millwright::cluster {
namespace {

constexpr std::string_view kClaimOnly = "claim";

bool is_visible(const model::Node& node) {
  if (node.meta.label(model::kNodePoolLabel).empty()) {
    return true;
  }
  return !node.provider_id.empty() && (!node.meta.label(model::kInstanceTypeLabel).empty() ||
                                       node.meta.label(model::kInitializedLabel) == "true");
}

bool is_newer(const model::Node& a, const model::Node& b) {
  if (a.meta.creation_timestamp != b.meta.creation_timestamp) {
    return b.meta.creation_timestamp < a.meta.creation_timestamp;
  }
  return a.meta.name < b.meta.name;
}

bool is_going(const scheduling::NodeRecord& record) {
  if (record.claim == nullptr) {
    return record.node->meta.is_deleting();
  }
  return record.claim->meta.is_deleting() ||
         model::is_true(record.claim->conditions, model::kInstanceTerminating);
}

}  // namespace

TableKeyView record_key(const scheduling::NodeRecord& record) {
  if (record.node != nullptr) {
    return {record.node->meta.name, {}};
  }
  return {record.claim->meta.name, kClaimOnly};
}

NodeTable::Outcome NodeTable::put(NodePtr node) {
  NodeEntry& entry = nodes_[node->meta.name];
  Outcome outcome = Outcome::Updated;
  if (entry.node != nullptr) {
    const model::ObjectMeta& known = entry.node->meta;
    if (is_stale(known, node->meta) || (is_repeat(known, node->meta) && *entry.node == *node)) {
      return Outcome::Ignored;
    }
    if (!is_same_object(known, node->meta)) {
      outcome = Outcome::Replaced;
      entry.nominated_until.reset();
    }
    unlink(*entry.node);
  }
  entry.node = std::move(node);
  link(*entry.node);
  return outcome;
}

NodeTable::Outcome NodeTable::put(ClaimPtr claim) {
  return put_claim(std::move(claim), false);
}

void NodeTable::expect(const std::string& name) {
  expected_.emplace(name, std::string());
}

void NodeTable::stop_expecting(const std::string& name) {
  expected_.erase(name);
}

NodeTable::Outcome NodeTable::assume(ClaimPtr claim) {
  const auto ended = expected_.find(claim->meta.name);
  if (ended != expected_.end() && ended->second == claim->meta.uid) {
    return Outcome::Ignored;
  }
  const auto known = claims_.find(claim->meta.name);
  if (known != claims_.end() && !known->second.assumed &&
      is_same_object(known->second.claim->meta, claim->meta)) {
    return Outcome::Ignored;
  }
  return put_claim(std::move(claim), true);
}

NodeTable::Outcome NodeTable::answered(ClaimPtr claim) {
  const auto known = claims_.find(claim->meta.name);
  const bool assumed = known != claims_.end() && known->second.assumed;
  return put_claim(std::move(claim), assumed);
}

bool NodeTable::is_assumed(const model::NodeClaim& claim) const {
  const auto known = claims_.find(claim.meta.name);
  return known != claims_.end() && known->second.assumed &&
         is_same_object(known->second.claim->meta, claim.meta);
}

NodeTable::Outcome NodeTable::put_claim(ClaimPtr claim, bool assumed) {
  ClaimEntry& entry = claims_[claim->meta.name];
  Outcome outcome = Outcome::Updated;
  if (entry.claim != nullptr) {
    const model::ObjectMeta& known = entry.claim->meta;
    if (is_stale(known, claim->meta) || (is_repeat(known, claim->meta) && *entry.claim == *claim)) {
      entry.assumed = entry.assumed && assumed;
      return Outcome::Ignored;
    }
    if (!is_same_object(known, claim->meta)) {
      outcome = Outcome::Replaced;
      entry.marked = false;
      entry.nominated_until.reset();
    }
    unlink(*entry.claim);
  }
  entry.claim = std::move(claim);
  entry.assumed = assumed;
  link(*entry.claim);
  return outcome;
}

bool NodeTable::remove_node(std::string_view name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) {
    return false;
  }
  const NodePtr node = found->second.node;
  nodes_.erase(found);
  unlink(*node);
  return true;
}

bool NodeTable::remove_claim(std::string_view name) {
  const auto found = claims_.find(name);
  if (found == claims_.end()) {
    return false;
  }
  const ClaimPtr claim = found->second.claim;
  if (const auto expected = expected_.find(name); expected != expected_.end()) {
    expected->second = claim->meta.uid;
  }
  claims_.erase(found);
  unlink(*claim);
  return true;
}

bool NodeTable::mark(std::string_view claim, bool marked) {
  const auto found = claims_.find(claim);
  if (found == claims_.end() || found->second.marked == marked) {
    return false;
  }
  found->second.marked = marked;
  link(*found->second.claim);
  return true;
}

bool NodeTable::nominate(std::string_view node_or_claim, base::TimePoint until) {
  const auto node = nodes_.find(node_or_claim);
  if (node != nodes_.end()) {
    node->second.nominated_until = until;
    touch_node(node_or_claim);
    return true;
  }
  const auto claim = claims_.find(node_or_claim);
  if (claim == claims_.end()) {
    return false;
  }
  claim->second.nominated_until = until;
  link(*claim->second.claim);
  return true;
}

NodePtr NodeTable::node(std::string_view name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : found->second.node;
}

ClaimPtr NodeTable::claim(std::string_view name) const {
  const auto found = claims_.find(name);
  return found == claims_.end() ? nullptr : found->second.claim;
}

// Several nodes of one instance appear when a node comes back under another name, and the newest
// one is the instance's. Not while the one that its claim has registered is still Ready: whoever
// makes a Node could take the claim away from it, and its pods would be nobody's. Several claims
// should never share one; the first by name has it.
NodePtr NodeTable::node_of(const model::NodeClaim& claim) const {
  const auto instance = instances_.find(claim.provider_id);
  if (claim.provider_id.empty() || instance == instances_.end() ||
      instance->second.claims.empty() || *instance->second.claims.begin() != claim.meta.name) {
    return nullptr;
  }
  NodePtr newest;
  for (const std::string& name : instance->second.nodes) {
    const NodePtr candidate = node(name);
    if (name == claim.node_name && is_visible(*candidate) && model::is_ready(*candidate)) {
      return candidate;
    }
    if (is_visible(*candidate) && (newest == nullptr || is_newer(*candidate, *newest))) {
      newest = candidate;
    }
  }
  return newest;
}

ClaimPtr NodeTable::claim_of(const model::Node& node) const {
  const auto instance = instances_.find(node.provider_id);
  if (node.provider_id.empty() || instance == instances_.end() || instance->second.claims.empty()) {
    return nullptr;
  }
  const ClaimPtr first = claim(*instance->second.claims.begin());
  const NodePtr joined = node_of(*first);
  return joined != nullptr && joined->meta.name == node.meta.name ? first : nullptr;
}

TableKeyView NodeTable::record_key_of(const model::NodeClaim& claim) const {
  const NodePtr node = node_of(claim);
  return node == nullptr ? TableKeyView{claim.meta.name, kClaimOnly}
                         : TableKeyView{node->meta.name, {}};
}

void NodeTable::touch_node(std::string_view name) {
  touched_.insert(TableKey(TableKeyView{name, {}}));
}

void NodeTable::touch_instance(const std::string& provider_id) {
  const auto instance = instances_.find(provider_id);
  if (instance == instances_.end()) {
    return;
  }
  for (const std::string& name : instance->second.nodes) {
    touch_node(name);
  }
  for (const std::string& name : instance->second.claims) {
    touched_.insert(TableKey(TableKeyView{name, kClaimOnly}));
  }
}

void NodeTable::link(const model::Node& node) {
  touch_node(node.meta.name);
  if (!node.provider_id.empty()) {
    instances_[node.provider_id].nodes.insert(node.meta.name);
    touch_instance(node.provider_id);
  }
}

void NodeTable::unlink(const model::Node& node) {
  touch_node(node.meta.name);
  touch_instance(node.provider_id);
  const auto instance = instances_.find(node.provider_id);
  if (instance != instances_.end()) {
    instance->second.nodes.erase(node.meta.name);
    if (instance->second.nodes.empty() && instance->second.claims.empty()) {
      instances_.erase(instance);
    }
  }
}

void NodeTable::link(const model::NodeClaim& claim) {
  touched_.insert(TableKey(TableKeyView{claim.meta.name, kClaimOnly}));
  if (!claim.provider_id.empty()) {
    instances_[claim.provider_id].claims.insert(claim.meta.name);
    touch_instance(claim.provider_id);
  }
}

void NodeTable::unlink(const model::NodeClaim& claim) {
  touched_.insert(TableKey(TableKeyView{claim.meta.name, kClaimOnly}));
  touch_instance(claim.provider_id);
  const auto instance = instances_.find(claim.provider_id);
  if (instance != instances_.end()) {
    instance->second.claims.erase(claim.meta.name);
    if (instance->second.nodes.empty() && instance->second.claims.empty()) {
      instances_.erase(instance);
    }
  }
}

std::set<TableKey, TableKeyLess> NodeTable::take_touched() {
  return std::exchange(touched_, {});
}

std::shared_ptr<scheduling::NodeRecord> NodeTable::build(TableKeyView key) const {
  auto record = std::make_shared<scheduling::NodeRecord>();
  if (key.qualifier == kClaimOnly) {
    record->claim = claim(key.name);
    if (record->claim == nullptr || node_of(*record->claim) != nullptr) {
      return nullptr;
    }
  } else {
    record->node = node(key.name);
    if (record->node == nullptr || !is_visible(*record->node)) {
      return nullptr;
    }
    record->claim = claim_of(*record->node);
    const auto instance = instances_.find(record->node->provider_id);
    record->shares_machine = instance != instances_.end() && instance->second.nodes.size() > 1;
    record->nominated_until = nodes_.find(key.name)->second.nominated_until;
  }
  record->marked_for_deletion = is_going(*record);
  if (record->claim != nullptr) {
    const ClaimEntry& entry = claims_.find(record->claim->meta.name)->second;
    record->marked_for_deletion = record->marked_for_deletion || entry.marked;
    record->nominated_until = std::max(record->nominated_until, entry.nominated_until);
  }
  return record;
}

}  // namespace millwright::cluster

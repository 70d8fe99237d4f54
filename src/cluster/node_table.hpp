// Nodes and NodeClaims joined by providerID. The join depends only on the newest objects, never on
// the order in which their events came.
//
// Karpenter's cluster state rules: an unmanaged node needs no providerID; a managed node is left
// out until it has one, and while it has no instance type and is not initialised.
#pragma once

#include "cluster/sorted_table.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::cluster {

using NodePtr = std::shared_ptr<const model::Node>;
using ClaimPtr = std::shared_ptr<const model::NodeClaim>;

// Records by name; a claim without a node sorts after a node of the same name.
TableKeyView record_key(const scheduling::NodeRecord& record);

class NodeTable {
 public:
  enum class Outcome : std::uint8_t {
    Ignored,   // clearly older than what is known, or the same
    Updated,   // new, or a newer version
    Replaced,  // another object took the name
  };

  Outcome put(NodePtr node);
  Outcome put(ClaimPtr claim);
  // A claim of that name is being created: its end is remembered until stop_expecting().
  void expect(const std::string& name);
  void stop_expecting(const std::string& name);
  // A claim that this process just created: any event is newer. Ignored when it has ended already.
  Outcome assume(ClaimPtr claim);
  // The API server's answer to a write: no event has shown the claim by that.
  Outcome answered(ClaimPtr claim);
  // No event has shown the claim yet.
  bool is_assumed(const model::NodeClaim& claim) const;
  bool remove_node(std::string_view name);
  bool remove_claim(std::string_view name);
  // False when there is no such claim, or nothing changes.
  bool mark(std::string_view claim, bool marked);
  bool nominate(std::string_view node_or_claim, base::TimePoint until);

  NodePtr node(std::string_view name) const;
  ClaimPtr claim(std::string_view name) const;
  // The node that the claim is joined with, and the claim of a node; nullptr when there is none.
  NodePtr node_of(const model::NodeClaim& claim) const;
  ClaimPtr claim_of(const model::Node& node) const;
  // Of the record that a known claim is part of, for as long as the table does not change.
  TableKeyView record_key_of(const model::NodeClaim& claim) const;

  // Marks the record of that node to be built again.
  void touch_node(std::string_view name);
  // Keys of the records to build again since the last call, sorted.
  std::set<TableKey, TableKeyLess> take_touched();
  // The record without what pods and the ledger add; nullptr when no record has the key.
  std::shared_ptr<scheduling::NodeRecord> build(TableKeyView key) const;

 private:
  struct NodeEntry {
    NodePtr node;
    std::optional<base::TimePoint> nominated_until;
  };
  struct ClaimEntry {
    ClaimPtr claim;
    bool assumed = false;
    bool marked = false;
    std::optional<base::TimePoint> nominated_until;
  };
  struct Instance {
    std::set<std::string> nodes;
    std::set<std::string> claims;
  };

  Outcome put_claim(ClaimPtr claim, bool assumed);
  void link(const model::Node& node);
  void unlink(const model::Node& node);
  void link(const model::NodeClaim& claim);
  void unlink(const model::NodeClaim& claim);
  void touch_instance(const std::string& provider_id);

  std::map<std::string, NodeEntry, std::less<>> nodes_;
  std::map<std::string, ClaimEntry, std::less<>> claims_;
  // By the name of a claim that is being created, the UID of one that has ended; empty: none has.
  std::map<std::string, std::string, std::less<>> expected_;
  std::map<std::string, Instance, std::less<>> instances_;  // by providerID
  std::set<TableKey, TableKeyLess> touched_;
};

}  // namespace millwright::cluster

// Where the pods of a removed node may go, and who else wants that room: what every simulation of
// one decision is made of. Built once for a decision and read by all of its simulations.
#pragma once

#include "disruption/candidates/pool_index.hpp"
#include "disruption/simulation/node_prices.hpp"
#include "millwright/disruption/decide.hpp"
#include "millwright/disruption/pod_obstacles.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::disruption {

// A node that may take pods: not going and not fenced.
struct Destination {
  scheduling::NodeRecordPtr record;
  bool within_consolidate_after = false;  // its own pods changed a short while ago
  bool down = false;   // it was up and is not Ready, or never comes up: no pod moves there
  bool sized = false;  // what it can hold is known; not so before its launch
  model::ResourceList free;
};

// Room of a CapacityBuffer.
struct RoomOfBuffer {
  const VirtualPod* room = nullptr;
  // Where it is; nullptr when that node is gone, going or fenced.
  const Destination* home = nullptr;
};

// The cheapest price of an instance type and the most room on it, whatever pool sells it.
struct TypeForSale {
  std::string_view name;
  double price = 0;
  model::ResourceList room;
};

class Destinations {
 public:
  Destinations(const Input& input, const PoolIndex& pools, const NodePrices& prices,
               const PodObstacles& pod_obstacles);

  const std::vector<Destination>& nodes() const { return nodes_; }
  // Per resource the most that any node has free that is up and whose consolidateAfter is over.
  const model::ResourceList& most_free() const { return most_free_; }
  // Pools that may grow, and what they sell now.
  const std::vector<scheduling::PoolOption>& pools() const { return pools_; }
  const std::vector<TypeForSale>& for_sale() const { return for_sale_; }

  // Pods without a place or a reservation that compete for the same room, virtual ones left out.
  const std::vector<scheduling::PodPtr>& other_pods() const { return other_pods_; }
  // Pods on nodes that are going, for which room is reserved elsewhere.
  const std::vector<scheduling::PodPtr>& departing() const { return departing_; }
  const std::vector<RoomOfBuffer>& rooms_of_buffers() const { return rooms_of_buffers_; }
  const std::vector<scheduling::Reservation>& reservations() const { return reservations_; }
  // What is reserved for the group beyond all that waits or leaves: the replacement that an earlier
  // leader bought, and did not live to use, is where the pods of a candidate go.
  std::int32_t spare(const scheduling::GroupId& group) const;
  // The pod is on a node that is going already.
  bool is_leaving(std::string_view pod_uid) const { return leaving_uids_.contains(pod_uid); }
  // The pod stands for the room of a CapacityBuffer.
  bool is_virtual(std::string_view pod_uid) const { return virtual_uids_.contains(pod_uid); }
  const scheduling::NodeRecord* find_node(std::string_view name) const;

 private:
  void add_reservations();
  void add_pools(const PoolIndex& pools, const NodePrices& prices);
  void add_types(const model::NodePool& pool, const std::vector<scheduling::InstanceType>& types);
  void add_node(const scheduling::NodeRecordPtr& record, const model::NodePool* pool);
  std::vector<scheduling::PodPtr> leaving_pods() const;
  void add_other_pods(const PodObstacles& pod_obstacles);
  void add_rooms_of_buffers();

  const Input& input_;
  std::vector<Destination> nodes_;
  model::ResourceList most_free_;
  std::vector<scheduling::PoolOption> pools_;
  std::vector<TypeForSale> for_sale_;
  std::vector<scheduling::PodPtr> other_pods_;
  std::vector<scheduling::PodPtr> departing_;
  std::vector<RoomOfBuffer> rooms_of_buffers_;
  std::vector<scheduling::Reservation> reservations_;
  std::map<scheduling::GroupId, std::int32_t> spare_;
  std::set<std::string_view> leaving_uids_;
  std::set<std::string_view> virtual_uids_;
  std::unordered_map<std::string_view, const scheduling::NodeRecord*> nodes_by_name_;
};

// A command is removing the node already, or something else is.
bool is_going(const Input& input, const scheduling::NodeRecord& record);

}  // namespace millwright::disruption

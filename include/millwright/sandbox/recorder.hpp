// Records what happened in the cluster from the API server's watch streams. Stories are checked,
// and the live table is made, from this record alone. Loop thread only.
#pragma once

#include "millwright/model/core.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/sandbox/api_server.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millwright::sandbox {

// The life of one object, by uid. Times are loop times of the events that showed the change.
struct PodRecord {
  std::shared_ptr<const model::Pod> last;
  base::TimePoint created;
  std::optional<base::TimePoint> bound;
  std::optional<base::TimePoint> running;   // phase Running and Ready, first time
  std::optional<base::TimePoint> deleting;  // deletionTimestamp appeared
  std::optional<base::TimePoint> gone;      // removed, or ended (Succeeded, Failed)
};

struct NodeHistory {
  std::shared_ptr<const model::Node> last;
  base::TimePoint created;
  std::optional<base::TimePoint> ready;      // first time
  std::optional<base::TimePoint> disrupted;  // karpenter.sh/disrupted taint appeared
  std::optional<base::TimePoint> deleting;
  std::optional<base::TimePoint> gone;
  // When the drain began: the first deletion of a pod here after the disrupted taint appeared.
  // DaemonSet pods do not count.
  std::optional<base::TimePoint> drained_from;
  std::size_t pods_ever = 0;  // non-daemon pods ever bound here
};

struct ClaimRecord {
  std::shared_ptr<const model::NodeClaim> last;
  base::TimePoint created;
  std::optional<base::TimePoint> launched;
  std::optional<base::TimePoint> deleting;
  std::optional<base::TimePoint> gone;
};

struct NodeView {
  std::string name;
  std::string node_pool;
  std::string instance_type;
  std::string zone;
  std::string capacity_type;
  std::string state;  // Starting, Ready, NotReady, Draining
  double cpu = 0;     // capacity, vCPU
  double cpu_requested = 0;
  std::size_t pods = 0;
  base::Duration age{};
  std::optional<double> price;  // per hour
};

// What `millwright sandbox` prints as a table.
struct LiveView {
  base::TimePoint now;
  std::size_t pods_pending = 0;
  std::size_t pods_running = 0;
  std::size_t pods_ending = 0;
  std::size_t claims_without_node = 0;
  std::vector<NodeView> nodes;  // by name
  double price_per_hour = 0;    // of nodes whose price is known
};

class Recorder {
 public:
  // The price per hour of a node with these labels, when known.
  using PriceLookup = std::function<std::optional<double>(const model::StringMap& labels)>;

  explicit Recorder(ApiServer& server, PriceLookup price = {});
  // Records the events given to take_in() only.
  explicit Recorder(base::Loop& loop, PriceLookup price = {});
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // One event of a Pod, Node or NodeClaim; other kinds are ignored.
  void take_in(const model::Resource& resource, const Event& event);

  const std::map<std::string, PodRecord>& pods() const;  // by uid
  const std::map<std::string, NodeHistory>& nodes() const;
  const std::map<std::string, ClaimRecord>& claims() const;

  // Called on the loop after each event was taken in.
  void on_change(std::function<void()> callback);
  LiveView view() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millwright::sandbox

// What CSI drivers said about attach limits on nodes of each instance type. A planner that buys
// another node of the type counts on it, also when there is none at the moment.
#pragma once

#include "millwright/model/core.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace millwright::cluster {

class VolumeLimitTable {
 public:
  void put(const model::Node& node);
  void put(const model::CSINode& node);
  void erase_node(std::string_view name);
  void erase_csi_node(std::string_view name);
  // The least of each type and driver; what the last node said once none is left. Never nullptr,
  // and the same object until something changes.
  const std::shared_ptr<const scheduling::VolumeLimits>& limits() const { return limits_; }

 private:
  struct Known {
    std::string type;
    scheduling::VolumeCounts limits;
  };
  // Nodes by the limit that they have.
  using Census = std::map<std::int32_t, std::int32_t>;

  void change(std::string_view name, Known now);
  void count(const Known& known, std::int32_t nodes);
  void note(const std::string& type, const std::string& driver, const Census& census);

  std::map<std::string, Known, std::less<>> nodes_;
  std::map<std::string, std::map<std::string, Census>> censuses_;  // by type and driver
  std::shared_ptr<const scheduling::VolumeLimits> limits_ =
      std::make_shared<const scheduling::VolumeLimits>();
};

}  // namespace millwright::cluster

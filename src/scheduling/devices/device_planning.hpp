// Pods with resource claims (DRA) in a plan: a problem in which their devices are resources like
// any other, see DeviceAmounts, and what its plan says of the problem before.
//
// As Karpenter's scheduler with --ignore-dra-requests=false, as far as devices of one node go that
// are given to one claim each, by count. Refused with a reason: allocationMode All, adminAccess,
// constraints between devices, parts of devices. Not counted: devices that several nodes reach,
// that take from shared counters, that claims may share, or that are tainted.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/devices/device_amounts.hpp"
#include "scheduling/devices/device_asks.hpp"
#include "scheduling/devices/device_memory.hpp"
#include "scheduling/devices/device_places.hpp"
#include "scheduling/devices/device_queries.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

// Which of their alternatives pods ask for, by uid: the one after so many that can be had. Absent:
// the first.
using DeviceChoices = std::map<std::string, std::size_t, std::less<>>;

class DevicePlanning {
 public:
  // Whether the problem has pods that are planned so.
  static bool is_needed(const Problem& problem);

  // `problem` and `choices` must outlive it; `memory` is used now.
  DevicePlanning(const Problem& problem, const DeviceChoices& choices, DeviceMemory& memory);
  DevicePlanning(const DevicePlanning&) = delete;
  DevicePlanning& operator=(const DevicePlanning&) = delete;

  // Pods that cannot be planned keep their resource claims in it, and so are refused.
  const Problem& problem() const { return changed_; }
  // Of a plan for problem(): reasons, and claims as clouds and kubelets know them.
  Plan finish(Plan plan) const;
  // Chooses the next alternative of pods that the plan refuses. False when none has another.
  bool choose_again(const Plan& plan, DeviceChoices& choices) const;

 private:
  struct PodRefusal {
    std::string reason;  // empty: it can be planned
    std::string remedy;
  };

  std::vector<DeviceAsk::Alternative> to_be_had(const DeviceAsk& ask) const;
  DeviceCounts counts_of(const PodDevices& devices, std::size_t choice) const;
  PodRefusal refusal_of(const PodDevices& devices, const DeviceCounts& counts) const;
  std::size_t choice_of(std::string_view uid) const;
  void change_daemon_sets();
  void change_pods();
  void change_kept_room();
  void change_pools(DeviceMemory& memory);
  void change_nodes();
  std::string drivers_of(const PlannedClaim& claim) const;

  const DeviceChoices& choices_;
  DeviceQueries queries_;
  DeviceAsks asks_;
  DevicePlaces places_;
  DeviceAmounts amounts_;
  Problem changed_;
  std::map<std::string, DeviceCounts, std::less<>> counts_;  // by pod uid
  std::map<std::string, PodRefusal, std::less<>> refusals_;  // by pod uid
};

// The problem with devices as resources, for those who make no plan of it.
Problem with_devices(Problem problem, DeviceMemory& memory);

}  // namespace millwright::scheduling

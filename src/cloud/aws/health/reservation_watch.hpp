// Counts what is left in capacity reservations, which others use too, and tells of instances whose
// capacity block ends soon (Karpenter's controllers capacityreservation). Loop thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/catalog/catalog.hpp"
#include "cloud/aws/health/interruption.hpp"
#include "cloud/aws/node_class/capacity_reservations.hpp"
#include "millwright/base/log.hpp"

#include <stop_token>
#include <string>

namespace millwright::cloud::aws {

class ReservationWatch {
 public:
  struct Parts {
    Api& api;
    Catalog& catalog;
    SelectedReservations& reservations;
    std::string cluster_name;
    base::Logger log;
    TellInterruption tell;
  };
  explicit ReservationWatch(Parts parts) : parts_(std::move(parts)), ec2_(parts_.api) {}

  base::Task<void> run(std::stop_token stop);

 private:
  base::Task<void> count();
  // Nodes in a capacity block are drained before EC2 ends them with it.
  base::Task<void> end_expiring_blocks();

  Parts parts_;
  Ec2 ec2_;
};

}  // namespace millwright::cloud::aws

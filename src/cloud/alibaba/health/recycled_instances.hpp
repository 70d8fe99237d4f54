// Spot instances that ECS is about to take back: it locks one some five minutes before. Its
// offering is left out for a while, and whoever listens drains the node. Loop thread only.
#pragma once

#include "cloud/alibaba/calls/ecs_types.hpp"
#include "cloud/alibaba/catalog/catalog.hpp"
#include "cloud/common/catalog/restock.hpp"
#include "millwright/base/log.hpp"
#include "millwright/cloud/provider.hpp"

#include <string>
#include <utility>
#include <vector>

namespace millwright::cloud::alibaba {

class RecycledInstances {
 public:
  static constexpr base::Duration kLookPeriod = std::chrono::minutes(1);

  struct Parts {
    base::Loop& loop;
    Catalog& catalog;
    Restock& restock;
    std::string region;
    base::Logger log;
  };
  explicit RecycledInstances(Parts parts) : parts_(std::move(parts)) {}

  void on_notice(NoticeHandler handler) { handler_ = std::move(handler); }
  // Of the instances that there are now. What was not acted on is told again at the next look.
  base::Task<void> look_at(std::vector<EcsInstance> instances);

 private:
  Parts parts_;
  NoticeHandler handler_;
};

}  // namespace millwright::cloud::alibaba

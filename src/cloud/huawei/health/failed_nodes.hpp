// Finds nodes that CCE could not make, so that their claims need not wait until their time to
// register is over: the claim is given up and the offering left out for a while, as if it had been
// refused when it was asked for. Loop thread only.
#pragma once

#include "cloud/common/catalog/restock.hpp"
#include "cloud/huawei/calls/nodes.hpp"
#include "millwright/base/log.hpp"
#include "millwright/cloud/provider.hpp"

#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::cloud::huawei {

class FailedNodes {
 public:
  static constexpr base::Duration kLookPeriod = std::chrono::seconds(30);
  // CCE also calls a node abnormal whose kubelet is not heard of for a moment.
  static constexpr base::Duration kAbnormalFor = std::chrono::minutes(1);
  // A node that is older came up, or was given up for another reason. What becomes of it later is
  // not this class's business.
  static constexpr base::Duration kMadeWithin = std::chrono::minutes(30);

  struct Parts {
    base::Loop& loop;
    CceNodes& nodes;
    UnavailableOfferings& unavailable;
    Restock& restock;
    base::Logger log;
  };
  explicit FailedNodes(Parts parts) : parts_(std::move(parts)) {}

  void on_notice(NoticeHandler handler) { handler_ = std::move(handler); }
  // The node works: a later fault is none of its making.
  void came_up(const std::string& uid);
  // Looks until `stop`, and tells of a failed node at each look until it is being deleted.
  base::Task<void> run(std::stop_token stop);
  base::Task<void> look();

 private:
  // What is known of a node that is in a bad phase.
  struct Fault {
    base::TimePoint since;
    std::string reason = {};  // empty: not judged yet
  };
  bool has_failed(const CceNode& node);
  void forget_others(const std::vector<CceNode>& nodes);
  base::Task<std::string> reason_of(CceNode node);
  base::Task<void> tell(CceNode node, std::string reason);

  Parts parts_;
  NoticeHandler handler_;
  std::map<std::string, base::TimePoint, std::less<>> up_;  // by uid: since when that is known
  std::map<std::string, Fault, std::less<>> faults_;        // by uid
};

}  // namespace millwright::cloud::huawei

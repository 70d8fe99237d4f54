// From a NodeClaim to a CCE node: one candidate after the other, the cheapest first. Finds the node
// that an earlier call or process asked for. Loop thread only.
#pragma once

#include "cloud/common/catalog/restock.hpp"
#include "cloud/common/inherited_claims.hpp"
#include "cloud/huawei/calls/nodes.hpp"
#include "cloud/huawei/catalog/catalog.hpp"
#include "cloud/huawei/node_class/resolver.hpp"
#include "millwright/base/log.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace millwright::cloud::huawei {

using ClaimPtr = std::shared_ptr<const model::NodeClaim>;

// An available offering that serves the claim.
struct Candidate {
  std::string flavor;
  std::string zone;
  double price = 0;
  bool spot = false;
  friend bool operator==(const Candidate&, const Candidate&) = default;

  std::string_view capacity_type() const { return spot ? model::kSpot : model::kOnDemand; }
};

// By price, zone and name, as Karpenter's provider orders them; of one price, which may be all that
// is known of spot's, spot comes first. Pure.
std::vector<Candidate> candidates_for(const model::NodeClaim& claim,
                                      const std::vector<scheduling::InstanceType>& types);

class Launcher {
 public:
  struct Parts {
    Api& api;
    CceNodes& nodes;
    Catalog& catalog;
    Restock& restock;
    Resolver& resolver;
    base::Logger log;
  };
  explicit Launcher(Parts parts);

  // The node of an earlier launch for the claim; NotFound when there is none. CCE has no token that
  // makes a repeated request the first one, so a launch whose answer was lost, by this process or
  // an earlier one, is looked for among all nodes before another is asked for. Unavailable while
  // the lost request may still show.
  base::Task<base::Result<CceNode>> adopt(ClaimPtr claim);
  // Several at once for one claim must not be asked for: adopt() first.
  base::Task<base::Result<CceNode>> launch(ClaimPtr claim, NodeClassPtr node_class);

  // As InheritedClaims::take_over().
  void inherit(base::TimePoint now, base::TimePoint newest) { inherited_.take_over(now, newest); }
  // The node is gone, or is going.
  void forget(std::string_view uid);
  // The node whose tag names the claim; NotFound when there is none.
  base::Task<base::Result<CceNode>> find_by_claim(ClaimPtr claim);

 private:
  void remember(const model::NodeClaim& claim, const CceNode& node);
  base::Task<ApiResult<CceNode>> order(ClaimPtr claim, NodeClassPtr node_class,
                                       Candidate candidate);

  Parts parts_;
  InheritedClaims inherited_;
  std::map<std::string, base::TimePoint, std::less<>> doubts_;  // by the claim's UID: since when
  // Likewise, what was made or found lately: a claim's status may not have been written yet.
  struct Made {
    CceNode node;
    base::TimePoint when;
  };
  std::map<std::string, Made, std::less<>> made_;
};

}  // namespace millwright::cloud::huawei

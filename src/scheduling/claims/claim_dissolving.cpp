#include "scheduling/claims/claim_dissolving.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

// Bounds on the work, which is at worst the pods of every small claim times all claims.
constexpr std::size_t kMaxDissolvedPods = 64;
constexpr std::size_t kMaxTries = 20'000;

class Dissolving {
 public:
  explicit Dissolving(ClaimDrafts& drafts) : drafts_(drafts), builder_(drafts.builder()) {
    for (const ClaimDraft& claim : drafts.claims()) {
      cheapest_.push_back(
          cheapest_row(builder_.pools()[claim.pool], builder_.shapes()[claim.shape], claim));
    }
  }

  void run() {
    for (const ClaimId claim : small_claims()) {
      if (tries_ >= kMaxTries) {
        break;
      }
      dissolve(claim);
    }
    drafts_.remove_empty();
  }

 private:
  // Those with the fewest pods first.
  std::vector<ClaimId> small_claims() const {
    const auto& claims = drafts_.claims();
    std::vector<ClaimId> result;
    for (ClaimId id; id < claims.end_id(); ++id) {
      const ClaimDraft& claim = claims[id];
      if (claim.pods.size() <= kMaxDissolvedPods && !claim.reserved && !claim.keeps_together) {
        result.push_back(id);
      }
    }
    std::stable_sort(result.begin(), result.end(), [&](ClaimId a, ClaimId b) {
      return claims[a].pods.size() < claims[b].pods.size();
    });
    return result;
  }

  struct Mover {
    ClaimId claim;  // that it leaves
    PodId pod;
    Applicant applicant;
  };

  // All of its pods, or none.
  void dissolve(ClaimId index) {
    const ClaimDraft& leaving = drafts_.claims()[index];
    std::map<ClaimId, ClaimDraft> hosts;
    for (std::size_t i = 0; i < leaving.pods.size(); ++i) {
      if (!move({index, leaving.pods[i], member_of(leaving, i, builder_.pods())}, hosts)) {
        return;
      }
    }
    drafts_.dissolve(index, std::move(hosts));
  }

  // To the first claim that takes it. `hosts`: claims that have taken others, as they are by now.
  bool move(const Mover& mover, std::map<ClaimId, ClaimDraft>& hosts) {
    const auto& claims = drafts_.claims();
    for (ClaimId other; other < claims.end_id(); ++other) {
      if (other == mover.claim || claims[other].pods.empty() || claims[other].full ||
          !cheapest_[other] || ++tries_ >= kMaxTries) {
        continue;
      }
      const auto known = hosts.find(other);
      if (auto host = joined(known != hosts.end() ? known->second : claims[other],
                             *cheapest_[other], mover)) {
        hosts.insert_or_assign(other, *std::move(host));
        return true;
      }
    }
    return false;
  }

  // The host after the pod has joined. It must stay what it is bought as, so nothing costs more.
  std::optional<ClaimDraft> joined(const ClaimDraft& now, const CheapestRow& bought,
                                   const Mover& mover) {
    const PoolTemplate& pool = builder_.pools()[now.pool];
    requests_ = now.requests;
    add_requests(requests_, now, mover.applicant);
    if (!fits(requests_, pool.room.room(bought.row)) ||
        (mover.applicant.constraint.has_topology() &&
         !drafts_.domains().may_move(drafts_.claims()[mover.claim], now,
                                     mover.applicant.constraint))) {
      return std::nullopt;
    }
    ClaimDraft host = now;
    if (!builder_.join(host, mover.applicant, mover.pod) || !host.rows.contains(bought.row) ||
        row_price(pool, builder_.shapes()[host.shape], host, bought.row) > bought.price) {
      return std::nullopt;
    }
    return host;
  }

  ClaimDrafts& drafts_;
  ClaimBuilder& builder_;
  ById<ClaimId, std::optional<CheapestRow>> cheapest_;  // by claim, as they are bought
  std::size_t tries_ = 0;
  Amounts requests_;
};

}  // namespace

void dissolve_small_claims(ClaimDrafts& drafts) {
  Dissolving(drafts).run();
}

}  // namespace millwright::scheduling

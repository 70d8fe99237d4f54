#include "scheduling/claims/claim_draft.hpp"

#include <algorithm>

namespace millwright::scheduling {

void add_requests(Amounts& total, const ClaimDraft& claim, const Applicant& applicant) {
  add_to(total, applicant.pod_class.requests);
  for (const SharedVolume& volume : applicant.constraint.shared) {
    if (!std::binary_search(claim.shared.begin(), claim.shared.end(), volume.id)) {
      total[volume.column] += kOneVolume;
    }
  }
}

Applicant member_of(const ClaimDraft& claim, std::size_t i, const PodClasses& pods) {
  const PodClass& pod_class = pods.class_of(claim.pods[i]);
  const Constraint& constraint = pods.constraints[pod_class.constraint];
  return {pod_class, constraint, constraint.ladder[claim.rungs[i]],
          claim.narrowings.empty() ? Narrowed{} : claim.narrowings[i]};
}

void add_to_tally(ClaimDraft& claim, const Applicant& applicant,
                  const ById<TopologyGroupId, TopologyGroup>& groups) {
  for (const TopologyGroupId id : applicant.constraint.counted) {
    if (groups[id].by_host) {
      claim.tally.add_selected(id);
    }
  }
  for (const TopologyGroupId id : applicant.constraint.carried) {
    if (groups[id].by_host) {
      claim.tally.add_owner(id);
    }
  }
  for (const TopologyGroupId id : applicant.rung.on_host) {
    claim.keeps_together = claim.keeps_together || groups[id].kind == TopologyKind::Affinity;
  }
}

double row_price(const PoolTemplate& pool, const ClaimShape& shape, const ClaimDraft& claim,
                 std::size_t row) {
  return claim.reserved ? pool.table->kinds()[*claim.reserved].price[row] : shape.price[row];
}

std::optional<CheapestRow> cheapest_row(const PoolTemplate& pool, const ClaimShape& shape,
                                        const ClaimDraft& claim) {
  if (!claim.reserved) {
    const auto found = std::find_if(shape.by_price.begin(), shape.by_price.end(),
                                    [&](std::uint32_t row) { return claim.rows.contains(row); });
    return found == shape.by_price.end() ? std::nullopt
                                         : std::optional(CheapestRow{*found, shape.price[*found]});
  }
  std::optional<CheapestRow> best;
  const auto& prices = pool.table->kinds()[*claim.reserved].price;
  claim.rows.for_each([&](std::size_t row) {
    if (!best || prices[row] < best->price ||
        (prices[row] == best->price &&
         pool.table->row(row).type->name < pool.table->row(best->row).type->name)) {
      best = CheapestRow{row, prices[row]};
    }
  });
  return best;
}

}  // namespace millwright::scheduling

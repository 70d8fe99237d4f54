#include "scheduling/packing/packing.hpp"

#include <algorithm>
#include <functional>

namespace millwright::scheduling {

Packing::Packing(const CompiledProblem& compiled, Strategy strategy, Allowance& allowance)
    : pods_(compiled.pods),
      pools_(compiled.pools),
      promises_(compiled.nodes.promises()),
      strategy_(strategy),
      allowance_(allowance),
      counts_(compiled.topology),
      narrowings_(compiled.topology, compiled.pods.rung_count),
      choices_(compiled.topology, counts_, narrowings_),
      drafts_(compiled, counts_, narrowings_, strategy.keep_price_levels),
      nodes_(compiled, counts_),
      placements_(compiled, nodes_, drafts_, allowance, strategy.fewest_pods_first),
      topology_placer_(compiled, placements_, counts_, choices_),
      gave_up_(compiled.pods.classes.size(), 0) {
  for (const PodClass& pod_class : pods_.classes) {
    seekers_.emplace_back(pods_.constraints[pod_class.constraint].ladder.size());
  }
  topology_placer_.keep_whole(strategy.companies);
  choices_.leave_open(strategy.leave_open);
}

void Packing::run() {
  keep_promises();
  place_as_told();
  for (const PodId pod : strategy_.order) {
    if (!placements_.has_place(pod)) {
      waiting_.push_back(pod);
    }
  }
  place_each_waiting(true);
  place_waiting();
}

void Packing::claims_changed() {
  placements_.note_claims();
  if (!waiting_.empty()) {
    look_again();  // less is charged to limits now
    recount();
    place_waiting();
  }
}

void Packing::place_waiting() {
  // A pod that fits nowhere may fit a claim that is opened for a later one.
  while (!waiting_.empty() && !allowance_.is_spent()) {
    const std::size_t before = waiting_.size();
    place_each_waiting(false);
    if (waiting_.size() == before && !relieve_limits() && !forget_price_levels()) {
      return;
    }
  }
}

void Packing::place_each_waiting(bool for_the_first_time) {
  std::erase_if(waiting_, [&](PodId pod) {
    if (allowance_.is_spent() && any_placed_) {
      if (for_the_first_time) {
        postpone(pod);
      }
      return false;
    }
    const bool placed = place(pod);
    any_placed_ = any_placed_ || placed;
    return placed;
  });
}

void Packing::postpone(PodId pod) {
  if (any_placed_) {
    postponed_.resize(pods_.pods.size(), false);
    postponed_[pod] = true;
  }
}

bool Packing::could_be_bought(const Applicant& applicant) {
  ClaimBuilder& builder = drafts_.builder();
  bool any = false;
  for (PoolId pool; pool < pools_.end_id() && !any; ++pool) {
    allowance_.ask_pool();
    any = builder.could_hold(pool, applicant);
  }
  return any;
}

bool Packing::place_on(PodId pod, std::span<const Rung> rungs) {
  const bool placed = !allowance_.is_spent() &&
                      topology_placer_.place(pod, rungs, seekers_[pods_.pods[pod].pod_class]);
  any_placed_ = any_placed_ || placed;
  return placed;
}

void Packing::look_again() {
  std::fill(gave_up_.begin(), gave_up_.end(), 0);
  for (auto& seekers : seekers_) {
    for (Seeker& seeker : seekers) {
      seeker.forget_claims();
    }
  }
  topology_placer_.forget_claims();
  placements_.open_claims().clear();
}

bool Packing::forget_price_levels() {
  if (!drafts_.builder().keeps_price_levels()) {
    return false;
  }
  drafts_.builder().forget_price_levels();
  look_again();
  return true;
}

void Packing::keep_promises() {
  // One promise may lean on another: a pod beside its neighbour, a pod per zone.
  auto open = promises_;
  for (std::size_t before = 0; before != open.size();) {
    before = open.size();
    std::erase_if(open, [&](const auto& promise) {
      const auto [pod, node] = promise;
      const Constraint& constraint = pods_.constraint_of(pod);
      // Only a pod that is held to others may find its place later.
      return placements_.has_place(pod) || !fits(pods_.class_of(pod).requests, nodes_[node].room) ||
             keep_promise(pod, node) || !constraint.held;
    });
  }
}

bool Packing::keep_promise(PodId pod, NodeId node) {
  const PodClass& pod_class = pods_.class_of(pod);
  const Constraint& constraint = pods_.constraints[pod_class.constraint];
  return std::any_of(constraint.ladder.begin(), constraint.ladder.end(), [&](const Rung& rung) {
    const Applicant applicant{pod_class, constraint, rung};
    return constraint.has_topology() ? topology_placer_.keep_promise(pod, applicant, node)
                                     : placements_.place_on_node(pod, applicant, node);
  });
}

void Packing::place_as_told() {
  for (const auto& [pod, node] : strategy_.placed) {
    const PodClass& pod_class = pods_.class_of(pod);
    const Constraint& constraint = pods_.constraints[pod_class.constraint];
    if (!placements_.has_place(pod)) {
      placements_.place_on_node(pod, {pod_class, constraint, constraint.ladder.front()}, node);
    }
  }
}

bool Packing::place(PodId pod) {
  const std::uint32_t class_index = pods_.pods[pod].pod_class;
  const PodClass& pod_class = pods_.classes[class_index];
  const Constraint& constraint = pods_.constraints[pod_class.constraint];
  // Counts may have changed in the pod's favour even where no claim is new.
  const std::uint64_t now =
      1 + (constraint.has_topology() ? counts_.version() : 0) + drafts_.claims().size();
  if (gave_up_[class_index] == now) {
    return false;
  }
  auto& seekers = seekers_[class_index];
  const std::span<const Rung> ladder = constraint.ladder;
  for (std::size_t i = 0, next = 0; i < ladder.size(); i = next) {
    next = i + 1;
    while (next < ladder.size() && ladder[next].step == ladder[i].step) {
      ++next;
    }
    if (constraint.has_topology() || next - i > 1) {
      if (topology_placer_.place(pod, ladder.subspan(i, next - i), seekers)) {
        return true;
      }
      continue;
    }
    const Applicant applicant{pod_class, constraint, ladder[i]};
    if (placements_.seek_node(pod, applicant, seekers[i]) ||
        seek_claim(pod, applicant, seekers[i]) ||
        placements_.open_claim(pod, applicant, seekers[i])) {
      return true;
    }
  }
  gave_up_[class_index] = now;
  return false;
}

namespace {

// Where claims have little room left, they turn most classes away: a heap that has lost nearly all
// of its entries gives their memory back.
void give_back(std::vector<std::pair<std::uint32_t, ClaimId>>& heap) {
  constexpr std::size_t kSmall = 16;
  if (heap.capacity() > kSmall && heap.size() < heap.capacity() / 4) {
    heap.shrink_to_fit();
  }
}

}  // namespace

bool Packing::seek_claim(PodId pod, const Applicant& applicant, Seeker& seeker) {
  auto& heap = seeker.open_claims;
  const auto push = [&](ClaimId claim) {
    if (!drafts_.claims()[claim].full) {
      heap.emplace_back(rank(claim), claim);
      std::push_heap(heap.begin(), heap.end(), std::greater<>{});
    }
  };
  placements_.open_claims().meeting(applicant.rung).for_each_from(seeker.next_claim, push);
  seeker.next_claim = drafts_.claims().end_id();
  while (!heap.empty()) {
    const auto [ranked, claim] = heap.front();
    std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
    heap.pop_back();
    // Claims gain pods while they wait here; an entry that is out of date goes back further down.
    if (rank(claim) != ranked) {
      push(claim);
      continue;
    }
    if (placements_.join(pod, applicant, claim)) {
      push(claim);
      give_back(heap);
      return true;
    }
  }
  give_back(heap);
  return false;
}

std::uint32_t Packing::rank(ClaimId claim) const {
  return strategy_.fewest_pods_first
             ? static_cast<std::uint32_t>(drafts_.claims()[claim].pods.size())
             : claim.index();
}

bool Packing::relieve_limits() {
  std::vector<bool> looked_at(pods_.classes.size(), false);
  ById<PoolId, bool> wanted(pools_.size(), false);
  for (const PodId pod : waiting_) {
    const std::uint32_t class_index = pods_.pods[pod].pod_class;
    if (looked_at[class_index]) {
      continue;
    }
    looked_at[class_index] = true;
    allowance_.open_claim(pools_.size());
    const PodClass& pod_class = pods_.classes[class_index];
    const Constraint& constraint = pods_.constraints[pod_class.constraint];
    for (PoolId pool; pool < pools_.end_id(); ++pool) {
      for (const Rung& rung : constraint.ladder) {
        if (!wanted[pool] && drafts_.builder().limits(pool).limited() &&
            drafts_.builder().draft(pool, {pod_class, constraint, rung}, LimitUse::Ignored)) {
          wanted[pool] = true;
        }
      }
    }
  }
  bool freed = false;
  for (PoolId pool; pool < pools_.end_id(); ++pool) {
    freed = (wanted[pool] && drafts_.tighten(pool)) || freed;
  }
  if (freed) {
    look_again();
  }
  return freed;
}

void Packing::recount() {
  if (counts_.topology().empty()) {
    return;
  }
  counts_.reset();
  nodes_.reset_counts();
  for (PodId pod; pod < places().end_id(); ++pod) {
    if (places()[pod].kind == PodPlace::Kind::Node) {
      nodes_.count(places()[pod].node(), pods_.constraint_of(pod));
    }
  }
  drafts_.recount();
}

}  // namespace millwright::scheduling

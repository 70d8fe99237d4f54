#include "scheduling/packing.hpp"

#include "scheduling/repacking.hpp"

#include <algorithm>
#include <functional>

namespace millwright::scheduling {

Packing::Packing(const Problem& problem, const PodClasses& pods,
                 std::span<const PoolTemplate> pools, const ExistingNodes& nodes,
                 const Topology& topology, Strategy strategy)
    : pods_(pods),
      pools_(pools),
      nodes_(nodes),
      topology_(topology),
      strategy_(strategy),
      economise_(problem.options.economise),
      counts_(topology),
      narrowings_(topology, pods.rung_count),
      choices_(topology, counts_, narrowings_),
      drafts_(problem, pods, pools, counts_, narrowings_, strategy.keep_price_levels),
      hosts_(topology.hosts()) {
  outcomes_.resize(pods.pods.size());
  steps_.resize(pods.pods.size(), 0);
  for (const ExistingNode& node : nodes.nodes()) {
    room_.push_back(node.room);
    ports_.push_back(node.ports);
    volumes_.push_back(node.volumes);
  }
  gave_up_.assign(pods.classes.size(), 0);
  for (const PodClass& pod_class : pods.classes) {
    seekers_.emplace_back(pods.constraints[pod_class.constraint].ladder.size());
  }
  for (const Constraint& constraint : pods.constraints) {
    verdicts_.emplace_back(constraint.ladder.size());
  }
}

void Packing::run() {
  keep_promises();
  place_as_told();
  for (const std::uint32_t pod : strategy_.order) {
    if (outcomes_[pod].kind == Outcome::Kind::Refused) {
      waiting_.push_back(pod);
    }
  }
  place_all(waiting_);
  if (economise_) {
    drafts_.forget_price_levels();
    if (strategy_.repack) {
      find_cheaper_claims();
    }
    economise();
    place_late();
  }
}

void Packing::repack() {
  find_cheaper_claims();
  economise();
  place_late();
}

void Packing::place_late() {
  if (!waiting_.empty()) {
    look_again();  // less is charged to limits now
    recount();
    place_all(waiting_);
  }
}

void Packing::place_all(std::vector<std::uint32_t>& waiting) {
  // A pod that fits nowhere may fit a claim that is opened for a later one.
  while (!waiting.empty()) {
    const std::size_t before = waiting.size();
    std::erase_if(waiting, [this](std::uint32_t pod) { return place(pod); });
    if (waiting.size() == before && !relieve_limits(waiting) && !forget_price_levels()) {
      return;
    }
  }
}

void Packing::look_again() {
  std::fill(gave_up_.begin(), gave_up_.end(), 0);
  // Nodes have only got fuller; those that turned a class away are not asked again.
  const auto forget = [](Seeker& seeker) { seeker = {.next_node = seeker.next_node}; };
  for (auto& seekers : seekers_) {
    std::for_each(seekers.begin(), seekers.end(), forget);
  }
  for (auto& [choice, seeker] : seekers_by_choice_) {
    forget(seeker);
  }
  listed_.clear();
}

bool Packing::forget_price_levels() {
  if (!drafts_.keeps_price_levels()) {
    return false;
  }
  drafts_.forget_price_levels();
  look_again();
  return true;
}

void Packing::economise() {
  drafts_.dissolve_small_claims();
  // New claims join the end of the list and are looked at too.
  for (std::uint32_t claim = 0; claim < drafts_.claims().size(); ++claim) {
    while (drafts_.split(claim)) {
    }
  }
  note_claims();
}

void Packing::find_cheaper_claims() {
  ProgramMemory of_this;
  Repacking repacking(pods_, pools_, topology_, drafts_,
                      strategy_.programs ? *strategy_.programs : of_this);
  for (std::uint32_t pool = 0; pool < pools_.size(); ++pool) {
    repacked_ = repacking.run(pool) || repacked_;
  }
}

void Packing::note_claims() {
  for (std::uint32_t claim = 0; claim < drafts_.claims().size(); ++claim) {
    for (const std::uint32_t pod : drafts_.claims()[claim].pods) {
      outcomes_[pod] = {Outcome::Kind::Claim, claim};
    }
  }
}

void Packing::keep_promises() {
  // One promise may lean on another: a pod beside its neighbour, a pod per zone.
  auto open = nodes_.promises();
  for (std::size_t before = 0; before != open.size();) {
    before = open.size();
    std::erase_if(open, [&](const auto& promise) {
      const auto [pod, node] = promise;
      if (outcomes_[pod].kind != Outcome::Kind::Refused) {
        return true;
      }
      const PodClass& pod_class = pods_.classes[pods_.pods[pod].pod_class];
      const Constraint& constraint = pods_.constraints[pod_class.constraint];
      if (!fits(pod_class.requests, room_[node])) {
        return true;
      }
      for (const Rung& rung : constraint.ladder) {
        Candidate candidate{pod_class, constraint, rung};
        if (constraint.has_topology()) {
          candidate.narrowed.closed = choices_.closed(constraint);
          if (!promise_holds(candidate, node)) {
            continue;
          }
        }
        if (place_on_node(pod, candidate, node)) {
          return true;
        }
      }
      return !constraint.held;
    });
  }
}

void Packing::place_as_told() {
  for (const auto& [pod, node] : strategy_.placed) {
    const PodClass& pod_class = pods_.classes[pods_.pods[pod].pod_class];
    const Constraint& constraint = pods_.constraints[pod_class.constraint];
    if (outcomes_[pod].kind == Outcome::Kind::Refused && fits(pod_class.requests, room_[node])) {
      place_on_node(pod, {pod_class, constraint, constraint.ladder.front()}, node);
    }
  }
}

void Packing::settle(std::uint32_t pod, Outcome outcome) {
  outcomes_[pod] = outcome;
  steps_[pod] = ++next_step_;
  if (outcome.kind == Outcome::Kind::Claim && !listed_.empty()) {
    const std::uint32_t now = strategy_.fewest_pods_first ? rank(outcome.index) : 0;
    const std::uint32_t before = strategy_.fewest_pods_first ? now - 1 : 0;
    for (auto& [chosen, claims] : listed_) {
      claims.move(outcome.index, before, now, !drafts_.claims()[outcome.index].full);
    }
  }
}

bool Packing::place(std::uint32_t pod) {
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
      if (place_in_stages(pod, ladder.subspan(i, next - i), seekers)) {
        return true;
      }
      continue;
    }
    const Candidate candidate{pod_class, constraint, ladder[i]};
    if (seek_node(pod, candidate, seekers[i]) || seek_claim(pod, candidate, seekers[i]) ||
        open_claim(pod, candidate, seekers[i])) {
      return true;
    }
  }
  gave_up_[class_index] = now;
  return false;
}

bool Packing::place_on_node(std::uint32_t pod, const Candidate& candidate, std::uint32_t node) {
  const auto& volumes = pods_.volumes[pods_.pods[pod].volumes];
  if ((candidate.constraint.has_topology() && !node_is_open(node, candidate)) ||
      !node_admits(node, candidate) ||
      ports_[node].conflict(candidate.constraint.ports) != nullptr ||
      !volumes_[node].fit(volumes)) {
    return false;
  }
  volumes_[node].add(volumes);
  subtract_from(room_[node], candidate.pod_class.requests);
  ports_[node].add(candidate.constraint.ports);
  settle(pod, {Outcome::Kind::Node, node});
  if (candidate.constraint.has_topology()) {
    count_on_node(node, candidate.constraint);
  }
  return true;
}

bool Packing::seek_node(std::uint32_t pod, const Candidate& candidate, Seeker& seeker) {
  const auto count = static_cast<std::uint32_t>(room_.size());
  for (; seeker.next_node < count; ++seeker.next_node) {
    if (fits(candidate.pod_class.requests, room_[seeker.next_node]) &&
        place_on_node(pod, candidate, seeker.next_node)) {
      return true;
    }
  }
  return false;
}

std::uint32_t Packing::rank(std::uint32_t claim) const {
  return strategy_.fewest_pods_first
             ? static_cast<std::uint32_t>(drafts_.claims()[claim].pods.size())
             : claim;
}

bool Packing::seek_claim(std::uint32_t pod, const Candidate& candidate, Seeker& seeker) {
  auto& heap = seeker.open_claims;
  const auto push = [&](std::uint32_t claim) {
    if (!drafts_.claims()[claim].full) {
      heap.emplace_back(rank(claim), claim);
      std::push_heap(heap.begin(), heap.end(), std::greater<>{});
    }
  };
  while (seeker.claims_seen < drafts_.claims().size()) {
    push(seeker.claims_seen++);
  }
  while (!heap.empty()) {
    const auto [ranked, claim] = heap.front();
    std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
    heap.pop_back();
    // Claims gain pods while they wait here; an entry that is out of date goes back further down.
    if (rank(claim) != ranked) {
      push(claim);
      continue;
    }
    if (drafts_.join(claim, candidate, pod)) {
      settle(pod, {Outcome::Kind::Claim, claim});
      push(claim);
      return true;
    }
  }
  return false;
}

bool Packing::open_claim(std::uint32_t pod, const Candidate& candidate, Seeker& seeker) {
  if (seeker.cannot_open) {
    return false;
  }
  const auto claim = drafts_.open(candidate, pod);
  if (!claim) {
    seeker.cannot_open = true;
    return false;
  }
  settle(pod, {Outcome::Kind::Claim, *claim});
  return true;
}

bool Packing::relieve_limits(const std::vector<std::uint32_t>& waiting) {
  std::vector<bool> looked_at(pods_.classes.size(), false);
  std::vector<bool> wanted(pools_.size(), false);
  for (const std::uint32_t pod : waiting) {
    const std::uint32_t class_index = pods_.pods[pod].pod_class;
    if (looked_at[class_index]) {
      continue;
    }
    looked_at[class_index] = true;
    const PodClass& pod_class = pods_.classes[class_index];
    const Constraint& constraint = pods_.constraints[pod_class.constraint];
    for (std::uint32_t pool = 0; pool < pools_.size(); ++pool) {
      for (const Rung& rung : constraint.ladder) {
        if (!wanted[pool] && drafts_.limits(pool).limited() &&
            drafts_.would_open_without_limits(pool, {pod_class, constraint, rung})) {
          wanted[pool] = true;
        }
      }
    }
  }
  bool freed = false;
  for (std::uint32_t pool = 0; pool < pools_.size(); ++pool) {
    freed = (wanted[pool] && drafts_.tighten(pool)) || freed;
  }
  if (freed) {
    look_again();
  }
  return freed;
}

bool Packing::node_admits(std::uint32_t node, const Candidate& candidate) {
  auto& by_rung = verdicts_[candidate.pod_class.constraint];
  auto& by_node =
      by_rung[static_cast<std::size_t>(&candidate.rung - candidate.constraint.ladder.data())];
  if (by_node.empty()) {
    by_node.assign(room_.size(), -1);
  }
  if (by_node[node] < 0) {
    const auto& existing = nodes_.nodes()[node];
    by_node[node] = existing.admits(candidate.constraint, candidate.rung) ? 1 : 0;
  }
  return by_node[node] == 1;
}

}  // namespace millwright::scheduling

#include "scheduling/packing/topology_placer.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace millwright::scheduling {

void TopologyPlacer::forget_claims() {
  for (auto& [choice, seeker] : seekers_) {
    seeker.forget_claims();
  }
}

TopologyPlacer::Attempt TopologyPlacer::attempt_on(const Candidate& candidate, Seeker& plain) {
  Attempt attempt{.candidate = candidate, .plain = &plain};
  if (!candidate.constraint.has_topology()) {
    attempt.choices.emplace_back();
    return attempt;
  }
  const Rung& rung = candidate.rung;
  for (const auto& keyed : rung.keyed) {
    for (const TopologyGroupId group : keyed.groups) {
      drafts_.choose_domains(group, rung.requirements);
    }
  }
  attempt.candidate.narrowed.closed = choices_.closed(candidate.constraint);
  attempt.choices = choices_.find(attempt.candidate);
  const auto company = std::find_if(rung.on_host.begin(), rung.on_host.end(), [&](auto group) {
    return topology_.groups()[group].kind == TopologyKind::Affinity &&
           !choices_.is_first(candidate, group);
  });
  if (company != rung.on_host.end()) {
    attempt.company = *company;
  }
  return attempt;
}

bool TopologyPlacer::place(PodId pod, std::span<const Rung> rungs, std::vector<Seeker>& seekers) {
  const PodClass& pod_class = pods_.class_of(pod);
  const Constraint& constraint = pods_.constraints[pod_class.constraint];
  std::vector<Attempt> attempts;
  attempts.reserve(rungs.size());
  for (const Rung& rung : rungs) {
    const Candidate candidate{pod_class, constraint, rung};
    Attempt attempt = attempt_on(candidate, seekers[candidate.rung_index()]);
    if (!attempt.company) {
      attempts.push_back(std::move(attempt));
    } else if (join_company(pod, attempt)) {
      return true;
    }
  }
  const auto try_all = [&](auto seek) {
    for (Attempt& attempt : attempts) {
      for (const TopologyChoice& choice : attempt.choices) {
        attempt.candidate.narrowed.chosen = choice.chosen;
        if (seek(attempt.candidate, seeker_of(attempt))) {
          return true;
        }
      }
    }
    return false;
  };
  return try_all([&](const Candidate& candidate, Seeker& seeker) {
           return placements_.seek_node(pod, candidate, seeker);
         }) ||
         try_all([&](const Candidate& candidate, Seeker& seeker) {
           return seek_claim(pod, candidate, seeker);
         }) ||
         open_cheapest(pod, attempts);
}

bool TopologyPlacer::seek_claim(PodId pod, const Candidate& candidate, Seeker& seeker) {
  using Verdict = OpenClaims::Verdict;
  const Narrowing* chosen = candidate.narrowed.chosen;
  ClaimLists& lists = placements_.open_claims();
  const auto found = lists.in(chosen).first(seeker.turned_away, [&](ClaimId claim) {
    if (drafts_.join(claim, candidate, pod)) {
      return Verdict::Take;
    }
    seeker.turned_away.insert(claim);
    // Its domain was open when it was listed, perhaps, and is another one now.
    return lists.may_suit(claim, chosen) ? Verdict::PassOver : Verdict::Drop;
  });
  if (found) {
    placements_.joined(pod, *found);
  }
  return found.has_value();
}

// The emptiest domains first, and the cheapest of those that are equally empty.
bool TopologyPlacer::open_cheapest(PodId pod, std::vector<Attempt>& attempts) {
  struct Way {
    std::int64_t rank;
    double price;
    Attempt* attempt;
    const Narrowing* chosen;
  };
  std::vector<Way> ways;
  for (Attempt& attempt : attempts) {
    for (const TopologyChoice& choice : attempt.choices) {
      ways.push_back({choice.rank, 0, &attempt, choice.chosen});
    }
  }
  std::stable_sort(ways.begin(), ways.end(),
                   [](const Way& a, const Way& b) { return a.rank < b.rank; });
  for (auto first = ways.begin(); first != ways.end();) {
    const auto last = std::find_if(first, ways.end(),
                                   [&](const Way& other) { return other.rank != first->rank; });
    if (last - first > 1) {
      for (auto way = first; way != last; ++way) {
        way->attempt->candidate.narrowed.chosen = way->chosen;
        Seeker& seeker = seeker_of(*way->attempt);
        if (seeker.price < 0) {
          seeker.price = drafts_.builder().price_of_new(way->attempt->candidate);
        }
        way->price = seeker.price;
      }
      std::stable_sort(first, last, [](const Way& a, const Way& b) { return a.price < b.price; });
    }
    for (; first != last; ++first) {
      first->attempt->candidate.narrowed.chosen = first->chosen;
      if (placements_.open_claim(pod, first->attempt->candidate, seeker_of(*first->attempt))) {
        return true;
      }
    }
  }
  return false;
}

// The pod must share a node with pods of the group: only nodes and claims that have some count.
bool TopologyPlacer::join_company(PodId pod, Attempt& attempt) {
  Candidate& candidate = attempt.candidate;
  const std::vector<HostRef> hosts = counts_.hosts(*attempt.company);
  const auto has_all_company = [&](const HostTally& tally) {
    return std::all_of(
        candidate.rung.on_host.begin(), candidate.rung.on_host.end(), [&](TopologyGroupId id) {
          return topology_.groups()[id].kind != TopologyKind::Affinity || tally.selected(id) > 0;
        });
  };
  for (const HostRef host : hosts) {
    const auto* claim = std::get_if<ClaimId>(&host);
    const auto* node = std::get_if<NodeId>(&host);
    if (!has_all_company(claim ? drafts_.claims()[*claim].tally
                               : placements_.nodes()[*node].hosts)) {
      continue;
    }
    for (const TopologyChoice& choice : attempt.choices) {
      candidate.narrowed.chosen = choice.chosen;
      if (claim ? !drafts_.claims()[*claim].full && placements_.join(pod, candidate, *claim)
                : placements_.place_on_node(pod, candidate, *node)) {
        return true;
      }
    }
  }
  return false;
}

bool TopologyPlacer::keep_promise(PodId pod, Candidate candidate, NodeId node) {
  const Rung& rung = candidate.rung;
  candidate.narrowed.closed = choices_.closed(candidate.constraint);
  return std::all_of(rung.keyed.begin(), rung.keyed.end(),
                     [&](const Rung::Keyed& keyed) {
                       return topology_.whatever_domain(keyed.key, node, [&](std::int32_t domain) {
                         return domain >= 0 ? choices_.allows(candidate, keyed, domain)
                                            : choices_.only_distance(keyed);
                       });
                     }) &&
         std::all_of(rung.on_host.begin(), rung.on_host.end(),
                     [&](TopologyGroupId group) {
                       return topology_.groups()[group].kind != TopologyKind::Affinity ||
                              placements_.nodes()[node].hosts.selected(group) > 0 ||
                              choices_.is_first(candidate, group);
                     }) &&
         placements_.place_on_node(pod, candidate, node);
}

Seeker& TopologyPlacer::seeker_of(const Attempt& attempt) {
  const Candidate& candidate = attempt.candidate;
  if (candidate.narrowed.chosen == nullptr) {
    return *attempt.plain;
  }
  const auto pod_class = static_cast<std::uint64_t>(&candidate.pod_class - pods_.classes.data());
  const auto rung = static_cast<std::uint64_t>(candidate.rung_index());
  // 24 bits of class, 12 of rung, 28 of domains: more than any problem has.
  return seekers_[pod_class << 40 | rung << 28 | candidate.narrowed.chosen->id];
}

}  // namespace millwright::scheduling

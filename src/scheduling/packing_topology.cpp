// The part of Packing for pods that other pods matter to (spread, pod affinity and anti-affinity)
// or whose volumes leave them several ways.
//
// A pod is placed in one choice of domains at a time. Within a choice everything it was turned away
// by stays closed to it, as for any other pod: nodes get fuller, hosts get more pods, and what
// anti-affinity has closed it does not open again. That a domain is too full for a spread
// constraint or has no company yet may change, so choices are found anew for each pod.
#include "scheduling/packing.hpp"

#include <algorithm>
#include <limits>

namespace millwright::scheduling {

bool Packing::may_suit(std::uint32_t claim, const Narrowing* chosen) {
  return chosen == nullptr ||
         std::all_of(chosen->parts.begin(), chosen->parts.end(), [&](const Narrowing::Part& part) {
           const auto domain = drafts_.domain_of(drafts_.claims()[claim].shape, part.key);
           return domain < 0 || chosen->admits(part.key, domain);
         });
}

OpenClaims& Packing::listed(const Narrowing* chosen) {
  // Ids of narrowings start after those of rungs, of which there is at least one.
  OpenClaims& result = listed_[chosen == nullptr ? 0 : chosen->id];
  for (std::uint32_t claim = result.seen(); claim < drafts_.claims().size(); ++claim) {
    result.see(claim, !drafts_.claims()[claim].full && may_suit(claim, chosen),
               strategy_.fewest_pods_first ? rank(claim) : 0);
  }
  return result;
}

bool Packing::seek_listed_claim(std::uint32_t pod, const Candidate& candidate, Seeker& seeker) {
  using Verdict = OpenClaims::Verdict;
  const Narrowing* chosen = candidate.narrowed.chosen;
  const auto found = listed(chosen).first(seeker.turned_away, [&](std::uint32_t claim) {
    if (drafts_.join(claim, candidate, pod)) {
      return Verdict::Take;
    }
    seeker.turned_away.insert(claim);
    // Its domain was open when it was listed, perhaps, and is another one now.
    return may_suit(claim, chosen) ? Verdict::PassOver : Verdict::Drop;
  });
  if (found) {
    settle(pod, {Outcome::Kind::Claim, *found});
  }
  return found.has_value();
}

Packing::Attempt Packing::attempt_on(const Candidate& candidate, Seeker& plain) {
  Attempt attempt{.candidate = candidate, .plain = &plain};
  if (!candidate.constraint.has_topology()) {
    attempt.choices.emplace_back();
    return attempt;
  }
  const Rung& rung = candidate.rung;
  for (const auto& keyed : rung.keyed) {
    for (const std::uint32_t group : keyed.groups) {
      drafts_.settle_floating(group, rung.requirements);
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

bool Packing::place_in_stages(std::uint32_t pod, std::span<const Rung> rungs,
                              std::vector<Seeker>& seekers) {
  const PodClass& pod_class = pods_.classes[pods_.pods[pod].pod_class];
  const Constraint& constraint = pods_.constraints[pod_class.constraint];
  std::vector<Attempt> attempts;
  attempts.reserve(rungs.size());
  for (const Rung& rung : rungs) {
    const auto index = static_cast<std::size_t>(&rung - constraint.ladder.data());
    Attempt attempt = attempt_on({pod_class, constraint, rung}, seekers[index]);
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
        if (seek(attempt.candidate, seeker_for(attempt.candidate, *attempt.plain))) {
          return true;
        }
      }
    }
    return false;
  };
  return try_all([&](const Candidate& candidate, Seeker& seeker) {
           return seek_node(pod, candidate, seeker);
         }) ||
         try_all([&](const Candidate& candidate, Seeker& seeker) {
           return seek_listed_claim(pod, candidate, seeker);
         }) ||
         open_cheapest(pod, attempts);
}

// The emptiest domains first, and the cheapest of those that are equally empty.
bool Packing::open_cheapest(std::uint32_t pod, std::vector<Attempt>& attempts) {
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
        Candidate& candidate = way->attempt->candidate;
        candidate.narrowed.chosen = way->chosen;
        Seeker& seeker = seeker_for(candidate, *way->attempt->plain);
        if (seeker.price < 0) {
          seeker.price = drafts_.price_of_new(candidate);
        }
        way->price = seeker.price;
      }
      std::stable_sort(first, last, [](const Way& a, const Way& b) { return a.price < b.price; });
    }
    for (; first != last; ++first) {
      Candidate& candidate = first->attempt->candidate;
      candidate.narrowed.chosen = first->chosen;
      if (open_claim(pod, candidate, seeker_for(candidate, *first->attempt->plain))) {
        return true;
      }
    }
  }
  return false;
}

// The pod must share a node with pods of the group: only nodes and claims that have some count.
bool Packing::join_company(std::uint32_t pod, Attempt& attempt) {
  Candidate& candidate = attempt.candidate;
  const std::vector<HostRef> hosts = counts_.hosts(*attempt.company);
  const auto has_all_company = [&](const HostTally& tally) {
    return std::all_of(
        candidate.rung.on_host.begin(), candidate.rung.on_host.end(), [&](std::uint32_t id) {
          return topology_.groups()[id].kind != TopologyKind::Affinity || tally.selected(id) > 0;
        });
  };
  for (const HostRef host : hosts) {
    if (!has_all_company(host.claim ? drafts_.claims()[host.index].tally : hosts_[host.index])) {
      continue;
    }
    for (const TopologyChoice& choice : attempt.choices) {
      candidate.narrowed.chosen = choice.chosen;
      if (!host.claim) {
        if (fits(candidate.pod_class.requests, room_[host.index]) &&
            place_on_node(pod, candidate, host.index)) {
          return true;
        }
      } else if (!drafts_.claims()[host.index].full && drafts_.join(host.index, candidate, pod)) {
        settle(pod, {Outcome::Kind::Claim, host.index});
        return true;
      }
    }
  }
  return false;
}

bool Packing::promise_holds(const Candidate& candidate, std::uint32_t node) const {
  const Rung& rung = candidate.rung;
  return std::all_of(rung.keyed.begin(), rung.keyed.end(),
                     [&](const Rung::Keyed& keyed) {
                       return whatever_domain(keyed.key, node, [&](std::int32_t domain) {
                         return domain >= 0 ? choices_.allows(candidate, keyed, domain)
                                            : choices_.only_distance(keyed);
                       });
                     }) &&
         std::all_of(rung.on_host.begin(), rung.on_host.end(), [&](std::uint32_t group) {
           return topology_.groups()[group].kind != TopologyKind::Affinity ||
                  hosts_[node].selected(group) > 0 || choices_.is_first(candidate, group);
         });
}

Packing::Seeker& Packing::seeker_for(const Candidate& candidate, Seeker& plain) {
  if (candidate.narrowed.chosen == nullptr) {
    return plain;
  }
  const auto pod_class = static_cast<std::uint64_t>(&candidate.pod_class - pods_.classes.data());
  const auto rung =
      static_cast<std::uint64_t>(&candidate.rung - candidate.constraint.ladder.data());
  // 24 bits of class, 12 of rung, 28 of domains: more than any problem has.
  return seekers_by_choice_[pod_class << 40 | rung << 28 | candidate.narrowed.chosen->id];
}

bool Packing::node_is_open(std::uint32_t node, const Candidate& candidate) const {
  for (const Narrowing* narrowing : {candidate.narrowed.chosen, candidate.narrowed.closed}) {
    if (narrowing != nullptr &&
        !std::all_of(narrowing->parts.begin(), narrowing->parts.end(), [&](const auto& part) {
          return whatever_domain(part.key, node, [&](std::int32_t domain) {
            return narrowing->admits(part.key, domain);
          });
        })) {
      return false;
    }
  }
  return admits_host(hosts_[node], candidate.constraint, candidate.rung, counts_);
}

void Packing::count_on_node(std::uint32_t node, const Constraint& constraint) {
  const auto& groups = topology_.groups();
  const auto counts_here = [&](std::uint32_t id) {
    const NodeFilter& filter = groups[id].filter;
    if (filter.everything()) {
      return true;
    }
    const auto [known, added] =
        counts_on_node_.try_emplace((std::uint64_t{node} << 32) | id, false);
    if (added) {
      known->second = nodes_.nodes()[node].counts_for(filter);
    }
    return known->second;
  };
  for (const std::uint32_t id : constraint.counted) {
    if (groups[id].by_host) {
      hosts_[node].add_selected(id);
      counts_.add_on_host(id, {false, node}, hosts_[node].selected(id) == 1);
      continue;
    }
    const std::uint32_t key = groups[id].key_index;
    const std::int32_t domain = topology_.domain_of(key, node);
    if (domain >= 0 && counts_here(id)) {
      counts_.add_selected(id, domain, true);
    } else if (domain == kUnknownDomain && groups[id].kind == TopologyKind::AntiAffinity) {
      // It may turn out to be any of them.
      for (std::size_t i = 0; i < topology_.keys()[key].size(); ++i) {
        counts_.add_selected(id, static_cast<std::int32_t>(i), true);
      }
    }
  }
  for (const std::uint32_t id : constraint.carried) {
    if (groups[id].by_host) {
      hosts_[node].add_owner(id);
    } else if (const auto domain = topology_.domain_of(groups[id].key_index, node); domain >= 0) {
      counts_.add_owner(id, domain);
    }
  }
}

void Packing::recount() {
  if (topology_.empty()) {
    return;
  }
  counts_.reset();
  hosts_ = topology_.hosts();
  for (std::size_t pod = 0; pod < outcomes_.size(); ++pod) {
    if (outcomes_[pod].kind == Outcome::Kind::Node) {
      const PodClass& pod_class = pods_.classes[pods_.pods[pod].pod_class];
      count_on_node(outcomes_[pod].index, pods_.constraints[pod_class.constraint]);
    }
  }
  drafts_.recount();
}

}  // namespace millwright::scheduling

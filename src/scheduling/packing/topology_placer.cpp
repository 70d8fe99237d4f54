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

TopologyPlacer::Attempt TopologyPlacer::attempt_on(const Applicant& applicant, Seeker& plain) {
  Attempt attempt{.applicant = applicant, .plain = &plain};
  if (!applicant.constraint.has_topology()) {
    attempt.choices.emplace_back();
    return attempt;
  }
  const Rung& rung = applicant.rung;
  for (const auto& keyed : rung.keyed) {
    for (const TopologyGroupId group : keyed.groups) {
      drafts_.choose_domains(group, rung.requirements);
    }
  }
  attempt.applicant.narrowed.closed = choices_.closed(applicant.constraint);
  attempt.choices = choices_.find(attempt.applicant);
  placements_.allowance().look_at_choices(attempt.choices.size());
  const auto company = std::find_if(rung.on_host.begin(), rung.on_host.end(), [&](auto group) {
    return topology_.groups()[group].kind == TopologyKind::Affinity &&
           !choices_.is_first(applicant, group);
  });
  if (company != rung.on_host.end()) {
    attempt.company = *company;
  } else if (companies_ != nullptr) {
    for (const TopologyGroupId group : rung.on_host) {
      attempt.whole = attempt.whole == nullptr ? companies_->requests(group) : attempt.whole;
    }
  }
  return attempt;
}

bool TopologyPlacer::place(PodId pod, std::span<const Rung> rungs, std::vector<Seeker>& seekers) {
  const PodClass& pod_class = pods_.class_of(pod);
  const Constraint& constraint = pods_.constraints[pod_class.constraint];
  std::vector<Attempt> attempts;
  attempts.reserve(rungs.size());
  for (const Rung& rung : rungs) {
    const Applicant applicant{pod_class, constraint, rung};
    Attempt attempt = attempt_on(applicant, seekers[applicant.rung_index()]);
    if (const auto company = attempt.company; !company) {
      attempts.push_back(std::move(attempt));
    } else if (join_company(pod, attempt, *company)) {
      return true;
    }
  }
  return try_all(attempts, [&](const Attempt& attempt,
                               Seeker& seeker) { return seek_node(pod, attempt, seeker); }) ||
         try_all(attempts, [&](const Attempt& attempt,
                               Seeker& seeker) { return seek_claim(pod, attempt, seeker); }) ||
         open_cheapest(pod, attempts);
}

template <class Seek>
bool TopologyPlacer::try_all(std::vector<Attempt>& attempts, Seek seek) {
  for (Attempt& attempt : attempts) {
    for (const TopologyChoice& choice : attempt.choices) {
      attempt.applicant.narrowed.chosen = choice.chosen;
      if (seek(attempt, seeker_of(attempt))) {
        return true;
      }
    }
  }
  return false;
}

bool TopologyPlacer::seek_node(PodId pod, const Attempt& attempt, Seeker& seeker) {
  if (attempt.whole == nullptr) {
    return placements_.seek_node(pod, attempt.applicant, seeker);
  }
  placements_.allowance().look_at_nodes(placements_.nodes().end_id().index());
  for (NodeId node; node < placements_.nodes().end_id(); ++node) {
    if (fits(*attempt.whole, placements_.nodes()[node].room) &&
        placements_.place_on_node(pod, attempt.applicant, node)) {
      return true;
    }
  }
  return false;
}

bool TopologyPlacer::seek_claim(PodId pod, const Attempt& attempt, Seeker& seeker) {
  using Verdict = OpenClaims::Verdict;
  const Applicant& applicant = attempt.applicant;
  const Narrowing* chosen = applicant.narrowed.chosen;
  ClaimLists& lists = placements_.open_claims();
  const ClaimMarks& meeting = lists.meeting(applicant.rung);
  const auto found = lists.in(chosen).first(meeting, seeker.turned_away, [&](ClaimId claim) {
    if (attempt.whole != nullptr &&
        !drafts_.builder().has_room(drafts_.claims()[claim], *attempt.whole)) {
      return Verdict::PassOver;
    }
    placements_.allowance().try_claim();
    if (drafts_.join(claim, applicant, pod)) {
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
        way->attempt->applicant.narrowed.chosen = way->chosen;
        Seeker& seeker = seeker_of(*way->attempt);
        if (seeker.price < 0) {
          placements_.allowance().open_claim(1);
          seeker.price = drafts_.builder().price_of_new(way->attempt->applicant);
        }
        way->price = seeker.price;
      }
      std::stable_sort(first, last, [](const Way& a, const Way& b) { return a.price < b.price; });
    }
    for (; first != last; ++first) {
      first->attempt->applicant.narrowed.chosen = first->chosen;
      if (placements_.open_claim(pod, first->attempt->applicant, seeker_of(*first->attempt))) {
        return true;
      }
    }
  }
  return false;
}

// The pod must share a node with pods of the group: only nodes and claims that have some count.
bool TopologyPlacer::join_company(PodId pod, Attempt& attempt, TopologyGroupId company) {
  Applicant& applicant = attempt.applicant;
  const std::vector<HostRef> hosts = counts_.hosts(company);
  placements_.allowance().look_at_nodes(hosts.size());
  const auto has_all_company = [&](const HostTally& tally) {
    return std::all_of(
        applicant.rung.on_host.begin(), applicant.rung.on_host.end(), [&](TopologyGroupId id) {
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
      applicant.narrowed.chosen = choice.chosen;
      if (claim ? !drafts_.claims()[*claim].full && placements_.join(pod, applicant, *claim)
                : placements_.place_on_node(pod, applicant, *node)) {
        return true;
      }
    }
  }
  return false;
}

bool TopologyPlacer::keep_promise(PodId pod, Applicant applicant, NodeId node) {
  applicant.narrowed.closed = choices_.closed(applicant.constraint);
  return choices_.suits(applicant, node, placements_.nodes()[node].hosts) &&
         placements_.place_on_node(pod, applicant, node);
}

Seeker& TopologyPlacer::seeker_of(const Attempt& attempt) {
  const Applicant& applicant = attempt.applicant;
  if (applicant.narrowed.chosen == nullptr) {
    return *attempt.plain;
  }
  const auto pod_class = static_cast<std::uint64_t>(&applicant.pod_class - pods_.classes.data());
  const auto rung = static_cast<std::uint64_t>(applicant.rung_index());
  // 24 bits of class, 12 of rung, 28 of domains: more than any problem has.
  return seekers_[pod_class << 40 | rung << 28 | applicant.narrowed.chosen->id];
}

}  // namespace millwright::scheduling

#include "scheduling/packing/placements.hpp"

namespace millwright::scheduling {

Placements::Placements(const CompiledProblem& compiled, NodesInUse& nodes, ClaimDrafts& drafts,
                       Allowance& allowance, bool fewest_pods_first)
    : nodes_(nodes),
      drafts_(drafts),
      allowance_(allowance),
      open_claims_(drafts, fewest_pods_first),
      places_(compiled.pods.pods.size()),
      steps_(compiled.pods.pods.size(), 0) {}

bool Placements::place_on_node(PodId pod, const Applicant& applicant, NodeId node) {
  if (!nodes_.has_room(node, applicant) || !nodes_.admits(node, applicant, pod)) {
    return false;
  }
  nodes_.add(node, applicant, pod);
  record(pod, PodPlace::on(node));
  return true;
}

bool Placements::seek_node(PodId pod, const Applicant& applicant, Seeker& seeker) {
  const NodeId begin = seeker.next_node;
  const NodeId end = nodes_.end_id();
  while (seeker.next_node < end && !place_on_node(pod, applicant, seeker.next_node)) {
    ++seeker.next_node;
  }
  allowance_.look_at_nodes(seeker.next_node.index() - begin.index() + 1);
  return seeker.next_node < end;
}

bool Placements::join(PodId pod, const Applicant& applicant, ClaimId claim) {
  allowance_.try_claim();
  if (!drafts_.join(claim, applicant, pod)) {
    return false;
  }
  joined(pod, claim);
  return true;
}

bool Placements::open_claim(PodId pod, const Applicant& applicant, Seeker& seeker) {
  if (seeker.cannot_open) {
    return false;
  }
  allowance_.open_claim(drafts_.builder().pools().size());
  const auto claim = drafts_.open(applicant, pod);
  if (!claim) {
    seeker.cannot_open = true;
    return false;
  }
  joined(pod, *claim);
  return true;
}

void Placements::note_claims() {
  for (ClaimId claim; claim < drafts_.claims().end_id(); ++claim) {
    for (const PodId pod : drafts_.claims()[claim].pods) {
      places_[pod] = PodPlace::on(claim);
    }
  }
}

void Placements::record(PodId pod, PodPlace place) {
  places_[pod] = place;
  steps_[pod] = ++next_step_;
  if (place.kind == PodPlace::Kind::Claim) {
    open_claims_.note_pod(place.claim());
  }
}

}  // namespace millwright::scheduling

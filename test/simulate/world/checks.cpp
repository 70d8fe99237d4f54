#include "simulate/world/checks.hpp"

#include "millwright/scheduling/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace millwright::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// How long each may last in a healed world.
constexpr auto kOrphan = minutes(12);  // two rounds of garbage collection, its grace, the end
// A machine that is lost before its node registers is given up in the fourth round of garbage
// collection after its launch.
constexpr auto kWaits = minutes(10);
constexpr auto kStarts = minutes(6);  // or its node is found to be dead
constexpr auto kClosed = kWaits;      // its replacement may be such a machine
constexpr auto kEmpty = minutes(6);
constexpr auto kStuck = minutes(20);    // registration_timeout and the end
constexpr auto kIgnored = minutes(2);   // a change of leader, and the next notice
constexpr auto kFinishes = minutes(2);  // three attempts of each of a launch's calls
constexpr std::size_t kNeeds = 15;      // seconds that a replica may be behind
constexpr auto kYoung = minutes(5);     // launch_timeout
constexpr auto kSurplus = seconds(5);   // bindings that the state has not shown yet

bool is_chosen(const model::NodeClaim& claim) {
  const auto* reason = model::find_condition(claim.conditions, model::kDisruptionReason);
  return reason != nullptr && reason->status == model::ConditionStatus::True;
}

bool waits(const sandbox::PodRecord& pod) {
  return !pod.gone && !pod.deleting && !pod.running;
}

bool is_chosen_as_drifted(const model::NodeClaim& claim) {
  return is_chosen(claim) &&
         model::find_condition(claim.conditions, model::kDisruptionReason)->reason == "Drifted";
}

bool counts_in_limits(const sandbox::ClaimRecord& claim) {
  return !claim.gone && !claim.deleting;
}

template <class Claims>
base::TimePoint newest_created(const Claims& claims) {
  auto newest = base::TimePoint::min();
  for (const auto& [uid, claim] : claims) {
    newest = counts_in_limits(claim) ? std::max(newest, claim.created) : newest;
  }
  return newest;
}

// Is there, and has the taint of a node that is disrupted.
bool is_closed(const sandbox::NodeHistory& node) {
  const auto& taints = node.last->taints;
  return !node.gone && std::any_of(taints.begin(), taints.end(), [](const auto& taint) {
    return taint.key == model::kDisruptedTaint;
  });
}

}  // namespace

bool is_daemon(const model::Pod& pod) {
  const auto* owner = pod.meta.controller();
  return owner != nullptr && owner->kind == "DaemonSet";
}

std::string replica_set_of(const model::Pod& pod) {
  const auto* owner = pod.meta.controller();
  return owner == nullptr ? std::string() : owner->name;
}

std::string deployment_of(const model::Pod& pod) {
  const std::string owner = replica_set_of(pod);
  return owner.substr(0, owner.rfind('-'));
}

void Checks::tell(const char* check, const std::string& object, std::string what) {
  const bool known = std::any_of(found_.begin(), found_.end(), [&](const Violation& one) {
    return one.check == check && one.what.starts_with(object + " ");
  });
  if (!known) {
    const std::chrono::duration<double> age = world_.age();
    found_.push_back({check, object + " " + std::move(what) +
                                 fmt::format(", {:.3f} s after the beginning", age.count())});
  }
}

base::Duration Checks::lasts(const char* what, const std::string& object, bool holds) {
  auto& since = since_[what];
  if (!holds) {
    since.erase(object);
    return {};
  }
  return world_.now() - since.emplace(object, world_.now()).first->second;
}

void Checks::wrote(const Write& write) {
  pods_are_evicted(write);
  for (const auto& replica : world_.replicas()) {
    const bool writes = replica->name() == write.replica;
    if (!replica->killed() && replica->leadership().holds() != writes) {
      tell("no-write-after-a-term", "replica " + write.replica,
           "sent " + write.what + " while " +
               (writes ? "it did not lead" : "replica " + replica->name() + " led"));
    }
  }
}

// A provider finishes what it was asked in a term: a launch belongs to its claim whoever asks, and
// an instance that was to end ends.
void Checks::changes_cloud(const Write& write) {
  const auto& replicas = world_.replicas();
  const auto writer = std::find_if(replicas.begin(), replicas.end(), [&](const auto& replica) {
    return replica->name() == write.replica;
  });
  const bool leads = (*writer)->leadership().holds();
  const auto led = led_.find(write.replica);
  if (!leads && (led == led_.end() || world_.now() - led->second > kFinishes)) {
    tell(
        "no-write-after-a-term", "replica " + write.replica,
        "sent " + write.what + (led == led_.end() ? " and has never led" : " long after its term"));
  }
}

void Checks::note_leader() {
  if (const Replica* const leader = world_.leader()) {
    led_[leader->name()] = world_.now();
  }
}

void Checks::look_at_event() {
  note_need();
  nothing_is_bought_twice();
  no_young_claim_is_given_up();
  no_binding_to_a_closed_node();
  no_node_is_chosen_wrongly();
  budgets_hold();
  limits_hold();
}

void Checks::look_at_second() {
  needs_.push_back(0);
  if (needs_.size() > kNeeds + static_cast<std::size_t>(seconds(kStuck).count())) {
    needs_.pop_front();
  }
  note_need();
  note_leader();
  note_protected_pods();
  one_instance_per_claim();
  one_term_at_a_time();
  reserved_is_needed();
  refused_pods_are_woken();
  moved_pods_have_room();
  if (world_.healed()) {
    no_instance_without_claim();
    everything_runs();
    no_node_stays_closed();
    no_empty_node_stays();
    no_claim_is_stuck();
    interruptions_are_handled();
  }
}

void Checks::look_at_rest(bool at_rest) {
  if (!at_rest) {
    tell("comes-to-rest", "NodePool default", "still moves though all is healed");
  }
  nothing_churns();
}

std::string Checks::claim_name(const Machine& machine) const {
  const auto& claims = world_.recorder().claims();
  const auto found = claims.find(machine.claim_uid);
  return found == claims.end() ? "of UID '" + machine.claim_uid + "'"
                               : found->second.last->meta.name;
}

// For longer than the adapters of Huawei Cloud and Alibaba Cloud wait for them (kShownWithin).
bool Checks::nodes_may_show_too_late() const {
  const auto& steps = world_.schedule().steps;
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    return step.act == Act::LaggingCloud && step.amount > 30 && step.at <= world_.age();
  });
}

// Huawei Cloud's CCE knows no token, and that of Alibaba Cloud is its process' own: there the next
// leader asks again for the machines of claims that it has found.
bool Checks::may_be_launched_again(const Machine& machine) const {
  const Cloud cloud = world_.schedule().cloud;
  const auto& claims = world_.recorder().claims();
  const auto claim = claims.find(machine.claim_uid);
  if (claim == claims.end() || !nodes_may_show_too_late()) {
    return false;
  }
  // Leaders are noted once a second.
  const auto led_since = std::count_if(led_.begin(), led_.end(), [&](const auto& led) {
    return led.second + seconds(1) >= claim->second.created;
  });
  return cloud == Cloud::Huawei || (cloud == Cloud::Alibaba && led_since > 1);
}

// Alibaba Cloud locks an instance that it takes back: a claim whose launch is in doubt gets
// another.
void Checks::one_instance_per_claim() {
  std::map<std::string, std::string> owner;
  for (const auto& [id, machine] : world_.machines()) {
    const bool is_locked = machine.interrupted && world_.schedule().cloud == Cloud::Alibaba;
    if (machine.claim_uid.empty() || is_locked) {
      continue;
    }
    const auto [other, first] = owner.emplace(machine.claim_uid, id);
    const bool second = !machine.ending && !first;
    const base::Duration tolerated =
        second && may_be_launched_again(machine) ? kOrphan : base::Duration::zero();
    if (second && lasts("second", id, second) >= tolerated) {
      tell("one-instance-per-claim", "claim " + claim_name(machine),
           "has the instances " + other->second + " and " + id);
    }
  }
}

// A machine that the cloud takes back does not wait for its pods. Nor is it known whose pods they
// are while its Node says that it is another one's, and what was decided then is carried out. And a
// call that ends an instance may be on its way while etcd is restored: its pods, which had been
// evicted, run there again.
void Checks::ends(const std::string& instance) {
  const Machine& machine = world_.machines().at(instance);
  const bool node_lies = world_.has_lied(machine.node, world_.now() - kFinishes);
  const auto restored = world_.restored();
  const bool is_late = restored && world_.now() - *restored < kFinishes;
  for (const auto& [uid, pod] : world_.recorder().pods()) {
    const bool runs = !pod.gone && !pod.deleting && pod.running && !is_daemon(*pod.last);
    if (!machine.interrupted && !node_lies && runs && !(is_late && *pod.running >= *restored) &&
        pod.last->spec.node_name == machine.node) {
      tell("no-instance-ends-undrained", "instance " + instance,
           "is ended while pod " + pod.last->meta.name + " runs there");
    }
  }
}

// Its instance is there, and its time is not over.
void Checks::no_young_claim_is_given_up() {
  for (const auto& [uid, claim] : world_.recorder().claims()) {
    const model::NodeClaim& last = *claim.last;
    const auto machine = world_.machines().find(last.provider_id);
    // By the clock of whoever judged it.
    const bool young = world_.now() - claim.created < kYoung - world_.most_ahead();
    const bool judged = claim.deleting && !claim.gone && young &&
                        model::is_true(last.conditions, model::kRegistered) &&
                        !model::is_true(last.conditions, model::kInitialized) && !is_chosen(last) &&
                        !world_.deleted_claims().contains(last.meta.name);
    const auto& nodes = world_.recorder().nodes();
    const bool node_there = std::any_of(nodes.begin(), nodes.end(), [&](const auto& item) {
      return item.second.last->meta.name == last.node_name && !item.second.gone;
    });
    if (judged && node_there && machine != world_.machines().end() &&
        !machine->second.interrupted) {
      tell("no-young-claim-is-given-up", "claim " + last.meta.name,
           "is being deleted before it is initialized, though its instance runs");
    }
  }
}

// Some need room for a moment only: a rolling update has one pod more before it has one less.
void Checks::note_need() {
  if (!needs_.empty()) {
    needs_.back() = std::max(needs_.back(), pods_in_need());
  }
}

// Where watches are late, a replica may see new pods and not yet that another Deployment is gone,
// whose pods it expects to come back.
bool Checks::kinds_may_differ_in_age() const {
  const auto& steps = world_.schedule().steps;
  return std::any_of(steps.begin(), steps.end(), [this](const Step& step) {
    const bool delays = step.act == Act::Cut || step.act == Act::Clog || step.act == Act::Slow ||
                        step.act == Act::CutWatches || step.act == Act::LateWatches ||
                        step.act == Act::Restore || step.act == Act::ExpireToken ||
                        step.act == Act::ChangeCa || step.act == Act::Forbid;
    return delays && step.at <= world_.age() &&
           world_.age() < step.at + step.lasts + seconds(kNeeds);
  });
}

std::set<std::string> Checks::staying_nodes() const {
  std::set<std::string> staying;
  for (const auto& [uid, node] : world_.recorder().nodes()) {
    if (!node.gone && !node.disrupted && !node.deleting && model::is_ready(*node.last)) {
      staying.insert(node.last->meta.name);
    }
  }
  for (const auto& [uid, claim] : world_.recorder().claims()) {
    if (claim.deleting) {
      staying.erase(claim.last->node_name);
    }
  }
  return staying;
}

// Pods that need room: they wait, will come, or are on nodes that go.
std::size_t Checks::pods_in_need(const std::map<std::string, std::size_t>& wanted,
                                 std::string (*owner)(const model::Pod&)) {
  struct Pods {
    std::size_t wanted = 0;
    std::size_t placed = 0;
    std::size_t others = 0;
  };
  std::map<std::string, Pods> pods_of;
  for (const auto& [name, count] : wanted) {
    pods_of[name].wanted = count;
  }
  const auto staying = staying_nodes();
  for (const auto& [uid, pod] : world_.recorder().pods()) {
    if (!pod.gone) {
      auto& pods = pods_of[owner(*pod.last)];
      const bool stays = !pod.deleting && staying.contains(pod.last->spec.node_name);
      ++(stays ? pods.placed : pods.others);
    }
  }
  std::size_t need = 0;
  for (const auto& [name, pods] : pods_of) {
    need += std::max(pods.wanted - std::min(pods.wanted, pods.placed), pods.others);
  }
  return need;
}

// Counted by Deployment: while one is rolled out it has more pods than it will have.
std::size_t Checks::pods_in_need() {
  const std::size_t withdrawn =
      kinds_may_differ_in_age() ? world_.withdrawn_pods(world_.now() - seconds(kNeeds)) : 0;
  return withdrawn + pods_in_need(world_.wanted_pods(), deployment_of);
}

// Also while nobody can record it.
std::string Checks::node_of(const model::NodeClaim& claim) const {
  if (!claim.node_name.empty()) {
    return claim.node_name;
  }
  const auto& machines = world_.machines();
  const auto machine = std::find_if(machines.begin(), machines.end(), [&](const auto& item) {
    return item.second.claim_uid == claim.meta.uid;
  });
  return machine == machines.end() ? std::string() : machine->second.node;
}

// Milli-CPUs that nothing is reserved of. A Node may have less than was foreseen, or have had until
// a moment ago; a claim of whose launch nobody has heard yet may become as small as its pods need,
// whatever Node has joined meanwhile. One that has been up and is not Ready has none.
std::int64_t Checks::free_room(const model::NodeClaim& claim,
                               const cluster::LedgerView& ledger) const {
  if (world_.was_poor(claim.provider_id, world_.now() - seconds(kNeeds))) {
    return 0;
  }
  const std::string name = node_of(claim);
  const model::ResourceList* room =
      claim.allocatable.contains(model::kCpu) ? &claim.allocatable : &claim.requests;
  for (const auto& [uid, node] : world_.recorder().nodes()) {
    if (claim.provider_id.empty() || node.gone || node.last->meta.name != name) {
      continue;
    }
    if (node.last->meta.label(model::kInitializedLabel) == "true" && !model::is_ready(*node.last)) {
      return 0;
    }
    room = &node.last->allocatable;
  }
  std::int64_t free = model::get(*room, model::kCpu).milli();
  for (const auto& target : {claim.meta.name, name}) {
    if (const auto kept = ledger.by_target.find(target); kept != ledger.by_target.end()) {
      free -= model::get(kept->second.summary().requests, model::kCpu).milli();
    }
  }
  return free;
}

// There were machines on their way with room for the pods of a new claim, more than there are pods
// that no room is reserved for. Those that are only expected have none reserved on such machines.
bool Checks::was_room_for(const std::vector<const model::NodeClaim*>& news,
                          const std::vector<const model::NodeClaim*>& came_before,
                          std::size_t need) const {
  Replica* const leader = world_.leader();
  if (leader == nullptr) {
    return false;
  }
  const auto ledger = leader->engine().ledger().view();
  std::size_t reserved = 0;
  for (const auto& [target, list] : ledger->by_target) {
    for (const auto& reservation : list) {
      reserved += static_cast<std::size_t>(reservation.count);
    }
  }
  const auto idle = std::count_if(came_before.begin(), came_before.end(), [&](const auto* claim) {
    const std::int64_t room = free_room(*claim, *ledger);
    return std::any_of(news.begin(), news.end(), [&](const auto* made) {
      return model::get(made->requests, model::kCpu).milli() <= room;
    });
  });
  return reserved + static_cast<std::size_t>(idle) > need && idle > 0;
}

// A node was chosen, and is not being deleted yet.
bool Checks::is_replacing() const {
  const auto& nodes = world_.recorder().nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& item) {
    return item.second.disrupted && !item.second.deleting && !item.second.gone;
  });
}

// A moment before `since`, or later.
std::size_t Checks::most_needed(base::TimePoint since) {
  const auto seconds_ago = std::chrono::duration_cast<seconds>(world_.now() - since).count();
  const auto span = std::min(needs_.size(), kNeeds + static_cast<std::size_t>(seconds_ago));
  return needs_.empty()
             ? pods_in_need()
             : *std::max_element(needs_.end() - static_cast<std::ptrdiff_t>(span), needs_.end());
}

// When a claim is written there is, or was a moment before, a pod for it and one for every other
// claim on its way. One that has pods has come, although it may not be recorded yet. When a node
// is replaced, a claim may be on its way whose pods have found room elsewhere since it was bought.
// Machines that were bought for pods that have gone may be too small for those that have come.
void Checks::nothing_is_bought_twice() {
  const auto& claims = world_.recorder().claims();
  std::set<std::string> news;
  for (const auto& [uid, claim] : claims) {
    if (bought_.insert(uid).second) {
      news.insert(uid);
    }
  }
  if (news.empty()) {
    return;
  }
  const auto used = used_nodes();
  // A claim whose Node goes does not come any more, although nobody has deleted it yet.
  std::set<std::string> going;
  for (const auto& [uid, node] : world_.recorder().nodes()) {
    if (node.deleting || node.gone) {
      going.insert(node.last->meta.name);
    }
  }
  base::TimePoint oldest = world_.now();
  std::size_t coming = 0;
  std::vector<const model::NodeClaim*> came_before;
  std::vector<const model::NodeClaim*> made;
  for (const auto& [uid, claim] : claims) {
    const std::string node = node_of(*claim.last);
    const bool comes = !claim.gone && !claim.deleting && !used.contains(node) &&
                       !going.contains(node) &&
                       !model::is_true(claim.last->conditions, model::kInitialized);
    if (comes) {
      ++coming;
      (news.contains(uid) ? made : came_before).push_back(claim.last.get());
      oldest = std::min(oldest, claim.created);
    }
  }
  // A ReplicaSet that grows in a rollout wants room beside that of the one before.
  const std::size_t need =
      std::max(most_needed(is_replacing() ? oldest : world_.now()),
               pods_in_need(world_.wanted_pods(model::kReplicaSetResource), replica_set_of));
  if (coming > need && was_room_for(made, came_before, need)) {
    tell("nothing-is-bought-twice", "NodePool default",
         fmt::format("has {} claims on their way for {} pods", coming, need));
  }
}

void Checks::no_instance_without_claim() {
  std::set<std::string> uids;
  for (const auto& [uid, claim] : world_.recorder().claims()) {
    if (!claim.gone) {
      uids.insert(uid);
    }
  }
  for (const auto& [id, machine] : world_.machines()) {
    const bool orphan = !machine.ending && !uids.contains(machine.claim_uid);
    if (lasts("orphan", id, orphan) > kOrphan) {
      tell("no-orphan", "instance " + id,
           "runs on though its claim " + claim_name(machine) + " is gone");
    }
  }
}

// A pod's own call must have been answered: while nobody answers, kube-scheduler goes on alone.
void Checks::no_binding_to_a_closed_node() {
  for (const auto& [uid, pod] : world_.recorder().pods()) {
    if (!pod.bound || is_daemon(*pod.last) || !bound_.insert(uid).second) {
      continue;
    }
    const auto calls = world_.filter_calls().find(uid);
    const auto& node = pod.last->spec.node_name;
    if (calls == world_.filter_calls().end() ||
        !every(calls->second, [](const FilterCall& call) { return call.answered; })) {
      continue;
    }
    if (every(calls->second,
              [&node](const FilterCall& call) { return call.fenced.contains(node); })) {
      tell("no-binding-to-a-fenced-node", "pod " + pod.last->meta.name,
           "was let through to " + node + ", which the leader had fenced");
    }
    for (const auto& [node_uid, record] : world_.recorder().nodes()) {
      // One that is gone may have been of another machine, and have said that it was of this one.
      if (record.last->meta.name != node || !is_closed(record) || *record.disrupted >= *pod.bound) {
        continue;
      }
      const auto& claims = world_.recorder().claims();
      const bool chosen = std::any_of(claims.begin(), claims.end(), [&](const auto& item) {
        return item.second.last->node_name == node && is_chosen(*item.second.last);
      });
      if (chosen) {
        tell("no-binding-after-the-choice", "pod " + pod.last->meta.name,
             "was bound to " + node + ", which was chosen for removal and tainted before");
      }
    }
  }
}

void Checks::budgets_hold() {
  std::set<std::string> there;
  for (const auto& [uid, node] : world_.recorder().nodes()) {
    if (!node.gone && node.last->meta.label(model::kInitializedLabel) == "true" &&
        !world_.stripped_nodes().contains(node.last->meta.name)) {
      there.insert(node.last->meta.name);
    }
  }
  int going = 0;
  for (const auto& [uid, claim] : world_.recorder().claims()) {
    // As with Karpenter, a node no longer counts once it is gone, its instance is being ended, or
    // somebody has taken the label off that says it was initialized. When the label is put back,
    // another node may have been chosen.
    const bool ends = model::is_true(claim.last->conditions, model::kInstanceTerminating) ||
                      !there.contains(claim.last->node_name);
    going += !claim.gone && !ends && is_chosen(*claim.last) ? 1 : 0;
  }
  if (going > world_.schedule().budget) {
    tell("budgets-hold", "NodePool default",
         fmt::format("has {} nodes that are being removed, its budget is {}", going,
                     world_.schedule().budget));
  }
}

// As in Karpenter, what is being deleted does not count, and one node that has drifted is replaced
// beyond the limit. If it stays after all, so does its replacement, if there is one: it came after
// the choice.
void Checks::limits_hold() {
  const auto newest = newest_created(world_.recorder().claims());
  std::int64_t milli = 0;
  std::int64_t replaced = 0;
  for (const auto& [uid, claim] : world_.recorder().claims()) {
    if (!counts_in_limits(claim)) {
      replaced_.erase(uid);
      continue;
    }
    const auto size = model::get(claim.last->capacity, model::kCpu).milli();
    milli += size;
    // When it was seen: what the condition says is by a replica's clock, which may be wrong.
    if (is_chosen_as_drifted(*claim.last)) {
      replaced_.try_emplace(uid, world_.now());
    }
    const auto chosen = replaced_.find(uid);
    if (chosen == replaced_.end()) {
      continue;
    }
    if (is_chosen(*claim.last) || chosen->second <= newest) {
      replaced = std::max(replaced, size);
    } else {
      replaced_.erase(chosen);
    }
  }
  if (milli - replaced > world_.schedule().limit_cpus * 1000LL) {
    tell("limits-hold", "NodePool default",
         fmt::format("has {}m CPUs, its limit is {}", milli, world_.schedule().limit_cpus));
  }
}

void Checks::reserved_is_needed() {
  Replica* const leader = world_.leader();
  if (leader == nullptr || leader->paused()) {
    return;
  }
  const auto sight = leader->engine().state().sight();
  if (!sight.snapshot->synced) {
    return;
  }
  std::set<std::string> groups;
  for (const auto& [text, targets] : sight.ledger->targets_by_group) {
    const scheduling::GroupId group(text);
    const auto* const demand = scheduling::find_demand(sight.snapshot->demand, group);
    const auto most = demand == nullptr ? 0 : demand->most_reserved();
    const auto reserved = sight.ledger->reserved(group);
    const bool surplus = !group.is_whole_owner() && reserved > most;
    if (lasts("surplus", text, surplus) > kSurplus) {
      tell("reserved-is-needed", "group " + text,
           fmt::format("has room reserved for {} pods and needs {}", reserved, most));
    }
  }
  std::erase_if(since_["surplus"], [&](const auto& item) {
    return !sight.ledger->targets_by_group.contains(item.first);
  });
}

void Checks::one_term_at_a_time() {
  for (const auto& replica : world_.replicas()) {
    if (replica->most_terms_at_once() > 1) {
      tell("one-term-at-a-time", "replica " + replica->name(), "runs two of its terms at once");
    }
  }
}

void Checks::everything_runs() {
  for (const auto& [uid, pod] : world_.recorder().pods()) {
    const auto& name = pod.last->meta.name;
    if (lasts("waits", uid, waits(pod) && !pod.bound) > kWaits) {
      tell("no-pod-waits-for-ever", "pod " + name, "waits for a node");
    }
    if (lasts("starts", uid, waits(pod) && pod.bound) > kStarts) {
      tell("bound-pods-run", "pod " + name,
           "is bound to " + pod.last->spec.node_name + " and does not run");
    }
  }
}

void Checks::no_node_stays_closed() {
  for (const auto& [uid, node] : world_.recorder().nodes()) {
    if (lasts("closed", uid, is_closed(node)) > kClosed) {
      tell("no-node-stays-closed", "node " + node.last->meta.name,
           "has the disrupted taint and does not go");
    }
  }
}

std::set<std::string> Checks::used_nodes() const {
  std::set<std::string> used;
  for (const auto& [uid, pod] : world_.recorder().pods()) {
    if (!pod.gone && !is_daemon(*pod.last) && pod.bound) {
      used.insert(pod.last->spec.node_name);
    }
  }
  return used;
}

// For the pods of nodes that go, which wait for another replacement, too.
bool Checks::is_kept(const std::string& node) const {
  Replica* const leader = world_.leader();
  return leader != nullptr && leader->engine().ledger().view()->by_target.contains(node);
}

// consolidateAfter counts from its last pod. Then nodes go one by one, where the budget is one.
void Checks::no_empty_node_stays() {
  const auto used = used_nodes();
  const auto goes_within = kEmpty + world_.schedule().consolidate_after;
  for (const auto& [uid, node] : world_.recorder().nodes()) {
    const bool empty = !node.gone && node.ready && !used.contains(node.last->meta.name) &&
                       !is_kept(node.last->meta.name);
    if (lasts("empty", uid, empty) > goes_within) {
      tell("no-empty-node-stays", "node " + node.last->meta.name, "has no pods and is not removed");
    }
  }
}

void Checks::no_claim_is_stuck() {
  for (const auto& [uid, claim] : world_.recorder().claims()) {
    const bool stuck = !claim.gone && (claim.deleting || !model::is_true(claim.last->conditions,
                                                                         model::kInitialized));
    if (lasts("stuck", uid, stuck) > kStuck) {
      tell("no-claim-is-stuck", "claim " + claim.last->meta.name,
           claim.deleting ? "is being deleted and does not go" : "does not become a node");
    }
  }
}

void Checks::interruptions_are_handled() {
  for (const auto& [id, machine] : world_.machines()) {
    const auto claim = world_.recorder().claims().find(machine.claim_uid);
    const bool owned =
        claim != world_.recorder().claims().end() && !claim->second.deleting &&
        (claim->second.last->provider_id.empty() || claim->second.last->provider_id == id);
    const bool ignored =
        machine.interrupted && !machine.notice_forgotten && !machine.ending && owned;
    if (lasts("ignored", id, ignored) > kIgnored) {
      tell("interruptions-are-handled", "instance " + id, "was taken back, and its claim stays");
    }
  }
}

// Called twice: when the world has come to rest, and some minutes later.
void Checks::nothing_churns() {
  const auto claims = world_.recorder().claims().size();
  if (resting_ && claims != claims_at_rest_) {
    tell("nothing-churns", "NodePool default",
         fmt::format("got {} claims in a world at rest", claims - claims_at_rest_));
  }
  claims_at_rest_ = claims;
  resting_ = true;
}

}  // namespace millwright::test

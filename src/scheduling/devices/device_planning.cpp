#include "scheduling/devices/device_planning.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace millwright::scheduling {
namespace {

bool has_claims_of_its_own(const std::shared_ptr<const model::DaemonSet>& set) {
  return !set->pod_template.spec.resource_claims.empty();
}

bool asks_for_devices(const PodPtr& pod) {
  return !pod->spec.resource_claims.empty();
}

// Terms are alternatives: each of the pod's with each of the claim's.
void add_terms(model::PodSpec& spec, const std::vector<model::NodeSelectorTerm>& more) {
  auto& terms = spec.affinity.required_node_terms;
  if (terms.empty()) {
    terms = more;
    return;
  }
  std::vector<model::NodeSelectorTerm> both;
  for (const auto& term : terms) {
    for (const auto& added : more) {
      auto& each = both.emplace_back(term);
      each.match_expressions.insert(each.match_expressions.end(), added.match_expressions.begin(),
                                    added.match_expressions.end());
    }
  }
  terms = std::move(both);
}

// Of each resource the least that any of the lists has.
model::ResourceList least_of(const std::vector<model::ResourceList>& lists) {
  model::ResourceList least = lists.front();
  for (const auto& list : lists) {
    std::erase_if(least, [&](const auto& entry) { return !list.contains(entry.first); });
    for (auto& [name, quantity] : least) {
      quantity = std::min(quantity, list.at(name));
    }
  }
  return least;
}

}  // namespace

bool DevicePlanning::is_needed(const Problem& problem) {
  return problem.options.resource_claims && problem.cluster &&
         (std::any_of(problem.pods.begin(), problem.pods.end(), asks_for_devices) ||
          std::any_of(problem.daemon_sets.begin(), problem.daemon_sets.end(),
                      has_claims_of_its_own));
}

DevicePlanning::DevicePlanning(const Problem& problem, const DeviceChoices& choices,
                               DeviceMemory& memory)
    : choices_(choices),
      asks_(problem, queries_),
      places_(problem, queries_, memory),
      amounts_(queries_.names(), places_.seen()),
      changed_(problem) {
  changed_.options.resource_claims = false;
  change_daemon_sets();
  change_pods();
  change_kept_room();
  change_pools(memory);
  change_nodes();
}

std::size_t DevicePlanning::choice_of(std::string_view uid) const {
  const auto found = choices_.find(uid);
  return found == choices_.end() ? 0 : found->second;
}

// The first alternative when none can be had: the refusal is about that.
std::vector<DeviceAsk::Alternative> DevicePlanning::to_be_had(const DeviceAsk& ask) const {
  std::vector<DeviceAsk::Alternative> result;
  for (const auto& alternative : ask.alternatives) {
    if (places_.most(alternative.query) >= alternative.count) {
      result.push_back(alternative);
    }
  }
  if (result.empty()) {
    result.push_back(ask.alternatives.front());
  }
  return result;
}

DeviceCounts DevicePlanning::counts_of(const PodDevices& devices, std::size_t choice) const {
  DeviceCounts counts;
  for (const DeviceAsk& ask : devices.asks) {
    const auto alternatives = to_be_had(ask);
    const auto& chosen = alternatives[std::min(choice, alternatives.size() - 1)];
    counts[chosen.query] += chosen.count;
  }
  return counts;
}

bool DevicePlanning::choose_again(const Plan& plan, DeviceChoices& choices) const {
  bool any = false;
  for (const Refusal& refusal : plan.refusals) {
    const auto asked = counts_.find(refusal.pod_uid);
    if (refusal.postponed || asked == counts_.end()) {
      continue;
    }
    const auto& asks = asks_.of(refusal.pod_uid).asks;
    const std::size_t next = choice_of(refusal.pod_uid) + 1;
    if (std::any_of(asks.begin(), asks.end(),
                    [&](const DeviceAsk& ask) { return to_be_had(ask).size() > next; })) {
      choices[refusal.pod_uid] = next;
      any = true;
    }
  }
  return any;
}

DevicePlanning::PodRefusal DevicePlanning::refusal_of(const PodDevices& devices,
                                                      const DeviceCounts& counts) const {
  if (!devices.refusal.empty()) {
    return {devices.refusal, devices.remedy};
  }
  for (const auto& [query, count] : counts) {
    const std::string& name = queries_.names()[query];
    if (amounts_.is_tangled(query)) {
      return {"devices of " + name + " are also asked for in " +
                  std::to_string(DeviceAmounts::kMostMeeting) +
                  " and more other ways, which is not planned",
              "let these pods ask for devices by the same selectors"};
    }
    if (places_.most(query) == 0) {
      const std::string& trouble = queries_.troubles()[query];
      return {"no instance type and no node is known to have a device of " + name +
                  (trouble.empty() ? "" : "; its selector fails: " + trouble),
              trouble.empty() ? "say in --dra-config-file which instance types have such devices"
                              : "correct the selector"};
    }
  }
  return {};
}

// Their pods run on every node that they may, and what they claim is theirs to find; most of them
// only look at devices (adminAccess).
void DevicePlanning::change_daemon_sets() {
  for (auto& set : changed_.daemon_sets) {
    if (has_claims_of_its_own(set)) {
      auto copy = std::make_shared<model::DaemonSet>(*set);
      copy->pod_template.spec.resource_claims.clear();
      set = std::move(copy);
    }
  }
}

void DevicePlanning::change_pods() {
  for (PodPtr& pod : changed_.pods) {
    if (!asks_for_devices(pod)) {
      continue;
    }
    const PodDevices& devices = asks_.of(pod->meta.uid);
    DeviceCounts counts = counts_of(devices, choice_of(pod->meta.uid));
    if (PodRefusal refusal = refusal_of(devices, counts); !refusal.reason.empty()) {
      refusals_.emplace(pod->meta.uid, std::move(refusal));
      continue;
    }
    auto copy = std::make_shared<model::Pod>(*pod);
    copy->spec.resource_claims.clear();
    for (const auto& terms : devices.node_terms) {
      add_terms(copy->spec, terms);
    }
    // Counted beside what its containers request, once.
    model::add_to(copy->spec.overhead, amounts_.asked(counts));
    counts_.emplace(pod->meta.uid, std::move(counts));
    pod = std::move(copy);
  }
}

void DevicePlanning::change_kept_room() {
  for (KeptRoom& kept : changed_.kept) {
    if (const PodDevices* devices = asks_.of_sample(kept.sample.get())) {
      model::add_to(kept.requests,
                    model::multiplied(amounts_.asked(counts_of(*devices, 0)), kept.pods));
    }
  }
}

void DevicePlanning::change_pools(DeviceMemory& memory) {
  for (std::size_t i = 0; i < changed_.pools.size(); ++i) {
    std::vector<model::ResourceList> offered;
    for (const auto& masks : places_.of_pool(i)) {
      offered.push_back(amounts_.offered(masks));
    }
    if (std::any_of(offered.begin(), offered.end(),
                    [](const model::ResourceList& list) { return !list.empty(); })) {
      changed_.pools[i].types = memory.with(changed_.pools[i].types, offered);
    }
  }
}

void DevicePlanning::change_nodes() {
  for (std::size_t i = 0; i < changed_.nodes.size(); ++i) {
    std::vector<model::ResourceList> lists;
    for (const auto& masks : places_.of_node(i)) {
      lists.push_back(amounts_.offered(masks));
    }
    const model::ResourceList amounts = least_of(lists);
    if (amounts.empty()) {
      continue;
    }
    auto record = std::make_shared<NodeRecord>(*changed_.nodes[i]);
    // What the record shows is the node's, and the claim's where the node has none.
    if (record->node) {
      auto node = std::make_shared<model::Node>(*record->node);
      model::add_to(node->allocatable, amounts);
      record->node = std::move(node);
    }
    if (record->claim) {
      auto claim = std::make_shared<model::NodeClaim>(*record->claim);
      model::add_to(claim->allocatable, amounts);
      record->claim = std::move(claim);
    }
    changed_.nodes[i] = std::move(record);
  }
}

std::string DevicePlanning::drivers_of(const PlannedClaim& claim) const {
  std::set<std::string, std::less<>> drivers;
  for (const std::string& uid : claim.pod_uids) {
    const auto counts = counts_.find(uid);
    if (counts == counts_.end() || claim.instance_types.empty()) {
      continue;
    }
    for (const auto& [query, count] : counts->second) {
      drivers.merge(places_.drivers(claim.node_pool, claim.instance_types.front(), query));
    }
  }
  std::string text;
  for (const std::string& driver : drivers) {
    text += (text.empty() ? "" : ",") + driver;
  }
  return text;
}

Plan DevicePlanning::finish(Plan plan) const {
  const auto is_device = [this](const auto& entry) { return amounts_.contains(entry.first); };
  for (PlannedClaim& claim : plan.claims) {
    std::erase_if(claim.requests, is_device);
    if (std::string drivers = drivers_of(claim); !drivers.empty()) {
      claim.annotations.insert_or_assign(std::string(model::kRequestedDriversAnnotation),
                                         std::move(drivers));
    }
  }
  for (Refusal& refusal : plan.refusals) {
    if (const auto found = refusals_.find(refusal.pod_uid);
        found != refusals_.end() && !refusal.postponed) {
      refusal.reason = found->second.reason;
      refusal.remedy = found->second.remedy;
      refusal.changes.clear();
    }
    // No request of a container can be lowered to ask for fewer devices.
    const auto is_of_device = [this](const Change& change) {
      return amounts_.contains(change.key);
    };
    if (std::any_of(refusal.changes.begin(), refusal.changes.end(), is_of_device)) {
      refusal.changes.clear();
    }
  }
  return plan;
}

Problem with_devices(Problem problem, DeviceMemory& memory) {
  if (!DevicePlanning::is_needed(problem)) {
    return problem;
  }
  memory.begin();
  const DeviceChoices first;
  return DevicePlanning(problem, first, memory).problem();
}

}  // namespace millwright::scheduling

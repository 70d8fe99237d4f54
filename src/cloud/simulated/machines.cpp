// The life of a machine: launching, running, perhaps interrupted, terminating, gone.
#include "cloud/simulated/catalog.hpp"
#include "cloud/simulated/state.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace millwright::cloud {

struct SimulatedCloud::State::Candidate {
  const scheduling::InstanceType* type = nullptr;
  const scheduling::Offering* offering = nullptr;
};

namespace {

// Labels are what requirements leave no choice about.
void add_concrete(model::StringMap& labels, const scheduling::Requirements& requirements) {
  for (const auto& requirement : requirements) {
    if (!requirement.is_complement() && requirement.values().size() == 1) {
      labels[requirement.key()] = requirement.values().front();
    }
  }
}

double hours(base::Duration duration) {
  return std::chrono::duration<double, std::ratio<3600>>(duration).count();
}

std::string describe(const model::NodeClaim& claim) {
  return "NodeClaim " + claim.meta.name;
}

}  // namespace

// Every offering the claim allows, cheapest first; ties by type, zone and capacity type.
std::vector<SimulatedCloud::State::Candidate> SimulatedCloud::State::candidates(
    const model::NodeClaim& claim, const std::vector<scheduling::InstanceType>& for_sale) const {
  const scheduling::Requirements wanted(claim.requirements);
  std::vector<Candidate> found;
  for (const auto& type : for_sale) {
    if (!type.requirements.intersects(wanted) || !model::fits(claim.requests, type.allocatable())) {
      continue;
    }
    for (const auto& offering : type.offerings) {
      if (offering.available &&
          wanted.compatible(offering.requirements, scheduling::AllowUndefined::WellKnown)) {
        found.push_back({&type, &offering});
      }
    }
  }
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.offering->price, std::string_view(a.type->name), a.offering->zone(),
                      a.offering->capacity_type()) <
           std::tuple(b.offering->price, std::string_view(b.type->name), b.offering->zone(),
                      b.offering->capacity_type());
  });
  return found;
}

base::Result<const SimulatedCloud::State::Machine*> SimulatedCloud::State::launch(
    std::shared_ptr<const model::NodeClaim> claim, const model::NodeClass& node_class) {
  const auto for_sale = catalog(simulated::sale_for(profile, node_class));
  const auto choices = candidates(*claim, *for_sale);
  if (choices.empty()) {
    return base::fail(base::ErrorKind::NoCapacity,
                      describe(*claim) +
                          ": no available offering satisfies spec.requirements and fits "
                          "spec.resources.requests " +
                          model::to_string(claim->requests));
  }
  std::string last;
  for (const auto& choice : choices) {
    const OfferingKey key{choice.type->name, std::string(choice.offering->zone()),
                          std::string(choice.offering->capacity_type())};
    if (!is_sold_out(key) && !chance(settings.capacity_error_rate)) {
      return &add_machine(std::move(claim), node_class, choice);
    }
    mark_unavailable(key);
    last = key.instance_type + " " + key.capacity_type + " in " + key.zone;
  }
  return base::fail(base::ErrorKind::NoCapacity,
                    describe(*claim) + ": all " + std::to_string(choices.size()) +
                        " allowed offerings are sold out, the last one being " + last);
}

SimulatedCloud::State::Machine& SimulatedCloud::State::add_machine(
    std::shared_ptr<const model::NodeClaim> claim, const model::NodeClass& node_class,
    const Candidate& candidate) {
  const auto& type = *candidate.type;
  const auto& offering = *candidate.offering;
  Machine machine;
  machine.offering = {type.name, std::string(offering.zone()),
                      std::string(offering.capacity_type())};
  simulated::Identity identity;
  do {
    identity = simulated::new_identity(profile, claim->meta.name, machine.offering.zone, serial_++,
                                       random);
  } while (adopted_names_.contains(identity.node_name));
  auto& instance = machine.instance;
  instance.provider_id = identity.provider_id;
  instance.node_name = std::move(identity.node_name);
  instance.node_claim = claim->meta.name;
  instance.node_pool = claim->meta.label(model::kNodePoolLabel);
  add_concrete(instance.labels, type.requirements);
  add_concrete(instance.labels, offering.requirements);
  instance.image_id =
      simulated::image_for(profile, node_class, instance.labels[std::string(model::kArchLabel)]);
  instance.annotations = stamp(node_class);
  instance.capacity = offering.capacity_override.value_or(type.capacity);
  instance.allocatable = type.allocatable();
  machine.price = offering.price;
  machine.claim = claim;
  machine.boot_latency = draw(settings.boot) + simulated::registration_delay(node_class);

  const auto delay = draw(settings.launch);
  machine.exists_at = loop.now() + delay;
  instance.launched_at = machine.exists_at;
  const auto& id = identity.provider_id;
  machine.step = schedule(delay, [id](State& self) { self.finish_launch(id); });
  provider_id_by_claim[claim->meta.uid] = id;
  return machines.insert_or_assign(id, std::move(machine)).first->second;
}

std::vector<Instance> SimulatedCloud::State::launched_instances() const {
  std::vector<Instance> instances;
  for (const auto& [id, machine] : machines) {
    if (machine.phase != Phase::Launching) {
      instances.push_back(machine.instance);
    }
  }
  return instances;
}

model::StringMap SimulatedCloud::State::stamp(const model::NodeClass& node_class) const {
  const auto stamp = simulated::hash_stamp(profile, node_class);
  return {{stamp.key, stamp.hash}, {stamp.version_key, stamp.version}};
}

void SimulatedCloud::State::adopt(std::shared_ptr<const model::NodeClaim> claim) {
  Machine machine;
  auto& instance = machine.instance;
  instance.provider_id = claim->provider_id;
  instance.image_id = claim->image_id;
  instance.node_claim = claim->meta.name;
  instance.node_pool = claim->meta.label(model::kNodePoolLabel);
  instance.labels = claim->meta.labels;
  instance.capacity = claim->capacity;
  instance.allocatable = claim->allocatable;
  instance.node_name = claim->node_name;
  const auto* launched = model::find_condition(claim->conditions, model::kLaunched);
  machine.exists_at =
      launched == nullptr ? loop.now() : launched->last_transition_time.value_or(loop.now());
  instance.launched_at = machine.exists_at;
  machine.phase = Phase::Running;
  machine.offering = {claim->meta.label(model::kInstanceTypeLabel),
                      claim->meta.label(model::kZoneLabel),
                      claim->meta.label(model::kCapacityTypeLabel)};
  machine.price = scheduling::price_of(catalog({}), claim->meta.labels).value_or(0);
  machine.boot_latency = draw(settings.boot);
  machine.claim = claim;
  adopted_names_.insert(claim->node_name);
  const std::string id = claim->provider_id;
  provider_id_by_claim[claim->meta.uid] = id;
  const auto& adopted = machines.insert_or_assign(id, std::move(machine)).first->second;
  plan_interruption(id);
  if (claim->node_name.empty() && listener != nullptr) {
    listener->launched(adopted.instance, adopted.claim, adopted.boot_latency);
  }
}

void SimulatedCloud::State::finish_launch(const std::string& provider_id) {
  auto* machine = find(provider_id);
  if (machine == nullptr) {
    return;
  }
  machine->step.reset();
  if (machine->instance.terminating) {
    // Taken back before it was there: nobody ever saw it.
    machines.erase(machines.find(provider_id));
    return;
  }
  machine->phase = Phase::Running;
  plan_interruption(provider_id);
  if (listener != nullptr) {
    listener->launched(machine->instance, machine->claim, machine->boot_latency);
  }
}

// The time to an interruption is exponential: each hour is as risky as any other.
void SimulatedCloud::State::plan_interruption(const std::string& provider_id) {
  auto& machine = machines.find(provider_id)->second;
  if (settings.spot_interruptions_per_hour <= 0 || machine.offering.capacity_type != model::kSpot) {
    return;
  }
  const double at = -std::log(1 - random.unit()) / settings.spot_interruptions_per_hour;
  // A year is beyond any run and keeps the arithmetic in range.
  const auto delay = std::chrono::duration_cast<base::Duration>(
      std::chrono::duration<double, std::ratio<3600>>(std::min(at, 8760.0)));
  machine.interruption =
      schedule(delay, [provider_id](State& self) { self.interrupt(provider_id); });
}

SimulatedCloud::State::Machine* SimulatedCloud::State::find(std::string_view provider_id) {
  const auto found = machines.find(provider_id);
  return found == machines.end() ? nullptr : &found->second;
}

SimulatedCloud::State::Machine* SimulatedCloud::State::find_by_claim(std::string_view uid) {
  const auto found = provider_id_by_claim.find(uid);
  return found == provider_id_by_claim.end() ? nullptr : find(found->second);
}

void SimulatedCloud::State::terminate(Machine& machine) {
  if (machine.instance.terminating) {
    return;
  }
  machine.instance.terminating = true;
  if (machine.interruption) {
    loop.cancel(*machine.interruption);
    machine.interruption.reset();
  }
  if (machine.phase == Phase::Launching) {
    return;  // finish_launch() sees to it
  }
  machine.phase = Phase::Terminating;
  const std::string id = machine.instance.provider_id;
  machine.step =
      schedule(draw(settings.termination), [id](State& self) { self.finish_termination(id); });
  if (listener != nullptr) {
    listener->terminating(id);
  }
}

void SimulatedCloud::State::finish_termination(const std::string& provider_id) {
  const auto found = machines.find(provider_id);
  if (found == machines.end()) {
    return;
  }
  const auto& machine = found->second;
  cost_of_the_gone += machine.price * std::max(0.0, hours(loop.now() - machine.exists_at));
  for (const auto& timer : {machine.step, machine.interruption}) {
    if (timer) {
      loop.cancel(*timer);
    }
  }
  // `provider_id` may live in the machine.
  const std::string id = provider_id;
  machines.erase(found);
  if (listener != nullptr) {
    listener->terminated(id);
  }
}

bool SimulatedCloud::State::interrupt(std::string_view provider_id) {
  auto* machine = find(provider_id);
  if (machine == nullptr || machine->phase != Phase::Running) {
    return false;
  }
  const std::string id(provider_id);
  machine->interruption = schedule(settings.interruption_notice, [id](State& self) {
    if (auto* warned = self.find(id)) {
      warned->interruption.reset();
      self.terminate(*warned);
    }
  });
  // Whoever asks next would be refused as well.
  mark_unavailable(machine->offering);
  if (notice_handler) {
    notices.push_back({.provider_id = id,
                       .kind = "spot_interrupted",
                       .reason = "SpotInterrupted",
                       .message = "The cloud is about to take the instance back"});
    noticed.notify();
  }
  return true;
}

bool SimulatedCloud::State::lose(std::string_view provider_id) {
  const auto* machine = find(provider_id);
  if (machine == nullptr || machine->phase == Phase::Launching) {
    return false;
  }
  finish_termination(std::string(provider_id));
  return true;
}

}  // namespace millwright::cloud

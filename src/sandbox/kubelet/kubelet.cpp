#include "sandbox/kubelet/kubelet.hpp"

#include "millwright/model/codec.hpp"
#include "sandbox/workloads/events.hpp"
#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::sandbox {

namespace {

constexpr std::string_view kLeaseNamespace = "kube-node-lease";

void add_condition(boost::json::array& conditions, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message, const std::string& now) {
  conditions.push_back(boost::json::object{{"type", type},
                                           {"status", status},
                                           {"lastHeartbeatTime", now},
                                           {"lastTransitionTime", now},
                                           {"reason", reason},
                                           {"message", message}});
}

boost::json::object node_owner(const model::Node& node) {
  return {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node.meta.name}, {"uid", node.meta.uid}};
}

}  // namespace

Kubelet::Kubelet(ClusterContext& context, KubeletOptions options)
    : context_(context), options_(std::move(options)) {}

Kubelet::~Kubelet() {
  stop();
}

void Kubelet::start() {
  running_ = true;
  for (const auto& [name, node] : context_.index.nodes()) {
    take_over(*node);
  }
  for (const auto& [key, entry] : context_.index.pods()) {
    const auto& pod = *entry.pod;
    if (!pod.spec.node_name.empty()) {
      const bool runs = pod.status.phase == "Running" && !pod.meta.is_deleting();
      step_after(pod.meta.uid, key, runs ? run_time(pod) : context_.lag);
    }
  }
}

// The machine of a Node that was there before. One that was not Ready is starting, or broken for
// good: then nothing runs it.
void Kubelet::take_over(const model::Node& node) {
  const auto* ready = model::find_condition(node.conditions, "Ready");
  const bool is_up = ready != nullptr && ready->status == model::ConditionStatus::True;
  const bool starts = (ready == nullptr || ready->status == model::ConditionStatus::False) &&
                      !node.meta.label(model::kNodePoolLabel).empty() &&
                      node.meta.label(model::kInitializedLabel) != "true";
  if ((!is_up && !starts) || machine_of(node.meta.name) != nullptr) {
    return;
  }
  const auto id = node.provider_id.empty() ? "node://" + node.meta.name : node.provider_id;
  auto& machine = machines_[id];
  machine.instance.provider_id = id;
  machine.node = node.meta.name;
  machine.number = ++count_;
  machine.registered = true;
  machine_by_node_[machine.node] = id;
  write_lease(machine.node, true);
  const auto delay = is_up ? options_.lease_interval : options_.ready_after;
  machine.timer = context_.loop.after(delay, [this, id, is_up] {
    if (is_up) {
      heartbeat(id);
    } else {
      report_ready(id);
    }
  });
}

void Kubelet::take_over(const std::string& node) {
  if (const auto found = context_.index.nodes().find(node); found != context_.index.nodes().end()) {
    take_over(*found->second);
  }
}

void Kubelet::restart() {
  for (auto& [id, machine] : machines_) {
    if (!machine.registered) {
      continue;
    }
    context_.loop.cancel(machine.timer);
    const bool has_node = context_.index.nodes().contains(machine.node);
    machine.timer = context_.loop.after(options_.ready_after, [this, id = id, has_node] {
      if (has_node) {
        report_ready(id);
      } else {
        register_node(id);
      }
    });
  }
  for (const auto& [name, node] : context_.index.nodes()) {
    if (machine_of(name) == nullptr && !silences_.contains(name)) {
      await_contact(name);
    }
  }
}

void Kubelet::stop() {
  running_ = false;
  for (const auto& [id, machine] : machines_) {
    context_.loop.cancel(machine.timer);
  }
  for (const auto& [uid, step] : steps_) {
    context_.loop.cancel(step.timer);
  }
  for (const auto& [node, timer] : silences_) {
    context_.loop.cancel(timer);
  }
  steps_.clear();
  silences_.clear();
}

void Kubelet::launched(const cloud::Instance& instance,
                       std::shared_ptr<const model::NodeClaim> claim, base::Duration boot_latency) {
  auto& machine = machines_[instance.provider_id];
  machine.instance = instance;
  machine.claim = std::move(claim);
  machine.number = ++count_;
  machine.node =
      instance.node_name.empty() ? fmt::format("node-{}", machine.number) : instance.node_name;
  const auto id = instance.provider_id;
  machine.timer = context_.loop.after(boot_latency, [this, id] { register_node(id); });
}

void Kubelet::terminating(const std::string&) {
  // The machine still runs; whoever asked for its end drains it.
}

void Kubelet::terminated(const std::string& provider_id) {
  const auto found = machines_.find(provider_id);
  if (found == machines_.end()) {
    return;
  }
  context_.loop.cancel(found->second.timer);
  const auto node = found->second.node;
  const bool registered = found->second.registered;
  machine_by_node_.erase(node);
  machines_.erase(found);
  if (registered && running_) {
    await_contact(node);
  }
}

void Kubelet::await_contact(const std::string& node) {
  silences_[node] = context_.loop.after(options_.unreachable_after, [this, node] {
    silences_.erase(node);
    lose_contact(node);
  });
}

void Kubelet::lose_contact(const std::string& node) {
  if (machine_of(node) != nullptr) {
    return;  // another machine took the name
  }
  const auto now = context_.registry.now_text();
  edit(context_, model::kNodeResource, {{}, node}, Part::Status, [&](Json& json) {
    for (const auto* type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}) {
      set_condition(json, type, "Unknown", "NodeStatusUnknown",
                    "Kubelet stopped posting node status.", now);
    }
  });
  // Its pods cannot report either: they count as not ready.
  std::vector<model::ObjectKey> lost;
  for (const auto* entry : context_.index.pods_on(node)) {
    lost.push_back(model::key_of(entry->pod->meta));
  }
  for (const auto& pod : lost) {
    edit(context_, model::kPodResource, pod, Part::Status,
         [&](Json& json) { set_condition(json, "Ready", "False", "NodeNotReady", "", now); });
  }
  silences_[node] = context_.loop.after(options_.forgotten_after, [this, node] {
    silences_.erase(node);
    if (machine_of(node) == nullptr) {
      remove(context_, model::kNodeResource, {{}, node});
    }
  });
}

const Kubelet::Machine* Kubelet::machine_of(std::string_view node) const {
  const auto id = machine_by_node_.find(node);
  return id == machine_by_node_.end() ? nullptr : &machines_.at(id->second);
}

Json Kubelet::node_object(const Machine& machine) const {
  const auto& instance = machine.instance;
  const auto now = context_.registry.now_text();
  const auto registration =
      cloud::kubelet_registration(instance, machine.claim.get(), machine.node);
  const auto& labels = registration.labels;
  boost::json::array conditions;
  add_condition(conditions, "MemoryPressure", "False", "KubeletHasSufficientMemory",
                "kubelet has sufficient memory available", now);
  add_condition(conditions, "DiskPressure", "False", "KubeletHasNoDiskPressure",
                "kubelet has no disk pressure", now);
  add_condition(conditions, "PIDPressure", "False", "KubeletHasSufficientPID",
                "kubelet has sufficient PID available", now);
  add_condition(conditions, "Ready", "False", "KubeletNotReady",
                "container runtime network not ready", now);
  const auto address = fmt::format("10.{}.{}.{}", 1 + machine.number / 62500,
                                   machine.number / 250 % 250, machine.number % 250 + 1);
  return boost::json::object{
      {"metadata", boost::json::object{{"name", machine.node},
                                       {"labels", model::encode(labels)},
                                       {"annotations", model::encode(instance.annotations)}}},
      {"spec", boost::json::object{{"providerID", instance.provider_id},
                                   {"taints", model::encode(registration.taints)}}},
      {"status", boost::json::object{
                     {"capacity", model::encode(instance.capacity)},
                     {"allocatable", model::encode(instance.allocatable)},
                     {"conditions", std::move(conditions)},
                     {"addresses",
                      boost::json::array{
                          boost::json::object{{"type", "InternalIP"}, {"address", address}},
                          boost::json::object{{"type", "Hostname"}, {"address", machine.node}}}},
                     {"nodeInfo",
                      boost::json::object{{"kubeletVersion", "v1.32.4-sandbox"},
                                          {"kubeProxyVersion", ""},
                                          {"osImage", "Millwright sandbox"},
                                          {"kernelVersion", "none"},
                                          {"containerRuntimeVersion", "none"},
                                          {"operatingSystem", labels.find(model::kOsLabel)->second},
                                          {"architecture", labels.find(model::kArchLabel)->second},
                                          {"machineID", ""},
                                          {"systemUUID", ""},
                                          {"bootID", ""}}}}}};
}

void Kubelet::register_node(const std::string& provider_id) {
  auto& machine = machines_.at(provider_id);
  if (!running_) {
    return;
  }
  machine.registered = true;
  machine_by_node_[machine.node] = provider_id;
  if (const auto silence = silences_.find(machine.node); silence != silences_.end()) {
    context_.loop.cancel(silence->second);
    silences_.erase(silence);
  }
  Json node = node_object(machine);
  if (options_.on_register) {
    options_.on_register(node);
  }
  add(context_, model::kNodeResource, std::move(node));
  write_lease(machine.node, true);
  machine.timer =
      context_.loop.after(options_.ready_after, [this, provider_id] { report_ready(provider_id); });
}

void Kubelet::report_ready(const std::string& provider_id) {
  auto& machine = machines_.at(provider_id);
  register_drivers(machine.node);
  const auto now = context_.registry.now_text();
  const bool present =
      edit(context_, model::kNodeResource, {{}, machine.node}, Part::Status, [&](Json& json) {
        set_condition(json, "Ready", "True", "KubeletReady", "kubelet is posting ready status",
                      now);
      });
  if (present) {
    const auto object = context_.store().find(info_of(model::kNodeResource), {{}, machine.node});
    context_.events.write(*object, "kubelet", "Normal", "NodeReady",
                          fmt::format("Node {} status is now: NodeReady", machine.node));
  }
  heartbeat(provider_id);
}

void Kubelet::register_drivers(const std::string& node) {
  const auto found = context_.index.nodes().find(node);
  if (options_.volume_limits.empty() || found == context_.index.nodes().end()) {
    return;
  }
  boost::json::array drivers;
  for (const auto& [name, count] : options_.volume_limits) {
    drivers.push_back(boost::json::object{
        {"name", name}, {"nodeID", node}, {"allocatable", boost::json::object{{"count", count}}}});
  }
  add(context_, model::kCSINodeResource,
      boost::json::object{
          {"metadata", boost::json::object{{"name", node},
                                           {"ownerReferences",
                                            boost::json::array{node_owner(*found->second)}}}},
          {"spec", boost::json::object{{"drivers", std::move(drivers)}}}});
}

void Kubelet::heartbeat(const std::string& provider_id) {
  auto& machine = machines_.at(provider_id);
  write_lease(machine.node, false);
  machine.timer =
      context_.loop.after(options_.lease_interval, [this, provider_id] { heartbeat(provider_id); });
}

void Kubelet::write_lease(const std::string& node, bool create) {
  const auto found = context_.index.nodes().find(node);
  if (found == context_.index.nodes().end()) {
    return;  // deleted by somebody: a kubelet does not come back by itself
  }
  const auto now = base::format_rfc3339_micro(context_.now());
  const model::ObjectKey key{std::string(kLeaseNamespace), node};
  if (!create) {
    edit(context_, model::kLeaseResource, key, Part::Main,
         [&](Json& json) { make(json, "spec.renewTime") = now; });
    return;
  }
  add(context_, model::kLeaseResource,
      boost::json::object{
          {"metadata", boost::json::object{{"name", node},
                                           {"namespace", kLeaseNamespace},
                                           {"ownerReferences",
                                            boost::json::array{node_owner(*found->second)}}}},
          {"spec",
           boost::json::object{
               {"holderIdentity", node}, {"leaseDurationSeconds", 40}, {"renewTime", now}}}});
}

}  // namespace millwright::sandbox

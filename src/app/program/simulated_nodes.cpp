#include "app/program/simulated_nodes.hpp"

#include "millwright/model/codec.hpp"
#include "millwright/model/labels.hpp"

#include <boost/json.hpp>

namespace millwright::app {
namespace {

namespace json = boost::json;

constexpr auto kRetry = std::chrono::seconds(1);

bool belongs_to(const json::value& node, std::string_view provider_id) {
  return model::text_at(node, "spec.providerID") == provider_id;
}

}  // namespace

json::value SimulatedNodes::node_object(const Machine& machine) {
  const auto& instance = machine.instance;
  auto [labels, taints] =
      cloud::kubelet_registration(instance, machine.claim.get(), machine.node_name);
  labels[std::string(kKwokNodeLabel)] = "fake";
  auto annotations = instance.annotations;
  annotations[std::string(kKwokNodeLabel)] = "fake";
  return json::object{
      {"apiVersion", model::kNodeResource.api_version()},
      {"kind", model::kNodeResource.kind},
      {"metadata", json::object{{"name", machine.node_name},
                                {"labels", model::encode(labels)},
                                {"annotations", model::encode(annotations)}}},
      {"spec",
       json::object{{"providerID", instance.provider_id}, {"taints", model::encode(taints)}}},
      {"status", json::object{{"capacity", model::encode(instance.capacity)},
                              {"allocatable", model::encode(instance.allocatable)}}}};
}

SimulatedNodes::SimulatedNodes(kube::Client& client, base::Logger log)
    : client_(client), log_(std::move(log)), group_(client.loop()) {}

SimulatedNodes::~SimulatedNodes() {
  for (const auto& [id, timer] : boots_) {
    client_.loop().cancel(timer);
  }
}

void SimulatedNodes::launched(const cloud::Instance& instance,
                              std::shared_ptr<const model::NodeClaim> claim,
                              base::Duration boot_latency) {
  const std::string id = instance.provider_id;
  machines_[id] = {
      .instance = instance,
      .claim = std::move(claim),
      .node_name = instance.node_name.empty() ? instance.node_claim : instance.node_name};
  boots_[id] = client_.loop().after(boot_latency, [this, id] {
    boots_.erase(id);
    group_.spawn(register_node(id));
  });
}

void SimulatedNodes::terminating(const std::string&) {
  // The machine still runs; whoever asked for its end drains it.
}

void SimulatedNodes::terminated(const std::string& provider_id) {
  const auto found = machines_.find(provider_id);
  if (found == machines_.end()) {
    return;
  }
  const std::string node = found->second.node_name;
  machines_.erase(found);
  if (const auto boot = boots_.find(provider_id); boot != boots_.end()) {
    client_.loop().cancel(boot->second);
    boots_.erase(boot);
    return;
  }
  group_.spawn(remove_node(provider_id, node));
}

base::Task<void> SimulatedNodes::stop() {
  group_.request_stop();
  return group_.join();
}

// Tries until it is there or the machine is gone, as a kubelet does.
base::Task<void> SimulatedNodes::register_node(std::string provider_id) {
  const std::stop_token stop = group_.stop_token();
  for (auto machine = machines_.find(provider_id); machine != machines_.end();
       machine = machines_.find(provider_id)) {
    const std::string name = machine->second.node_name;
    json::value node = node_object(machine->second);
    auto created = co_await client_.create(model::kNodeResource, std::move(node), stop);
    if (created) {
      if (!machines_.contains(provider_id)) {  // it ended meanwhile
        co_await remove_node(provider_id, name);
      }
      co_return;
    }
    if (created.error().kind == base::ErrorKind::Exists) {
      const model::ObjectKey key{.namespace_ = {}, .name = name};
      auto present = co_await client_.get(model::kNodeResource, key, stop);
      if (present && belongs_to(*present, provider_id)) {
        co_return;
      }
    }
    log_.warn("registering a simulated instance's Node failed, will try again",
              {{"Node", name}, {"error", created.error().message}});
    const bool slept = co_await base::sleep(client_.loop(), kRetry, stop);
    if (!slept) {
      co_return;
    }
  }
}

base::Task<void> SimulatedNodes::remove_node(std::string provider_id, std::string node) {
  const std::stop_token stop = group_.stop_token();
  const model::ObjectKey key{.namespace_ = {}, .name = node};
  while (!stop.stop_requested()) {
    auto present = co_await client_.get(model::kNodeResource, key, stop);
    if (present && !belongs_to(*present, provider_id)) {
      co_return;  // another machine took the name
    }
    base::Result<json::value> removed = present;
    if (present) {
      const auto meta = model::decode_meta(*present);
      kube::DeleteOptions options;
      options.uid = meta ? meta->uid : std::string();
      removed = co_await client_.remove(model::kNodeResource, key, options, stop);
    }
    if (removed || removed.error().kind == base::ErrorKind::NotFound) {
      co_return;
    }
    log_.warn("deleting the Node of an ended simulated instance failed, will try again",
              {{"Node", node}, {"error", removed.error().message}});
    co_await base::sleep(client_.loop(), kRetry, stop);
  }
}

}  // namespace millwright::app

// What watch streams told, by object uid.
#include "millwright/sandbox/recorder.hpp"

#include "millwright/model/codec.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <utility>

namespace millwright::sandbox {
namespace {

bool runs(const model::Pod& pod) {
  return pod.status.phase == "Running" && model::is_true(pod.status.conditions, "Ready");
}

bool has_disrupted_taint(const model::Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(),
                     [](const auto& taint) { return taint.key == model::kDisruptedTaint; });
}

void note(std::optional<base::TimePoint>& slot, bool happened, base::TimePoint when) {
  if (happened && !slot) {
    slot = when;
  }
}

std::string state_of(const model::Node& node) {
  if (node.meta.is_deleting() || has_disrupted_taint(node)) {
    return "Draining";
  }
  if (!model::is_ready(node)) {
    return node.meta.label(model::kInitializedLabel).empty() ? "Starting" : "NotReady";
  }
  return "Ready";
}

}  // namespace

struct Recorder::Impl {
  Impl(ApiServer& s, PriceLookup p) : server(s), price(std::move(p)) {}

  template <class T>
  void follow(const model::Resource& resource,
              void (Impl::*take)(std::shared_ptr<const T>, const Event&)) {
    subscriptions.push_back(server.watch(resource, [this, take](const Event& event) {
      auto decoded = model::decode<T>(*event.object);
      if (decoded) {
        (this->*take)(std::make_shared<const T>(*std::move(decoded)), event);
      }
      // By index: a callback may add callbacks.
      for (std::size_t i = 0; i < callbacks.size(); ++i) {
        callbacks[i]();
      }
    }));
  }

  void take_pod(std::shared_ptr<const model::Pod> pod, const Event& event) {
    auto [entry, added] = pods.try_emplace(pod->meta.uid);
    PodRecord& record = entry->second;
    if (added) {
      record.created = event.time;
    }
    if (!record.bound && !pod->spec.node_name.empty()) {
      record.bound = event.time;
      if (!model::is_owned_by_daemonset(*pod)) {
        if (auto* node = node_named(pod->spec.node_name)) {
          ++node->pods_ever;
        }
      }
    }
    note(record.running, runs(*pod), event.time);
    if (!record.deleting && pod->meta.is_deleting()) {
      record.deleting = event.time;
      note_drain(*pod, event.time);
    }
    note(record.gone, event.change == Change::Deleted || model::is_terminal(*pod), event.time);
    record.last = std::move(pod);
  }

  void note_drain(const model::Pod& pod, base::TimePoint when) {
    auto* node = pod.spec.node_name.empty() || model::is_owned_by_daemonset(pod)
                     ? nullptr
                     : node_named(pod.spec.node_name);
    if (node != nullptr) {
      note(node->drained_from, node->disrupted.has_value(), when);
    }
  }

  void take_node(std::shared_ptr<const model::Node> node, const Event& event) {
    auto [entry, added] = nodes.try_emplace(node->meta.uid);
    NodeHistory& history = entry->second;
    if (added) {
      history.created = event.time;
      node_uids[node->meta.name] = node->meta.uid;
    }
    note(history.ready, model::is_ready(*node), event.time);
    note(history.disrupted, has_disrupted_taint(*node), event.time);
    note(history.deleting, node->meta.is_deleting(), event.time);
    note(history.gone, event.change == Change::Deleted, event.time);
    history.last = std::move(node);
  }

  void take_claim(std::shared_ptr<const model::NodeClaim> claim, const Event& event) {
    auto [entry, added] = claims.try_emplace(claim->meta.uid);
    ClaimRecord& record = entry->second;
    if (added) {
      record.created = event.time;
    }
    note(record.launched, model::is_true(claim->conditions, model::kLaunched), event.time);
    note(record.deleting, claim->meta.is_deleting(), event.time);
    note(record.gone, event.change == Change::Deleted, event.time);
    record.last = std::move(claim);
  }

  // The newest node of that name.
  NodeHistory* node_named(const std::string& name) {
    const auto uid = node_uids.find(name);
    const auto found = uid == node_uids.end() ? nodes.end() : nodes.find(uid->second);
    return found == nodes.end() ? nullptr : &found->second;
  }

  NodeView view_of(const NodeHistory& history, base::TimePoint now) const {
    const model::Node& node = *history.last;
    NodeView view{.name = node.meta.name,
                  .node_pool = node.meta.label(model::kNodePoolLabel),
                  .instance_type = node.meta.label(model::kInstanceTypeLabel),
                  .zone = node.meta.label(model::kZoneLabel),
                  .capacity_type = node.meta.label(model::kCapacityTypeLabel),
                  .state = state_of(node),
                  .cpu = model::get(node.capacity, model::kCpu).as_double(),
                  .age = now - history.created};
    if (price) {
      view.price = price(node.meta.labels);
    }
    return view;
  }

  ApiServer& server;
  PriceLookup price;
  std::map<std::string, PodRecord> pods;
  std::map<std::string, NodeHistory> nodes;
  std::map<std::string, ClaimRecord> claims;
  std::map<std::string, std::string, std::less<>> node_uids;  // by name
  std::vector<std::function<void()>> callbacks;
  std::vector<ApiServer::Subscription> subscriptions;
};

Recorder::Recorder(ApiServer& server, PriceLookup price)
    : impl_(std::make_unique<Impl>(server, std::move(price))) {
  // Nodes first: a pod counts on the node it is bound to.
  impl_->follow<model::Node>(model::kNodeResource, &Impl::take_node);
  impl_->follow<model::NodeClaim>(model::kNodeClaimResource, &Impl::take_claim);
  impl_->follow<model::Pod>(model::kPodResource, &Impl::take_pod);
}

Recorder::~Recorder() = default;

const std::map<std::string, PodRecord>& Recorder::pods() const {
  return impl_->pods;
}
const std::map<std::string, NodeHistory>& Recorder::nodes() const {
  return impl_->nodes;
}
const std::map<std::string, ClaimRecord>& Recorder::claims() const {
  return impl_->claims;
}

void Recorder::on_change(std::function<void()> callback) {
  impl_->callbacks.push_back(std::move(callback));
}

LiveView Recorder::view() const {
  LiveView view;
  view.now = impl_->server.loop().now();
  std::map<std::string, NodeView> nodes;
  for (const auto& [uid, history] : impl_->nodes) {
    if (!history.gone) {
      nodes[history.last->meta.name] = impl_->view_of(history, view.now);
    }
  }
  for (const auto& [uid, record] : impl_->pods) {
    if (record.gone) {
      continue;
    }
    const auto node = nodes.find(record.last->spec.node_name);
    if (node != nodes.end()) {
      ++node->second.pods;
      const auto requests = scheduling::effective_requests(*record.last);
      node->second.cpu_requested += model::get(requests, model::kCpu).as_double();
    }
    if (record.deleting) {
      ++view.pods_ending;
    } else if (record.running) {
      ++view.pods_running;
    } else {
      ++view.pods_pending;
    }
  }
  for (const auto& [uid, record] : impl_->claims) {
    view.claims_without_node += !record.gone && record.last->node_name.empty() ? 1U : 0U;
  }
  for (auto& [name, node] : nodes) {
    view.price_per_hour += node.price.value_or(0);
    view.nodes.push_back(std::move(node));
  }
  return view;
}

}  // namespace millwright::sandbox

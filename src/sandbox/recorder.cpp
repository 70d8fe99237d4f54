#include "millwright/sandbox/recorder.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::sandbox {

namespace {

bool has_taint(const model::Node& node, std::string_view key) {
  return std::any_of(node.taints.begin(), node.taints.end(),
                     [&](const model::Taint& taint) { return taint.key == key; });
}

void note(std::optional<base::TimePoint>& slot, bool holds, base::TimePoint time) {
  if (holds && !slot) {
    slot = time;
  }
}

// What etcd has forgotten, or never knew, and what comes back with a backup of it.
template <class Record>
void begin_anew(Record& record, const Event& event) {
  if (event.change == Change::Added && record.gone) {
    Record anew;
    anew.last = std::move(record.last);
    anew.created = record.created;
    record = std::move(anew);
  }
}

std::string label_of(const model::Node& node, std::string_view key) {
  return node.meta.label(key);
}

std::string state_of(const NodeHistory& history) {
  const auto& node = *history.last;
  if (node.meta.is_deleting() || has_taint(node, model::kDisruptedTaint)) {
    return "Draining";
  }
  if (model::is_ready(node)) {
    return has_taint(node, model::kUnregisteredTaint) ? "Starting" : "Ready";
  }
  return history.ready ? "NotReady" : "Starting";
}

}  // namespace

struct Recorder::Impl {
  base::Loop& loop;
  PriceLookup price;
  std::map<std::string, PodRecord> pods;
  std::map<std::string, NodeHistory> nodes;
  std::map<std::string, ClaimRecord> claims;
  std::map<std::string, std::string, std::less<>> live_node_uid;  // by name
  std::vector<std::function<void()>> callbacks;
  std::vector<ApiServer::Subscription> subscriptions;

  NodeHistory* node_named(const std::string& name) {
    const auto uid = live_node_uid.find(name);
    return uid == live_node_uid.end() ? nullptr : &nodes.at(uid->second);
  }

  void take_in_pod(const Event& event) {
    auto decoded = model::decode<model::Pod>(*event.object);
    if (!decoded) {
      return;
    }
    auto pod = std::make_shared<const model::Pod>(*std::move(decoded));
    auto& record = pods[pod->meta.uid];
    begin_anew(record, event);
    if (record.last == nullptr) {
      record.created = event.time;
    }
    const bool is_daemon = model::is_owned_by_daemonset(*pod);
    auto* node = node_named(pod->spec.node_name);
    if (!record.bound && !pod->spec.node_name.empty()) {
      record.bound = event.time;
      if (node != nullptr && !is_daemon) {
        ++node->pods_ever;
      }
    }
    const bool deleted = event.change == Change::Deleted;
    if (!record.deleting && (pod->meta.is_deleting() || deleted) && node != nullptr && !is_daemon &&
        node->disrupted) {
      note(node->drained_from, true, event.time);
    }
    note(record.running,
         pod->status.phase == "Running" && model::is_true(pod->status.conditions, "Ready"),
         event.time);
    note(record.deleting, pod->meta.is_deleting() || deleted, event.time);
    note(record.gone, deleted || model::is_terminal(*pod), event.time);
    record.last = std::move(pod);
  }

  void take_in_node(const Event& event) {
    auto decoded = model::decode<model::Node>(*event.object);
    if (!decoded) {
      return;
    }
    auto node = std::make_shared<const model::Node>(*std::move(decoded));
    auto& record = nodes[node->meta.uid];
    begin_anew(record, event);
    if (record.last == nullptr) {
      record.created = event.time;
    }
    const bool deleted = event.change == Change::Deleted;
    note(record.ready, model::is_ready(*node), event.time);
    note(record.disrupted, has_taint(*node, model::kDisruptedTaint), event.time);
    note(record.deleting, node->meta.is_deleting() || deleted, event.time);
    note(record.gone, deleted, event.time);
    if (deleted) {
      live_node_uid.erase(node->meta.name);
    } else {
      live_node_uid[node->meta.name] = node->meta.uid;
    }
    record.last = std::move(node);
  }

  void take_in_claim(const Event& event) {
    auto decoded = model::decode<model::NodeClaim>(*event.object);
    if (!decoded) {
      return;
    }
    auto claim = std::make_shared<const model::NodeClaim>(*std::move(decoded));
    auto& record = claims[claim->meta.uid];
    begin_anew(record, event);
    if (record.last == nullptr) {
      record.created = event.time;
    }
    const bool deleted = event.change == Change::Deleted;
    note(record.launched, model::is_true(claim->conditions, model::kLaunched), event.time);
    note(record.deleting, claim->meta.is_deleting() || deleted, event.time);
    note(record.gone, deleted, event.time);
    record.last = std::move(claim);
  }

  void take_in(const model::Resource& resource, const Event& event) {
    if (resource == model::kNodeResource) {
      take_in_node(event);
    } else if (resource == model::kNodeClaimResource) {
      take_in_claim(event);
    } else if (resource == model::kPodResource) {
      take_in_pod(event);
    } else {
      return;
    }
    for (const auto& callback : callbacks) {
      callback();
    }
  }
};

Recorder::Recorder(base::Loop& loop, PriceLookup price)
    : impl_(std::make_unique<Impl>(Impl{loop, std::move(price), {}, {}, {}, {}, {}, {}})) {}

Recorder::Recorder(ApiServer& server, PriceLookup price)
    : Recorder(server.loop(), std::move(price)) {
  for (const auto& resource :
       {model::kNodeResource, model::kNodeClaimResource, model::kPodResource}) {
    impl_->subscriptions.push_back(
        server.watch(resource, [this, resource](const Event& event) { take_in(resource, event); }));
  }
}

void Recorder::take_in(const model::Resource& resource, const Event& event) {
  impl_->take_in(resource, event);
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
  view.now = impl_->loop.now();
  std::map<std::string, NodeView, std::less<>> by_name;
  for (const auto& [name, uid] : impl_->live_node_uid) {
    const auto& history = impl_->nodes.at(uid);
    const auto& node = *history.last;
    NodeView row;
    row.name = name;
    row.node_pool = label_of(node, model::kNodePoolLabel);
    row.instance_type = label_of(node, model::kInstanceTypeLabel);
    row.zone = label_of(node, model::kZoneLabel);
    row.capacity_type = label_of(node, model::kCapacityTypeLabel);
    row.state = state_of(history);
    row.cpu = model::get(node.capacity, model::kCpu).as_double();
    row.age = view.now - history.created;
    row.price = impl_->price ? impl_->price(node.meta.labels) : std::nullopt;
    view.price_per_hour += row.price.value_or(0);
    by_name.emplace(name, std::move(row));
  }
  for (const auto& [uid, record] : impl_->pods) {
    if (record.gone) {
      continue;
    }
    const auto& pod = *record.last;
    if (pod.meta.is_deleting()) {
      ++view.pods_ending;
    } else if (record.running) {
      ++view.pods_running;
    } else {
      ++view.pods_pending;
    }
    if (const auto row = by_name.find(pod.spec.node_name); row != by_name.end()) {
      ++row->second.pods;
      for (const auto& container : pod.spec.containers) {
        row->second.cpu_requested += model::get(container.requests, model::kCpu).as_double();
      }
    }
  }
  for (const auto& [uid, record] : impl_->claims) {
    view.claims_without_node += !record.gone && record.last->node_name.empty() ? 1 : 0;
  }
  for (auto& [name, row] : by_name) {
    view.nodes.push_back(std::move(row));
  }
  return view;
}

}  // namespace millwright::sandbox

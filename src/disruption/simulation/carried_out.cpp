#include "disruption/simulation/carried_out.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace millwright::disruption {
namespace {

// "~0017-0003": no name of a Kubernetes object begins like that, and none sorts behind it.
std::string name_of_new(std::uint64_t generation, std::size_t index) {
  const auto padded = [](std::uint64_t number) {
    constexpr std::size_t kDigits = 20;
    auto text = std::to_string(number);
    return std::string(kDigits - std::min(text.size(), kDigits), '0') + text;
  };
  return "~" + padded(generation) + "-" + padded(index);
}

void pin_label(model::StringMap& labels, std::string_view key,
               const scheduling::Requirements& from) {
  const auto* requirement = from.find(key);
  if (requirement != nullptr && !requirement->is_complement() && !requirement->values().empty()) {
    labels[std::string(key)] = requirement->values().front();
  }
}

model::StringMap labels_of_new(const scheduling::PlannedClaim& planned,
                               const scheduling::InstanceType& type, const std::string& name) {
  auto labels = planned.labels;
  for (const auto key : {model::kArchLabel, model::kOsLabel}) {
    pin_label(labels, key, type.requirements);
  }
  if (const auto* offering = scheduling::cheapest_offering(type, planned.requirements)) {
    for (const auto key : {model::kZoneLabel, model::kCapacityTypeLabel}) {
      pin_label(labels, key, offering->requirements);
    }
  }
  labels[std::string(model::kInstanceTypeLabel)] = type.name;
  labels[std::string(model::kNodePoolLabel)] = planned.node_pool;
  labels[std::string(model::kHostnameLabel)] = name;
  return labels;
}

class AfterCommand {
 public:
  AfterCommand(const Survey& survey, const Command& command)
      : survey_(survey),
        command_(command),
        snapshot_(std::make_shared<scheduling::Snapshot>(*survey.input().snapshot)) {
    ++snapshot_->generation;
    buy();
    for (std::size_t i = 0; i < snapshot_->nodes.size(); ++i) {
      index_.emplace(snapshot_->nodes[i]->name(), i);
    }
    for (const auto& placement : command.placements) {
      const auto* index = std::get_if<std::size_t>(&placement.target);
      targets_.emplace(placement.pod_uid,
                       index != nullptr
                           ? new_names_[*index]
                           : std::string_view(std::get<std::string>(placement.target)));
    }
    move_pods();
    remove_nodes();
  }

  Input input() && {
    auto input = survey_.input();
    input.method_done = {};
    for (auto& room : input.virtual_pods) {
      if (const auto found = targets_.find(room.pod->meta.uid); found != targets_.end()) {
        room.target = found->second;
      }
    }
    input.snapshot = std::move(snapshot_);
    return input;
  }

 private:
  void buy() {
    std::size_t index = 0;
    for (const auto& planned : command_.replacements) {
      new_names_.push_back(name_of_new(snapshot_->generation, index++));
      snapshot_->nodes.push_back(new_node(planned, new_names_.back()));
    }
  }

  // Initialised, and without any pod but those of DaemonSets.
  scheduling::NodeRecordPtr new_node(const scheduling::PlannedClaim& planned,
                                     const std::string& name) const {
    const auto pool = survey_.pools().find(planned.node_pool);
    const auto* type = scheduling::find_type(
        survey_.input().catalog.find(planned.node_pool)->second, planned.instance_types.front());
    auto claim = std::make_shared<model::NodeClaim>(scheduling::to_node_claim(planned, *pool));
    claim->meta.name = name;
    claim->meta.uid = name;
    claim->meta.labels = labels_of_new(planned, *type, name);
    claim->provider_id = name;
    claim->node_name = name;
    for (const auto condition : {model::kLaunched, model::kRegistered, model::kInitialized}) {
      claim->conditions.push_back({.type = std::string(condition),
                                   .status = model::ConditionStatus::True,
                                   .last_transition_time = base::TimePoint()});
    }
    claim->capacity = type->capacity;
    claim->allocatable = type->allocatable();

    auto node = std::make_shared<model::Node>();
    node->meta.name = name;
    node->meta.uid = name;
    node->meta.labels = claim->meta.labels;
    node->meta.labels[std::string(model::kRegisteredLabel)] = "true";
    node->meta.labels[std::string(model::kInitializedLabel)] = "true";
    node->provider_id = name;
    node->taints = claim->taints;
    node->capacity = claim->capacity;
    node->allocatable = claim->allocatable;
    node->conditions = {{.type = "Ready", .status = model::ConditionStatus::True}};

    auto record = std::make_shared<scheduling::NodeRecord>();
    record->node = std::move(node);
    record->claim = std::move(claim);
    record->daemon_requests = daemon_requests(planned);
    record->pod_requests = record->daemon_requests;
    return record;
  }

  // What the claim asks for beside its pods.
  model::ResourceList daemon_requests(const scheduling::PlannedClaim& planned) const {
    const std::set<std::string_view> uids(planned.pod_uids.begin(), planned.pod_uids.end());
    auto rest = planned.requests;
    for (const auto& name : command_.claims) {
      const auto* candidate = survey_.find(name);
      for (const auto* pods : {&candidate->pods(), &candidate->virtual_pods}) {
        for (const auto& pod : *pods) {
          if (uids.contains(pod->meta.uid)) {
            model::subtract_from(rest, scheduling::effective_requests(*pod));
          }
        }
      }
    }
    return rest;
  }

  void move_pods() {
    std::map<std::size_t, std::vector<scheduling::PodPtr>> arrivals;
    for (const auto& name : command_.claims) {
      for (const auto& pod : survey_.find(name)->pods()) {
        const auto target = targets_.find(pod->meta.uid);
        if (target == targets_.end()) {
          continue;
        }
        auto moved = std::make_shared<model::Pod>(*pod);
        moved->spec.node_name = target->second;
        arrivals[index_.at(target->second)].push_back(std::move(moved));
      }
    }
    for (auto& [index, pods] : arrivals) {
      auto record = std::make_shared<scheduling::NodeRecord>(*snapshot_->nodes[index]);
      for (auto& pod : pods) {
        model::add_to(record->pod_requests, scheduling::effective_requests(*pod));
        record->pods.push_back(std::move(pod));
      }
      std::sort(record->pods.begin(), record->pods.end(),
                [](const auto& a, const auto& b) { return a->meta.uid < b->meta.uid; });
      snapshot_->nodes[index] = std::move(record);
    }
  }

  void remove_nodes() {
    const std::set<std::string_view> going(command_.claims.begin(), command_.claims.end());
    std::erase_if(snapshot_->nodes,
                  [&](const auto& record) { return going.contains(record->claim_name()); });
  }

  const Survey& survey_;
  const Command& command_;
  std::shared_ptr<scheduling::Snapshot> snapshot_;
  std::vector<std::string> new_names_;
  std::map<std::string_view, std::size_t> index_;         // of nodes, by name
  std::map<std::string_view, std::string_view> targets_;  // names of nodes, by pod uid
};

}  // namespace

Input carried_out(const Survey& survey, const Command& command) {
  return AfterCommand(survey, command).input();
}

}  // namespace millwright::disruption

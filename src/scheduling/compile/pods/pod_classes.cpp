#include "scheduling/compile/pods/pod_classes.hpp"

#include "scheduling/compile/pods/pod_fingerprint.hpp"
#include "scheduling/compile/pods/uid_keys.hpp"
#include "scheduling/compile/pods/unsupported.hpp"
#include "scheduling/compile/pods/volumes.hpp"
#include "scheduling/compile/topology/topology_roles.hpp"
#include "scheduling/values/signature.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace millwright::scheduling {

bool is_soft(const model::Taint& taint) {
  return taint.effect == "PreferNoSchedule";
}

namespace {

bool has_soft_taints(const Problem& problem) {
  const auto any_soft = [](const auto& taints) {
    return std::any_of(taints.begin(), taints.end(), is_soft);
  };
  return std::any_of(problem.pools.begin(), problem.pools.end(),
                     [&](const PoolOption& option) {
                       return option.pool->template_.taints &&
                              any_soft(*option.pool->template_.taints);
                     }) ||
         std::any_of(problem.nodes.begin(), problem.nodes.end(), [&](const NodeRecordPtr& node) {
           return (node->node && any_soft(node->node->taints)) ||
                  (node->claim && any_soft(node->claim->taints));
         });
}

// What a pod's surroundings add to its own constraints.
struct Circumstances {
  VolumeNeeds volumes;
  std::string signature;  // empty when there is nothing
};

class Classifier {
 public:
  Classifier(const Problem& problem, const std::vector<DaemonPod>& daemons)
      : problem_(problem), daemons_(daemons), roles_(problem), volumes_(problem.cluster.get()) {
    result_.soft_taints = has_soft_taints(problem);
  }

  PodClasses run() {
    std::unordered_set<std::string_view> seen;
    seen.reserve(problem_.pods.size());
    std::vector<const model::Pod*> pods;
    pods.reserve(problem_.pods.size());
    for (const auto& pod : problem_.pods) {
      if (pod->meta.uid.empty() || seen.insert(pod->meta.uid).second) {
        pods.push_back(pod.get());
      }
    }
    for (const auto* pod : pods) {
      specs_.push_back(spec_of(*pod));
    }
    look_up_volumes(pods);
    roles_.assign(pods, specs_);
    result_.topology = roles_.groups();
    for (std::size_t i = 0; i < pods.size(); ++i) {
      const std::uint32_t pod_class = class_of(i, *pods[i]);
      result_.pods.push_back({pods[i], pod_class, volumes_of(i)});
    }
    set_columns();
    add_shared_volumes();
    sort_pods();
    return std::move(result_);
  }

 private:
  void look_up_volumes(const std::vector<const model::Pod*>& pods) {
    for (std::size_t i = 0; i < pods.size(); ++i) {
      if (has_claims(pods[i]->spec)) {
        attached_.resize(pods.size());
        attached_[i] = volumes_.attached(*pods[i]);
      }
    }
    if (!attached_.empty()) {
      volumes_.note_users(counted_nodes(problem_), moving_pods(problem_));
    }
    limited_ = attached_.empty() ? Drivers() : limited_drivers(problem_);
    std::set<AttachedVolume> seen;
    for (const auto& volumes : attached_) {
      for (const AttachedVolume& volume : volumes) {
        if (limited_.contains(volume.driver) && !seen.insert(volume).second) {
          shared_.try_emplace(volume, static_cast<std::uint32_t>(shared_.size()));
        }
      }
    }
  }

  std::span<const AttachedVolume> attached(std::size_t index) const {
    return attached_.empty() ? std::span<const AttachedVolume>() : attached_[index];
  }

  std::uint32_t volumes_of(std::size_t index) {
    if (attached(index).empty()) {
      return 0;
    }
    result_.volumes.push_back(std::move(attached_[index]));
    return static_cast<std::uint32_t>(result_.volumes.size() - 1);
  }

  std::uint32_t class_of(std::size_t index, const model::Pod& pod) {
    const std::uint32_t constraint = constraint_of(index, pod);
    const std::uint32_t requests = requests_of(pod);
    const std::uint64_t key = (std::uint64_t{constraint} << 32) | requests;
    const auto [found, added] =
        classes_.try_emplace(key, static_cast<std::uint32_t>(result_.classes.size()));
    if (added) {
      result_.classes.push_back({constraint, request_lists_[requests], {}});
    }
    return found->second;
  }

  // Pods with the same say about nodes, found by hash among those seen before.
  std::uint32_t spec_of(const model::Pod& pod) {
    auto& bucket = specs_by_hash_[hash_constraints(pod.spec)];
    for (const auto& [example, id] : bucket) {
      if (same_constraints(example->spec, pod.spec)) {
        return id;
      }
    }
    bucket.emplace_back(&pod, spec_count_);
    return spec_count_++;
  }

  // Beyond its spec: what it is to others, and circumstances, which are compared by text.
  std::uint32_t constraint_of(std::size_t index, const model::Pod& pod) {
    const std::uint64_t key = (std::uint64_t{specs_[index]} << 32) | roles_.role_of(index);
    const Circumstances circumstances = circumstances_of(index, pod);
    auto& bucket = constraints_[key];
    for (const auto& [signature, id] : bucket) {
      if (signature == circumstances.signature) {
        return id;
      }
    }
    const auto id = static_cast<std::uint32_t>(result_.constraints.size());
    bucket.emplace_back(circumstances.signature, id);
    result_.constraints.push_back(make_constraint(pod, roles_.role(index), circumstances.volumes));
    count_volumes(result_.constraints.back(), attached(index));
    return id;
  }

  Constraint make_constraint(const model::Pod& pod, const TopologyRole& role,
                             const VolumeNeeds& volumes) {
    Constraint constraint;
    constraint.tolerations = pod.spec.tolerations;
    constraint.ports = HostPorts(pod.spec);
    constraint.counted = role.counted;
    constraint.repelling = role.repelling;
    constraint.carried = role.held.required_anti;
    if (Unsupported reason = unsupported(pod.spec); !reason.refusal.empty()) {
      constraint.refusal = std::move(reason.refusal);
      constraint.remedy = std::move(reason.remedy);
      return constraint;
    }
    if (!volumes.refusal.empty()) {
      constraint.refusal = volumes.refusal;
      constraint.remedy = volumes.remedy;
      return constraint;
    }
    Unsupported conflict;
    constraint.ladder = relaxation_ladder({.spec = pod.spec,
                                           .preferences = problem_.options.preferences,
                                           .volume_alternatives = volumes.alternatives,
                                           .topology = role.held,
                                           .has_soft_taints = result_.soft_taints},
                                          conflict);
    if (roles_.groups()) {
      sort_groups_by_key(constraint, roles_.groups()->groups());
    }
    if (constraint.ladder.empty()) {
      constraint.refusal = std::move(conflict.refusal);
      constraint.remedy = std::move(conflict.remedy);
    }
    for (Rung& rung : constraint.ladder) {
      rung.id = rung_id(rung.requirements);
    }
    return constraint;
  }

  void count_volumes(Constraint& constraint, std::span<const AttachedVolume> volumes) const {
    for (const AttachedVolume& volume : volumes) {
      if (const auto shared = shared_.find(volume); shared != shared_.end()) {
        constraint.shared.push_back({.id = shared->second, .driver = volume.driver});
      } else if (limited_.contains(volume.driver)) {
        ++constraint.volumes[volume.driver];
      }
    }
  }

  Circumstances circumstances_of(std::size_t index, const model::Pod& pod) const {
    Circumstances result;
    if (has_claims(pod.spec)) {
      result.volumes = volumes_.needs(pod);
      result.signature.append("\x1c").append(result.volumes.refusal);
      for (const Requirements& alternative : result.volumes.alternatives) {
        append_signature(result.signature.append("\x1c"), alternative);
      }
      // Pods of one class must be alike in how many volumes they bring, too, and share the same.
      for (const AttachedVolume& volume : attached(index)) {
        result.signature.append("\x1d").append(volume.driver);
        if (shared_.contains(volume)) {
          result.signature.append("\x1e").append(volume.claim.to_string());
        }
      }
    }
    return result;
  }

  std::uint32_t rung_id(const Requirements& requirements) {
    std::string signature;
    append_signature(signature, requirements);
    const auto [found, added] = rungs_.try_emplace(std::move(signature), result_.rung_count);
    if (added) {
      ++result_.rung_count;
    }
    return found->second;
  }

  std::uint32_t requests_of(const model::Pod& pod) {
    auto& bucket = requests_by_hash_[hash_requests(pod)];
    for (const auto& [example, id] : bucket) {
      if (same_requests(*example, pod)) {
        return id;
      }
    }
    model::ResourceList list = effective_requests(pod);
    const auto [found, added] =
        ids_by_requests_.try_emplace(list, static_cast<std::uint32_t>(request_lists_.size()));
    if (added) {
      request_lists_.push_back(std::move(list));
    }
    bucket.emplace_back(&pod, found->second);
    return found->second;
  }

  void set_columns() {
    std::set<std::string> names;
    const auto note = [&](const model::ResourceList& list) {
      for (const auto& [name, quantity] : list) {
        if (!quantity.is_zero()) {
          names.insert(name);
        }
      }
    };
    for (const PodClass& pod_class : result_.classes) {
      note(pod_class.request_list);
    }
    for (const DaemonPod& daemon : daemons_) {
      note(daemon.requests);
    }
    for (const Constraint& constraint : result_.constraints) {
      for (const auto& [driver, count] : constraint.volumes) {
        names.insert(volume_column_name(driver));
      }
      for (const SharedVolume& volume : constraint.shared) {
        names.insert(volume_column_name(volume.driver));
      }
    }
    result_.columns = Columns(names);
    for (PodClass& pod_class : result_.classes) {
      pod_class.requests = result_.columns.amounts(pod_class.request_list);
    }
    result_.volume_columns = volume_columns(result_.columns);
    for (const VolumeColumn& column : result_.volume_columns) {
      set_volumes(column);
    }
  }

  void set_volumes(const VolumeColumn& column) {
    for (Constraint& constraint : result_.constraints) {
      for (SharedVolume& volume : constraint.shared) {
        volume.column = volume.driver == column.driver ? column.column : volume.column;
      }
    }
    for (PodClass& pod_class : result_.classes) {
      const Constraint& constraint = result_.constraints[pod_class.constraint];
      if (const auto own = constraint.volumes.find(column.driver);
          own != constraint.volumes.end()) {
        pod_class.requests[column.column] = own->second * kOneVolume;
      }
    }
  }

  void add_shared_volumes() {
    for (PodClass& pod_class : result_.classes) {
      for (const SharedVolume& volume : result_.constraints[pod_class.constraint].shared) {
        if (pod_class.alone.empty()) {
          pod_class.alone = pod_class.requests;
        }
        pod_class.alone[volume.column] += kOneVolume;
      }
    }
  }

  void sort_pods() {
    const auto amount = [&](const PlannedPod& pod, std::string_view resource) {
      return model::get(result_.classes[pod.pod_class].request_list, resource).milli();
    };
    struct Keyed {
      std::int64_t cpu;
      std::int64_t memory;
      std::optional<base::TimePoint> created;
      std::uint64_t uid;  // some bytes of it, which nearly always decide
      PlannedPod pod;
    };
    const UidKeys uids(result_.pods);
    std::vector<Keyed> keyed;
    keyed.reserve(result_.pods.size());
    for (const PlannedPod& pod : result_.pods) {
      keyed.push_back({amount(pod, model::kCpu), amount(pod, model::kMemory),
                       pod.pod->meta.creation_timestamp, uids.of(pod), pod});
    }
    std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
      if (a.cpu != b.cpu) {
        return a.cpu > b.cpu;
      }
      if (a.memory != b.memory) {
        return a.memory > b.memory;
      }
      if (a.created != b.created) {
        return a.created < b.created;
      }
      if (a.uid != b.uid) {
        return a.uid < b.uid;
      }
      const auto& left = a.pod.pod->meta;
      const auto& right = b.pod.pod->meta;
      return std::tie(left.uid, left.namespace_, left.name) <
             std::tie(right.uid, right.namespace_, right.name);
    });
    std::transform(keyed.begin(), keyed.end(), result_.pods.begin(),
                   [](const Keyed& each) { return each.pod; });
  }

  const Problem& problem_;
  const std::vector<DaemonPod>& daemons_;
  TopologyRoles roles_;
  Volumes volumes_;
  std::vector<std::vector<AttachedVolume>> attached_;  // by pod; empty when no pod has claims
  Drivers limited_;                                    // of those pods
  std::map<AttachedVolume, std::uint32_t> shared_;     // used by several pods, and a number for it
  PodClasses result_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<const model::Pod*, std::uint32_t>>>
      specs_by_hash_;
  std::uint32_t spec_count_ = 0;
  std::vector<std::uint32_t> specs_;  // by pod
  // By spec and role; then by signature of the circumstances.
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::string, std::uint32_t>>>
      constraints_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<const model::Pod*, std::uint32_t>>>
      requests_by_hash_;
  std::map<model::ResourceList, std::uint32_t> ids_by_requests_;
  std::vector<model::ResourceList> request_lists_;
  std::unordered_map<std::uint64_t, std::uint32_t> classes_;
  std::map<std::string, std::uint32_t> rungs_;
};

}  // namespace

PodClasses classify(const Problem& problem, const std::vector<DaemonPod>& daemons) {
  return Classifier(problem, daemons).run();
}

}  // namespace millwright::scheduling

#include "checker/plan/kube_filters.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace millwright::checker {
namespace {

const std::string kHostname = "kubernetes.io/hostname";

const std::string* label(const Machine& machine, const std::string& key) {
  const auto found = machine.labels.find(key);
  return found == machine.labels.end() ? nullptr : &found->second;
}

bool blocks(const model::Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

// Invalid selectors match nothing.
bool selector_matches(const std::optional<model::LabelSelector>& selector,
                      const model::StringMap& labels) {
  if (!selector) {
    return false;
  }
  for (const auto& item : selector->match_expressions) {
    const bool needs_values = item.op == model::Operator::In || item.op == model::Operator::NotIn;
    const bool bare =
        item.op == model::Operator::Exists || item.op == model::Operator::DoesNotExist;
    if ((needs_values && item.values.empty()) || (bare && !item.values.empty()) ||
        (!needs_values && !bare)) {
      return false;
    }
  }
  return selector->matches(labels);
}

// Labels that a pod shares with another under every key that the pod has.
bool agree(const std::vector<std::string>& keys, const model::Pod& pod, const model::Pod& other,
           bool equal) {
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const auto own = pod.meta.labels.find(key);
    if (own == pod.meta.labels.end()) {
      return true;
    }
    const auto theirs = other.meta.labels.find(key);
    const bool same = theirs != other.meta.labels.end() && theirs->second == own->second;
    return same == equal;
  });
}

struct Port {
  int number;
  std::string protocol;
  std::string ip;
};

std::vector<Port> host_ports(const model::Pod& pod) {
  std::vector<Port> result;
  const auto add = [&result](const model::Container& container) {
    for (const auto& port : container.ports) {
      if (port.host_port != 0) {
        const bool any = port.host_ip.empty() || port.host_ip == "0.0.0.0" || port.host_ip == "::";
        result.push_back({port.host_port, port.protocol, any ? "" : port.host_ip});
      }
    }
  };
  std::for_each(pod.spec.containers.begin(), pod.spec.containers.end(), add);
  for (const auto& container : pod.spec.init_containers) {
    if (container.restart_always) {
      add(container);  // a sidecar
    }
  }
  return result;
}

}  // namespace

KubeFilters::KubeFilters(const scheduling::Snapshot* cluster) {
  if (cluster == nullptr) {
    return;
  }
  for (const auto& item : cluster->namespaces) {
    namespaces_[item->meta.name] = item->meta.labels;
  }
  for (const auto& item : cluster->volume_claims) {
    claims_[item->meta.namespace_ + "/" + item->meta.name] = item.get();
  }
  for (const auto& item : cluster->volumes) {
    volumes_[item->meta.name] = item.get();
  }
  for (const auto& item : cluster->storage_classes) {
    classes_[item->meta.name] = item.get();
  }
}

model::ResourceList KubeFilters::requests(const model::Pod& pod) {
  model::ResourceList running;
  for (const auto& container : pod.spec.containers) {
    model::add_to(running, container.requests);
  }
  model::ResourceList peak;
  model::ResourceList started;
  for (const auto& container : pod.spec.init_containers) {
    model::ResourceList now = started;
    model::add_to(now, container.requests);
    if (container.restart_always) {
      model::add_to(started, container.requests);
    }
    model::max_into(peak, now);
  }
  model::add_to(running, started);
  model::max_into(running, peak);
  model::add_to(running, pod.spec.overhead);
  running["pods"] = model::Quantity::from_milli(1000);
  return running;
}

bool KubeFilters::tolerates(const model::PodSpec& spec, const std::vector<model::Taint>& taints) {
  return std::all_of(taints.begin(), taints.end(), [&](const model::Taint& taint) {
    return !blocks(taint) || std::any_of(spec.tolerations.begin(), spec.tolerations.end(),
                                         [&](const auto& item) { return item.tolerates(taint); });
  });
}

bool KubeFilters::selects_node(const model::PodSpec& spec, const model::StringMap& labels,
                               const std::string& name) {
  for (const auto& [key, value] : spec.node_selector) {
    const auto found = labels.find(key);
    if (found == labels.end() || found->second != value) {
      return false;
    }
  }
  const auto& terms = spec.affinity.required_node_terms;
  return terms.empty() || std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
           return model::matches(term, labels, name);
         });
}

std::string KubeFilters::alone(const model::Pod& pod, const Machine& machine) const {
  if (!machine.accepts_pods) {
    return "the node takes no pods";
  }
  if (!tolerates(pod.spec, machine.taints)) {
    return "untolerated taint";
  }
  if (!selects_node(pod.spec, machine.labels, machine.name)) {
    return "node affinity";
  }
  if (auto reason = resources(pod, machine); !reason.empty()) {
    return reason;
  }
  if (auto reason = ports(pod, machine); !reason.empty()) {
    return reason;
  }
  return volumes(pod, machine);
}

std::string KubeFilters::resources(const model::Pod& pod, const Machine& machine) const {
  model::ResourceList total = requests(pod);
  for (const auto* other : machine.pods) {
    model::add_to(total, requests(*other));
  }
  const model::ResourceList wanted = requests(pod);
  for (const auto& [name, quantity] : wanted) {
    if (!quantity.is_zero() && model::get(machine.allocatable, name) < model::get(total, name)) {
      return "insufficient " + name;
    }
  }
  return {};
}

std::string KubeFilters::ports(const model::Pod& pod, const Machine& machine) const {
  for (const auto* other : machine.pods) {
    for (const Port& theirs : host_ports(*other)) {
      for (const Port& ours : host_ports(pod)) {
        if (ours.number == theirs.number && ours.protocol == theirs.protocol &&
            (ours.ip.empty() || theirs.ip.empty() || ours.ip == theirs.ip)) {
          return "host port " + std::to_string(ours.number) + " is taken";
        }
      }
    }
  }
  return {};
}

std::set<std::pair<std::string, std::string>> KubeFilters::attachments(
    const model::Pod& pod) const {
  std::set<std::pair<std::string, std::string>> result;
  for (const auto& volume : pod.spec.volumes) {
    const auto claim = claims_.find(pod.meta.namespace_ + "/" + volume.claim_name);
    if (volume.claim_name.empty() || claim == claims_.end()) {
      continue;
    }
    std::string driver;
    if (const auto pv = volumes_.find(claim->second->volume_name); pv != volumes_.end()) {
      driver = pv->second->csi_driver;
    } else if (const auto sc = classes_.find(claim->second->storage_class); sc != classes_.end()) {
      driver = sc->second->provisioner;
    }
    if (!driver.empty()) {
      result.emplace(driver, claim->first);
    }
  }
  return result;
}

std::string KubeFilters::volumes(const model::Pod& pod, const Machine& machine) const {
  for (const auto& volume : pod.spec.volumes) {
    if (volume.claim_name.empty()) {
      continue;
    }
    const auto claim = claims_.find(pod.meta.namespace_ + "/" + volume.claim_name);
    if (claim == claims_.end()) {
      return "its volume claim does not exist";
    }
    // A local volume's host may be gone; its pod is planned as if that did not matter.
    bool local = false;
    const std::vector<model::NodeSelectorTerm>* terms = nullptr;
    if (const auto pv = volumes_.find(claim->second->volume_name); pv != volumes_.end()) {
      terms = &pv->second->required_node_terms;
      local = pv->second->local_or_host_path;
    } else if (const auto sc = classes_.find(claim->second->storage_class); sc != classes_.end()) {
      terms = &sc->second->allowed_topologies;
    }
    if (terms != nullptr && !terms->empty() &&
        std::none_of(terms->begin(), terms->end(), [&](const auto& term) {
          return std::all_of(
              term.match_expressions.begin(), term.match_expressions.end(), [&](const auto& item) {
                return (local && item.key == kHostname) || model::matches(item, machine.labels);
              });
        })) {
      return "its volume cannot be reached";
    }
  }
  if (machine.volume_limits.empty()) {
    return {};
  }
  std::set<std::pair<std::string, std::string>> attached;
  for (const auto* other : machine.pods) {
    attached.merge(attachments(*other));
  }
  std::map<std::string, int> more;
  for (const auto& item : attachments(pod)) {
    more[item.first] += attached.contains(item) ? 0 : 1;
  }
  for (const auto& [driver, added] : more) {
    const auto limit = machine.volume_limits.find(driver);
    const auto before =
        std::count_if(attached.begin(), attached.end(),
                      [&, &name = driver](const auto& item) { return item.first == name; });
    if (added > 0 && limit != machine.volume_limits.end() && before + added > limit->second) {
      return "too many volumes";
    }
  }
  return {};
}

std::string KubeFilters::among_others(const model::Pod& pod, const Machine& machine,
                                      const std::vector<Machine>& all) const {
  for (auto reason :
       {spread(pod, machine, all), affinity(pod, machine, all), anti_affinity(pod, machine, all)}) {
    if (!reason.empty()) {
      return reason;
    }
  }
  return {};
}

std::string KubeFilters::spread(const model::Pod& pod, const Machine& machine,
                                const std::vector<Machine>& all) const {
  std::vector<const model::TopologySpreadConstraint*> hard;
  for (const auto& constraint : pod.spec.topology_spread) {
    if (constraint.when_unsatisfiable != "ScheduleAnyway") {
      hard.push_back(&constraint);
    }
  }
  const auto has_every_key = [&](const Machine& node) {
    return std::all_of(hard.begin(), hard.end(), [&](const auto* constraint) {
      return label(node, constraint->topology_key) != nullptr;
    });
  };
  for (const auto* constraint : hard) {
    const auto selected = [&](const model::Pod& other) {
      return other.meta.namespace_ == pod.meta.namespace_ && !other.meta.is_deleting() &&
             selector_matches(constraint->label_selector, other.meta.labels) &&
             agree(constraint->match_label_keys, pod, other, true);
    };
    std::map<std::string, int> counts;
    for (const Machine& node : all) {
      if (!has_every_key(node) ||
          (constraint->node_affinity_policy != "Ignore" &&
           !selects_node(pod.spec, node.labels, node.name)) ||
          (constraint->node_taints_policy == "Honor" && !tolerates(pod.spec, node.taints))) {
        continue;
      }
      int& count = counts[*label(node, constraint->topology_key)];
      for (const auto* other : node.pods) {
        count += selected(*other) ? 1 : 0;
      }
    }
    const std::string* domain = label(machine, constraint->topology_key);
    if (domain == nullptr) {
      return "no label " + constraint->topology_key + " to spread over";
    }
    int least = counts.empty() ? 0 : std::numeric_limits<int>::max();
    for (const auto& [value, count] : counts) {
      least = std::min(least, count);
    }
    if (constraint->min_domains && static_cast<int>(counts.size()) < *constraint->min_domains) {
      least = 0;
    }
    const int here = counts.contains(*domain) ? counts[*domain] : 0;
    if (here + (selected(pod) ? 1 : 0) - least > constraint->max_skew) {
      return "skew over " + constraint->topology_key + " in " + *domain + ": " +
             std::to_string(here) + " there, the least is " + std::to_string(least);
    }
  }
  return {};
}

bool KubeFilters::term_selects(const model::PodAffinityTerm& term, const model::Pod& owner,
                               const model::Pod& other) const {
  const std::string& where = other.meta.namespace_;
  bool in_namespace =
      std::find(term.namespaces.begin(), term.namespaces.end(), where) != term.namespaces.end();
  if (term.namespaces.empty() && !term.namespace_selector) {
    in_namespace = where == owner.meta.namespace_;
  }
  if (term.namespace_selector) {
    const auto known = namespaces_.find(where);
    in_namespace =
        in_namespace || term.namespace_selector->empty() ||
        (known != namespaces_.end() && selector_matches(term.namespace_selector, known->second));
  }
  return in_namespace && selector_matches(term.label_selector, other.meta.labels) &&
         agree(term.match_label_keys, owner, other, true) &&
         agree(term.mismatch_label_keys, owner, other, false);
}

std::string KubeFilters::affinity(const model::Pod& pod, const Machine& machine,
                                  const std::vector<Machine>& all) const {
  const auto& terms = pod.spec.affinity.required_pod_affinity;
  if (terms.empty()) {
    return {};
  }
  // Judged as it will be when pods that are on their way out are gone.
  const auto matches_all = [&](const model::Pod& other) {
    return !other.meta.is_deleting() &&
           std::all_of(terms.begin(), terms.end(),
                       [&](const auto& term) { return term_selects(term, pod, other); });
  };
  std::set<std::pair<std::string, std::string>> company;  // key and domain
  for (const Machine& node : all) {
    // Judged as it will be when pods that are on their way out are gone.
    if (std::none_of(node.pods.begin(), node.pods.end(), [&](const auto* other) {
          return !other->meta.is_deleting() && matches_all(*other);
        })) {
      continue;
    }
    for (const auto& term : terms) {
      if (const auto* domain = label(node, term.topology_key)) {
        company.emplace(term.topology_key, *domain);
      }
    }
  }
  for (const auto& term : terms) {
    const auto* domain = label(machine, term.topology_key);
    if (domain == nullptr) {
      return "no label " + term.topology_key + " to be together in";
    }
    if (!company.contains({term.topology_key, *domain}) && !(company.empty() && matches_all(pod))) {
      return "nobody to be beside in " + *domain;
    }
  }
  return {};
}

std::string KubeFilters::anti_affinity(const model::Pod& pod, const Machine& machine,
                                       const std::vector<Machine>& all) const {
  for (const Machine& node : all) {
    const auto shares = [&](const model::PodAffinityTerm& term) {
      const auto* here = label(machine, term.topology_key);
      const auto* there = label(node, term.topology_key);
      return here != nullptr && there != nullptr && *here == *there;
    };
    for (const auto* other : node.pods) {
      for (const auto& term : pod.spec.affinity.required_pod_anti_affinity) {
        if (shares(term) && term_selects(term, pod, *other)) {
          return "must not be with " + other->meta.uid;
        }
      }
      for (const auto& term : other->spec.affinity.required_pod_anti_affinity) {
        if (shares(term) && term_selects(term, *other, pod)) {
          return "is kept out by " + other->meta.uid;
        }
      }
    }
  }
  return {};
}

}  // namespace millwright::checker

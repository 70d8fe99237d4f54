#include "millwright/scheduling/demand.hpp"

#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace millwright::scheduling {
namespace {

// 64-bit FNV-1a over fields with their lengths: equal in every process, since fingerprints are
// written on NodeClaims.
class Fingerprint {
 public:
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    for (const char c : text) {
      mix(static_cast<unsigned char>(c));
    }
  }
  void add(std::int64_t number) {
    auto left = static_cast<std::uint64_t>(number);
    for (int i = 0; i < 8; ++i, left >>= 8U) {
      mix(static_cast<unsigned char>(left & 0xFFU));
    }
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(static_cast<std::int64_t>(list.size()));
    for (const T& item : list) {
      add(item);
    }
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(std::int64_t{value.has_value()});
    if (value) {
      add(*value);
    }
  }
  void add(std::int32_t number) { add(std::int64_t{number}); }
  void add(const model::StringMap& map) {
    add(static_cast<std::int64_t>(map.size()));
    for (const auto& [key, value] : map) {
      add(std::string_view(key));
      add(std::string_view(value));
    }
  }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(const model::SelectorRequirement& requirement) {
    add(requirement.key);
    add(static_cast<std::int64_t>(requirement.op));
    add(requirement.values);
  }
  void add(const model::LabelSelector& selector) {
    add(selector.match_labels);
    add(selector.match_expressions);
  }
  void add(const model::NodeSelectorTerm& term) {
    add(term.match_expressions);
    add(term.match_fields);
  }
  void add(const model::PreferredNodeTerm& term) {
    add(term.weight);
    add(term.term);
  }
  void add(const model::PodAffinityTerm& term) {
    add(term.label_selector);
    add(term.namespaces);
    add(term.namespace_selector);
    add(term.topology_key);
    add(term.match_label_keys);
    add(term.mismatch_label_keys);
  }
  void add(const model::WeightedPodAffinityTerm& term) {
    add(term.weight);
    add(term.term);
  }
  void add(const model::TopologySpreadConstraint& constraint) {
    add(constraint.max_skew);
    add(constraint.topology_key);
    add(constraint.when_unsatisfiable);
    add(constraint.label_selector);
    add(constraint.min_domains);
    add(constraint.node_affinity_policy);
    add(constraint.node_taints_policy);
    add(constraint.match_label_keys);
  }
  void add(const model::PodResourceClaim& claim) {
    add(claim.name);
    add(claim.claim_name);
    add(claim.template_name);
  }
  void add(const model::Toleration& toleration) {
    add(toleration.key);
    add(toleration.op);
    add(toleration.value);
    add(toleration.effect);
  }
  void add_host_ports(const std::vector<model::Container>& containers) {
    for (const model::Container& container : containers) {
      for (const model::ContainerPort& port : container.ports) {
        if (port.host_port != 0) {
          add(port.host_port);
          add(port.host_ip);
          add(port.protocol);
        }
      }
    }
  }

  std::string hex() const {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text(16, '0');
    std::uint64_t left = state_;
    for (std::size_t i = text.size(); i-- > 0; left >>= 4U) {
      text[i] = kDigits[left & 0xFU];
    }
    return text;
  }

 private:
  void mix(unsigned char byte) {
    state_ ^= byte;
    state_ *= 0x100000001B3ULL;
  }
  std::uint64_t state_ = 0xCBF29CE484222325ULL;
};

std::string fingerprint_of(const model::Pod& pod) {
  const model::PodSpec& spec = pod.spec;
  Fingerprint print;
  // A pod that was resized in place is alone in its group: its successor has the template's size.
  for (const auto& [resource, quantity] : effective_requests(pod)) {
    print.add(resource);
    print.add(quantity.milli());
  }
  print.add(spec.node_selector);
  print.add(spec.affinity.required_node_terms);
  print.add(spec.affinity.preferred_node_terms);
  print.add(spec.affinity.required_pod_affinity);
  print.add(spec.affinity.preferred_pod_affinity);
  print.add(spec.affinity.required_pod_anti_affinity);
  print.add(spec.affinity.preferred_pod_anti_affinity);
  print.add(spec.tolerations);
  print.add(spec.topology_spread);
  print.add_host_ports(spec.containers);
  print.add_host_ports(spec.init_containers);
  for (const model::PodVolume& volume : spec.volumes) {
    // Other volumes bind no pod to a node, and the token's has a random name.
    if (!volume.claim_name.empty() || volume.ephemeral) {
      print.add(volume.claim_name);
      print.add(volume.ephemeral_storage_class);
    }
  }
  print.add(spec.resource_claims);
  print.add(spec.priority);
  print.add(spec.scheduler_name);
  return print.hex();
}

}  // namespace

GroupId GroupId::of_owner(std::string_view owner_uid) {
  return GroupId(std::string(owner_uid) + "/*");
}

std::string_view GroupId::owner_uid() const {
  return std::string_view(text()).substr(0, text().rfind('/'));
}

GroupId group_of(const model::Pod& pod) {
  const model::OwnerReference* const owner = pod.meta.controller();
  return GroupId((owner == nullptr ? pod.meta.uid : owner->uid) + "/" + fingerprint_of(pod));
}

bool has_own_claim(const model::Pod& pod) {
  const std::string suffix = "-" + pod.meta.name;
  return std::any_of(
      pod.spec.volumes.begin(), pod.spec.volumes.end(),
      [&](const model::PodVolume& volume) { return volume.claim_name.ends_with(suffix); });
}

std::string describe_pods(const Reservation& reservation) {
  return reservation.count == 1 ? "pod " + reservation.sample.to_string()
                                : std::to_string(reservation.count) + " pods such as " +
                                      reservation.sample.to_string();
}

const GroupDemand* find_demand(const Demand& demand, const GroupId& group) {
  const auto found = std::partition_point(
      demand.begin(), demand.end(), [&](const GroupDemand& each) { return each.group < group; });
  return found != demand.end() && found->group == group ? &*found : nullptr;
}

}  // namespace millwright::scheduling

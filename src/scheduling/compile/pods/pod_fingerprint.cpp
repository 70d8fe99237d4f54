#include "scheduling/compile/pods/pod_fingerprint.hpp"

#include "scheduling/compile/pods/declared_ports.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

namespace millwright::scheduling {
namespace {

class Hash {
 public:
  Hash& operator<<(std::uint64_t value) {
    state_ ^= value + 0x9e3779b97f4a7c15ULL + (state_ << 6) + (state_ >> 2);
    state_ *= 0xff51afd7ed558ccdULL;
    state_ ^= state_ >> 32;
    return *this;
  }
  Hash& operator<<(std::string_view text) { return *this << std::hash<std::string_view>{}(text); }
  Hash& operator<<(const model::ResourceList& list) {
    for (const auto& [name, quantity] : list) {
      *this << name << static_cast<std::uint64_t>(quantity.milli());
    }
    return *this << list.size();
  }
  Hash& operator<<(const model::StringMap& map) {
    for (const auto& [key, value] : map) {
      *this << key << value;
    }
    return *this << map.size();
  }
  Hash& operator<<(const model::SelectorRequirement& requirement) {
    *this << requirement.key << static_cast<std::uint64_t>(requirement.op);
    for (const auto& value : requirement.values) {
      *this << value;
    }
    return *this;
  }
  Hash& operator<<(const model::NodeSelectorTerm& term) {
    for (const auto& expression : term.match_expressions) {
      *this << expression;
    }
    return *this << term.match_fields.size();
  }
  Hash& operator<<(const model::PodAffinityTerm& term) {
    *this << term.topology_key;
    if (term.label_selector) {
      *this << term.label_selector->match_labels;
      for (const auto& expression : term.label_selector->match_expressions) {
        *this << expression;
      }
    }
    return *this << term.namespaces.size();
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3ULL;
};

bool same_host_ports(const model::PodSpec& a, const model::PodSpec& b) {
  const auto left = declared_host_ports(a);
  const auto right = declared_host_ports(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const auto* x, const auto* y) {
                      return x->host_port == y->host_port && x->host_ip == y->host_ip &&
                             x->protocol == y->protocol;
                    });
}

bool same_container_requests(const std::vector<model::Container>& a,
                             const std::vector<model::Container>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.restart_always == y.restart_always && x.requests == y.requests;
  });
}

// Statuses matter only while a resize is under way; pods that have them are compared as a whole.
bool same_resize(const model::Pod& a, const model::Pod& b) {
  const auto& left = a.status.container_statuses;
  const auto& right = b.status.container_statuses;
  if (left.empty() && right.empty()) {
    return true;
  }
  const auto names_match = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const auto& p, const auto& q) { return p.name == q.name; });
  };
  return left == right && a.status.resize == b.status.resize &&
         a.status.conditions == b.status.conditions &&
         names_match(a.spec.containers, b.spec.containers) &&
         names_match(a.spec.init_containers, b.spec.init_containers);
}

}  // namespace

std::uint64_t hash_constraints(const model::PodSpec& spec) {
  Hash hash;
  hash << spec.node_selector << spec.resource_claims.size();
  for (const auto& term : spec.affinity.required_node_terms) {
    hash << term;
  }
  for (const auto& preferred : spec.affinity.preferred_node_terms) {
    hash << static_cast<std::uint64_t>(preferred.weight) << preferred.term;
  }
  for (const auto& term : spec.affinity.required_pod_affinity) {
    hash << 1 << term;
  }
  for (const auto& term : spec.affinity.required_pod_anti_affinity) {
    hash << 2 << term;
  }
  for (const auto& toleration : spec.tolerations) {
    hash << toleration.key << toleration.value << toleration.effect;
  }
  for (const auto& constraint : spec.topology_spread) {
    hash << constraint.topology_key << constraint.when_unsatisfiable
         << static_cast<std::uint64_t>(constraint.max_skew);
    if (constraint.label_selector) {
      hash << constraint.label_selector->match_labels;
    }
  }
  for (const auto* port : declared_host_ports(spec)) {
    hash << static_cast<std::uint64_t>(port->host_port) << port->protocol;
  }
  return hash.value();
}

bool same_constraints(const model::PodSpec& a, const model::PodSpec& b) {
  return a.node_selector == b.node_selector && a.tolerations == b.tolerations &&
         a.affinity == b.affinity && a.topology_spread == b.topology_spread &&
         a.resource_claims.empty() == b.resource_claims.empty() && same_host_ports(a, b);
}

std::uint64_t hash_requests(const model::Pod& pod) {
  Hash hash;
  for (const auto& container : pod.spec.containers) {
    hash << container.requests;
  }
  for (const auto& container : pod.spec.init_containers) {
    hash << (container.restart_always ? 1 : 2) << container.requests;
  }
  hash << pod.spec.overhead << pod.spec.pod_requests;
  for (const auto& status : pod.status.container_statuses) {
    hash << status.allocated << status.requests;
  }
  return hash.value();
}

bool same_requests(const model::Pod& a, const model::Pod& b) {
  return same_container_requests(a.spec.containers, b.spec.containers) &&
         same_container_requests(a.spec.init_containers, b.spec.init_containers) &&
         a.spec.overhead == b.spec.overhead && a.spec.pod_requests == b.spec.pod_requests &&
         same_resize(a, b);
}

}  // namespace millwright::scheduling

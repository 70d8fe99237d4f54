#include "telemetry/zones.hpp"

#include "millwright/model/volume_claims.hpp"

#include <algorithm>
#include <tuple>

namespace millwright::telemetry {
namespace {

// Lists of a snapshot are sorted by name, then namespace.
template <class List>
auto find_in(const List& list, const model::ObjectKey& key) -> typename List::value_type {
  const auto found = std::lower_bound(
      list.begin(), list.end(), key, [](const auto& object, const model::ObjectKey& wanted) {
        return std::tie(object->meta.name, object->meta.namespace_) <
               std::tie(wanted.name, wanted.namespace_);
      });
  const bool same = found != list.end() && model::key_of((*found)->meta) == key;
  return same ? *found : nullptr;
}

// Of several terms any will do.
std::optional<scheduling::Requirement> zones_of(const std::vector<model::NodeSelectorTerm>& terms) {
  std::vector<std::string> zones;
  for (const auto& term : terms) {
    const auto& wanted = term.match_expressions;
    const auto zone = std::find_if(wanted.begin(), wanted.end(), [](const auto& expression) {
      return model::normalized_label_key(expression.key) == model::kZoneLabel &&
             expression.op == model::Operator::In;
    });
    if (zone == wanted.end()) {
      return std::nullopt;
    }
    zones.insert(zones.end(), zone->values.begin(), zone->values.end());
  }
  if (terms.empty()) {
    return std::nullopt;
  }
  return scheduling::Requirement::in(model::kZoneLabel, std::move(zones));
}

}  // namespace

std::optional<scheduling::Requirement> Zones::of_claim(const model::ObjectKey& key) {
  const auto claim = find_in(snapshot_.volume_claims, key);
  if (!claim) {
    return std::nullopt;
  }
  if (!claim->volume_name.empty()) {
    const auto volume = find_in(snapshot_.volumes, {{}, claim->volume_name});
    return volume ? zones_of(volume->required_node_terms) : std::nullopt;
  }
  const auto storage_class = find_in(snapshot_.storage_classes, {{}, claim->storage_class});
  return storage_class ? zones_of(storage_class->allowed_topologies) : std::nullopt;
}

std::string Zones::of(const model::Pod& pod) {
  const auto& spec = pod.spec;
  if (spec.node_selector.empty() && spec.affinity.required_node_terms.empty() &&
      spec.volumes.empty()) {
    return "flexible";
  }
  auto zone = scheduling::strict_pod_requirements(spec).get(model::kZoneLabel);
  for (const auto& volume : spec.volumes) {
    const auto claim = model::volume_claim(pod, volume);
    if (claim.name.empty()) {
      continue;
    }
    if (const auto found = of_claim(claim)) {
      zone = zone.intersection(*found);
    }
  }
  if (zone.is_complement() || zone.values().size() > 1) {
    return "flexible";
  }
  return zone.values().empty() ? "none" : zone.values().front();
}

}  // namespace millwright::telemetry

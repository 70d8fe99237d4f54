#include "checker/files/scenario.hpp"
#include "checker/files/write_devices.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace millwright::checker {
namespace {

namespace json = boost::json;
using scheduling::InstanceType;
using scheduling::Offering;

json::object metadata(const model::ObjectMeta& meta) {
  json::object out{{"name", meta.name}};
  if (!meta.namespace_.empty()) {
    out.emplace("namespace", meta.namespace_);
  }
  out.emplace("labels", model::encode(meta.labels));
  out.emplace("annotations", model::encode(meta.annotations));
  return out;
}

json::object object(std::string_view api_version, std::string_view kind,
                    const model::ObjectMeta& meta) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", metadata(meta)}};
}

json::array node_terms(const std::vector<model::NodeSelectorTerm>& terms) {
  json::array out;
  for (const auto& term : terms) {
    out.push_back(json::object{{"matchExpressions", model::encode(term.match_expressions)}});
  }
  return out;
}

json::object encode(const Offering& offering) {
  json::object out{{"zone", offering.zone()},
                   {"capacityType", offering.capacity_type()},
                   {"price", offering.price}};
  if (!offering.available) {
    out.emplace("available", false);
  }
  if (offering.capacity_type() == model::kReserved) {
    out.emplace("reservation", offering.reservation_capacity);
    for (const auto& requirement : offering.requirements) {
      if (requirement.key().ends_with("/reservation-id")) {
        out.emplace("reservationId", requirement.values().front());
      }
    }
  }
  if (offering.capacity_override) {
    out.emplace("capacity", model::encode(*offering.capacity_override));
  }
  return out;
}

// Requirements that have a field of their own.
constexpr std::array kOwnFields = {model::kInstanceTypeLabel, model::kArchLabel, model::kOsLabel,
                                   model::kZoneLabel, model::kCapacityTypeLabel};

json::object encode(const InstanceType& type) {
  json::object out{{"name", type.name}};
  json::object more;
  for (const auto& [name, amount] : type.capacity) {
    (name == "cpu" || name == "memory" || name == "pods" ? out : more)[name] = amount.to_string();
  }
  out.emplace("resources", std::move(more));
  out.emplace("overhead", model::encode(type.overhead));
  out.emplace("arch", type.requirements.get(model::kArchLabel).values().front());
  out.emplace("os", type.requirements.get(model::kOsLabel).values().front());
  json::object labels;
  for (const auto& requirement : type.requirements) {
    if (std::find(kOwnFields.begin(), kOwnFields.end(), requirement.key()) == kOwnFields.end()) {
      const bool absent = requirement.op() == model::Operator::DoesNotExist;
      labels.emplace(requirement.key(),
                     absent ? json::value() : json::value_from(requirement.values()));
    }
  }
  out.emplace("labels", std::move(labels));
  if (!type.volume_limits.empty()) {
    json::object limits;
    for (const auto& [driver, count] : type.volume_limits) {
      limits.emplace(driver, count);
    }
    out.emplace("volumeLimits", std::move(limits));
  }
  json::array offerings;
  for (const Offering& offering : type.offerings) {
    offerings.push_back(encode(offering));
  }
  out.emplace("offerings", std::move(offerings));
  return out;
}

class Writer {
 public:
  void add(const json::value& document) { text_ += json::serialize(document) + "\n"; }

  void scenario(const scheduling::Problem& problem, std::string_view title) {
    json::array types;
    for (const InstanceType& type : *problem.pools.front().types) {
      types.push_back(encode(type));
    }
    const auto& options = problem.options;
    const bool respect = options.preferences == scheduling::PreferencePolicy::Respect;
    const bool strict = options.min_values == scheduling::MinValuesPolicy::Strict;
    add(json::object{{"kind", "Scenario"},
                     {"title", title},
                     {"types", std::move(types)},
                     {"preferencePolicy", respect ? "Respect" : "Ignore"},
                     {"minValuesPolicy", strict ? "Strict" : "BestEffort"},
                     {"maxInstanceTypes", options.max_instance_types},
                     {"resourceClaims", options.resource_claims},
                     {"expect", json::object{}}});
  }

  void record(const scheduling::NodeRecord& record) {
    const auto leaving = [&](auto copy) {
      if (record.marked_for_deletion && !copy.meta.is_deleting()) {
        copy.meta.deletion_timestamp = base::TimePoint(std::chrono::seconds(1));
      }
      return copy;
    };
    if (record.claim) {
      auto claim = leaving(*record.claim);
      claim.meta.name = record.name();
      add(model::encode(claim));
    }
    if (record.node) {
      add(model::encode(leaving(*record.node)));
    }
    for (const auto& pod : record.pods) {
      add(model::encode(*pod));
    }
  }

  void cluster(const scheduling::Snapshot& snapshot) {
    for (const auto& item : snapshot.namespaces) {
      add(object("v1", "Namespace", item->meta));
    }
    for (const auto& item : snapshot.storage_classes) {
      auto out = object("storage.k8s.io/v1", "StorageClass", item->meta);
      out.emplace("provisioner", item->provisioner);
      out.emplace("volumeBindingMode", item->volume_binding_mode);
      json::array topologies;
      for (const auto& term : item->allowed_topologies) {
        json::array expressions;
        for (const auto& each : term.match_expressions) {
          expressions.push_back(
              json::object{{"key", each.key}, {"values", json::value_from(each.values)}});
        }
        topologies.push_back(json::object{{"matchLabelExpressions", std::move(expressions)}});
      }
      if (!topologies.empty()) {
        out.emplace("allowedTopologies", std::move(topologies));
      }
      add(out);
    }
    volumes(snapshot);
    for (const auto& item : snapshot.csi_nodes) {
      auto out = object("storage.k8s.io/v1", "CSINode", item->meta);
      json::array drivers;
      for (const auto& driver : item->drivers) {
        json::object made{{"name", driver.name}, {"nodeID", item->meta.name}};
        if (driver.allocatable_count) {
          made.emplace("allocatable", json::object{{"count", *driver.allocatable_count}});
        }
        drivers.push_back(std::move(made));
      }
      out.emplace("spec", json::object{{"drivers", std::move(drivers)}});
      add(out);
    }
  }

  void volumes(const scheduling::Snapshot& snapshot) {
    for (const auto& item : snapshot.volume_claims) {
      auto out = object("v1", "PersistentVolumeClaim", item->meta);
      json::object spec{{"storageClassName", item->storage_class}};
      if (!item->volume_name.empty()) {
        spec.emplace("volumeName", item->volume_name);
      }
      out.emplace("spec", std::move(spec));
      out.emplace("status", json::object{{"phase", item->phase}});
      add(out);
    }
    for (const auto& item : snapshot.volumes) {
      auto out = object("v1", "PersistentVolume", item->meta);
      json::object spec{{"storageClassName", item->storage_class}};
      if (!item->csi_driver.empty()) {
        spec.emplace("csi",
                     json::object{{"driver", item->csi_driver}, {"volumeHandle", item->meta.name}});
      }
      if (!item->required_node_terms.empty()) {
        spec.emplace(
            "nodeAffinity",
            json::object{{"required", json::object{{"nodeSelectorTerms",
                                                    node_terms(item->required_node_terms)}}}});
      }
      out.emplace("spec", std::move(spec));
      add(out);
    }
  }

  void daemon_set(const model::DaemonSet& set) {
    auto out = object("apps/v1", "DaemonSet", set.meta);
    model::Pod like;
    like.spec = set.pod_template.spec;
    const json::value spec = model::encode(like).as_object()["spec"];
    out.emplace(
        "spec",
        json::object{
            {"selector", json::object{}},
            {"template",
             json::object{
                 {"metadata", json::object{{"labels", model::encode(set.pod_template.labels)}}},
                 {"spec", spec}}}});
    add(out);
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string write_scenario(const scheduling::Problem& problem, std::string_view title) {
  Writer writer;
  writer.scenario(problem, title);
  for (const auto& option : problem.pools) {
    writer.add(model::encode(*option.pool));
  }
  if (problem.cluster) {
    writer.cluster(*problem.cluster);
    for (const auto& document : device_documents(*problem.cluster, problem.options)) {
      writer.add(document);
    }
  }
  for (const auto& set : problem.daemon_sets) {
    writer.daemon_set(*set);
  }
  for (const auto& record : problem.counted_nodes) {
    writer.record(*record);
  }
  for (const auto& pod : problem.pods) {
    if (pod->spec.node_name.empty()) {  // others are on a node that is leaving
      writer.add(model::encode(*pod));
    }
  }
  return writer.take();
}

}  // namespace millwright::checker

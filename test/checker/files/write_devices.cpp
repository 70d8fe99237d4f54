#include "checker/files/write_devices.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::checker {
namespace {

namespace json = boost::json;

json::object device_object(std::string_view kind, const model::ObjectMeta& meta) {
  json::object metadata{{"name", meta.name},
                        {"labels", model::encode(meta.labels)},
                        {"annotations", model::encode(meta.annotations)}};
  if (!meta.namespace_.empty()) {
    metadata.emplace("namespace", meta.namespace_);
  }
  if (!meta.owner_references.empty()) {
    json::array owners;
    for (const auto& owner : meta.owner_references) {
      owners.push_back(model::encode(owner));
    }
    metadata.emplace("ownerReferences", std::move(owners));
  }
  return {{"apiVersion", "resource.k8s.io/v1"}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

json::array selectors(const std::vector<std::string>& expressions) {
  json::array list;
  for (const std::string& expression : expressions) {
    list.push_back(json::object{{"cel", json::object{{"expression", expression}}}});
  }
  return list;
}

json::array terms_of(const std::vector<model::NodeSelectorTerm>& terms) {
  json::array list;
  for (const auto& term : terms) {
    list.push_back(json::object{{"matchExpressions", model::encode(term.match_expressions)},
                                {"matchFields", model::encode(term.match_fields)}});
  }
  return list;
}

// What an `exactly`, or one of `firstAvailable`, says.
json::object exact(const model::DeviceRequest& request) {
  json::object out{{"deviceClassName", request.class_name},
                   {"selectors", selectors(request.selectors)},
                   {"allocationMode", request.allocation_mode}};
  if (request.allocation_mode == "ExactCount") {
    out.emplace("count", request.count);
  }
  if (request.admin_access) {
    out.emplace("adminAccess", true);
  }
  if (request.asks_capacity) {
    out.emplace("capacity", json::object{{"requests", json::object{{"part", "1"}}}});
  }
  return out;
}

json::object claim_spec(const model::ResourceClaimSpec& spec) {
  json::array requests;
  for (const model::DeviceRequest& request : spec.requests) {
    json::object out{{"name", request.name}};
    if (request.first_available.empty()) {
      out.emplace("exactly", exact(request));
    } else {
      json::array alternatives;
      for (const model::DeviceRequest& each : request.first_available) {
        json::object alternative = exact(each);
        alternative.emplace("name", each.name);
        alternatives.push_back(std::move(alternative));
      }
      out.emplace("firstAvailable", std::move(alternatives));
    }
    requests.push_back(std::move(out));
  }
  json::object devices{{"requests", std::move(requests)}};
  if (spec.constrained) {
    devices.emplace("constraints",
                    json::array{json::object{{"matchAttribute", "example.com/group"}}});
  }
  return {{"devices", std::move(devices)}};
}

json::value claim_document(const model::ResourceClaim& claim) {
  json::object out = device_object("ResourceClaim", claim.meta);
  out.emplace("spec", claim_spec(claim.spec));
  json::object status;
  if (claim.allocated) {
    json::array results;
    for (const model::AllocatedDevice& device : claim.devices) {
      results.push_back(json::object{{"driver", device.driver},
                                     {"pool", device.pool},
                                     {"device", device.device},
                                     {"adminAccess", device.admin_access}});
    }
    json::object allocation{{"devices", json::object{{"results", std::move(results)}}}};
    if (!claim.node_terms.empty()) {
      allocation.emplace("nodeSelector",
                         json::object{{"nodeSelectorTerms", terms_of(claim.node_terms)}});
    }
    status.emplace("allocation", std::move(allocation));
  }
  json::array consumers;
  for (const std::string& uid : claim.reserved_for) {
    consumers.push_back(json::object{{"resource", "pods"}, {"name", uid}, {"uid", uid}});
  }
  status.emplace("reservedFor", std::move(consumers));
  out.emplace("status", std::move(status));
  return out;
}

json::object attribute(const model::DeviceAttribute& value) {
  json::object out;
  if (const auto* flag = std::get_if<bool>(&value)) {
    out.emplace("bool", *flag);
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    out.emplace("int", *number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    out.emplace("string", *text);
  } else {
    out.emplace("version", std::get<model::DeviceVersion>(value).text);
  }
  return out;
}

json::array devices_list(const std::vector<model::Device>& devices) {
  json::array list;
  for (const model::Device& device : devices) {
    json::object attributes;
    for (const auto& [name, value] : device.attributes) {
      attributes.emplace(name, attribute(value));
    }
    json::object capacity;
    for (const auto& [name, amount] : device.capacity) {
      capacity.emplace(name, json::object{{"value", amount.to_string()}});
    }
    json::object out{{"name", device.name},
                     {"attributes", std::move(attributes)},
                     {"capacity", std::move(capacity)}};
    if (device.consumes_counters) {
      out.emplace("consumesCounters",
                  json::array{json::object{
                      {"counterSet", "all"},
                      {"counters", json::object{{"part", json::object{{"value", "1"}}}}}}});
    }
    if (device.chooses_nodes) {
      out.emplace("allNodes", true);
    }
    if (device.multiple_allocations) {
      out.emplace("allowMultipleAllocations", true);
    }
    if (device.tainted) {
      out.emplace("taints", json::array{json::object{{"key", "example.com/broken"},
                                                     {"effect", "NoSchedule"}}});
    }
    list.push_back(std::move(out));
  }
  return list;
}

json::value slice_document(const model::ResourceSlice& slice) {
  json::object spec{{"driver", slice.driver},
                    {"pool", json::object{{"name", slice.pool},
                                          {"generation", slice.generation},
                                          {"resourceSliceCount", slice.slices_in_pool}}},
                    {"devices", devices_list(slice.devices)}};
  const bool by_device = std::any_of(slice.devices.begin(), slice.devices.end(),
                                     [](const auto& device) { return device.chooses_nodes; });
  if (!slice.node_name.empty()) {
    spec.emplace("nodeName", slice.node_name);
  } else {
    spec.emplace(by_device ? "perDeviceNodeSelection" : "allNodes", true);
  }
  json::object out = device_object("ResourceSlice", slice.meta);
  out.emplace("spec", std::move(spec));
  return out;
}

json::value template_document(const model::DeviceTemplate& device_template, std::size_t number) {
  const std::string name = "config-" + std::to_string(number);
  json::object pool{
      {"name", name},
      {"nodeSelectorTerms", terms_of(device_template.node_terms)},
      {"resourceSlices",
       json::array{json::object{{"devices", devices_list(device_template.devices)}}}}};
  return json::object{{"apiVersion", "test.karpenter.sh/v1alpha1"},
                      {"kind", "DRAConfig"},
                      {"metadata", json::object{{"name", name}}},
                      {"spec", json::object{{"driver", device_template.driver},
                                            {"pools", json::array{std::move(pool)}}}}};
}

}  // namespace

std::vector<json::value> device_documents(const scheduling::Snapshot& snapshot,
                                          const scheduling::SolveOptions& options) {
  std::vector<json::value> documents;
  for (const auto& item : snapshot.device_classes) {
    json::object out = device_object("DeviceClass", item->meta);
    out.emplace("spec", json::object{{"selectors", selectors(item->selectors)}});
    documents.emplace_back(std::move(out));
  }
  for (const auto& item : snapshot.resource_claims) {
    documents.push_back(claim_document(*item));
  }
  for (const auto& item : snapshot.resource_claim_templates) {
    json::object out = device_object("ResourceClaimTemplate", item->meta);
    out.emplace("spec", json::object{{"spec", claim_spec(item->spec)}});
    documents.emplace_back(std::move(out));
  }
  for (const auto& item : snapshot.resource_slices) {
    documents.push_back(slice_document(*item));
  }
  if (options.device_templates != nullptr) {
    for (const auto& device_template : *options.device_templates) {
      documents.push_back(template_document(device_template, documents.size()));
    }
  }
  return documents;
}

}  // namespace millwright::checker

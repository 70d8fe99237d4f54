// Dynamic resource allocation: resource.k8s.io/v1, and the DRAConfig of Karpenter's tests.
#include "millwright/model/codec.hpp"
#include "model/codec/reader.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <utility>

namespace millwright::model {
namespace detail {
namespace {

// In the place of a selector that is of another kind than CEL. It must not choose devices, so it
// calls a function that does not exist.
constexpr std::string_view kUnknownSelector = "selector_that_is_not_cel()";

template <class F>
void for_each_item(const Reader& list, F read_item) {
  const auto* const items = list.value().if_array();
  if (items == nullptr) {
    list.expected("a list");
    return;
  }
  for (std::size_t i = 0; i < items->size(); ++i) {
    read_item(list.step(i, (*items)[i]));
  }
}

template <class F>
void for_each_entry(const Reader& map, F read_entry) {
  const auto* const object = map.value().if_object();
  if (object == nullptr) {
    map.expected("an object");
    return;
  }
  for (const auto& entry : *object) {
    read_entry(std::string_view(entry.key()), map.step(entry.key(), entry.value()));
  }
}

bool has_items(const Reader& reader, std::string_view path) {
  bool found = false;
  reader.at(path, [&found](const Reader& list) {
    for_each_item(list, [&found](const Reader&) { found = true; });
  });
  return found;
}

void read_selectors(const Reader& reader, std::string_view path, std::vector<std::string>& out) {
  reader.at(path, [&out](const Reader& list) {
    for_each_item(list, [&out](const Reader& selector) {
      if (selector.find("cel")) {
        selector.field("cel.expression", out.emplace_back());
      } else {
        out.emplace_back(kUnknownSelector);
      }
    });
  });
}

// What a request and an alternative of one have in common.
void read_choice(const Reader& reader, DeviceRequest& out) {
  reader.field("deviceClassName", out.class_name);
  read_selectors(reader, "selectors", out.selectors);
  reader.field("allocationMode", out.allocation_mode);
  reader.field("count", out.count);
  reader.field("adminAccess", out.admin_access);
  reader.at("capacity.requests", [&out](const Reader& requests) {
    for_each_entry(requests, [&out](std::string_view, const Reader&) { out.asks_capacity = true; });
  });
}

// "name" as "driver/name".
std::string qualified(std::string_view key, std::string_view driver) {
  std::string name(key);
  return key.find('/') == std::string_view::npos ? name.insert(0, "/").insert(0, driver) : name;
}

// Of a type that is unknown here: as if the device did not have it, so that expressions which
// look at it fail.
std::optional<DeviceAttribute> read_attribute(const Reader& reader) {
  std::optional<DeviceAttribute> attribute;
  reader.at("bool", [&](const Reader& at) { read(at, attribute.emplace().emplace<bool>()); });
  reader.at("int",
            [&](const Reader& at) { read(at, attribute.emplace().emplace<std::int64_t>()); });
  reader.at("string",
            [&](const Reader& at) { read(at, attribute.emplace().emplace<std::string>()); });
  reader.at("version",
            [&](const Reader& at) { read(at, attribute.emplace().emplace<DeviceVersion>().text); });
  return attribute;
}

bool keeps_claims_away(const Reader& taint) {
  std::string effect;
  taint.field("effect", effect);
  return effect == "NoSchedule" || effect == "NoExecute";
}

void read_device(const Reader& reader, std::string_view driver, Device& out) {
  reader.field("name", out.name);
  reader.at("attributes", [&](const Reader& map) {
    for_each_entry(map, [&](std::string_view key, const Reader& at) {
      if (auto attribute = read_attribute(at)) {
        out.attributes.insert_or_assign(qualified(key, driver), *std::move(attribute));
      }
    });
  });
  reader.at("capacity", [&](const Reader& map) {
    for_each_entry(map, [&](std::string_view key, const Reader& at) {
      at.field("value", out.capacity[qualified(key, driver)]);
    });
  });
  out.consumes_counters = has_items(reader, "consumesCounters");
  reader.field("allowMultipleAllocations", out.multiple_allocations);
  reader.at("taints", [&out](const Reader& list) {
    for_each_item(list, [&out](const Reader& taint) {
      out.tainted = keeps_claims_away(taint) || out.tainted;
    });
  });
  std::string node;
  reader.field("nodeName", node);
  bool all_nodes = false;
  reader.field("allNodes", all_nodes);
  out.chooses_nodes = !node.empty() || all_nodes || reader.find("nodeSelector").has_value();
}

void read_devices(const Reader& reader, std::string_view driver, std::vector<Device>& out) {
  reader.at("devices", [&](const Reader& list) {
    for_each_item(list,
                  [&](const Reader& device) { read_device(device, driver, out.emplace_back()); });
  });
}

}  // namespace

// Not in an unnamed namespace: Reader::field finds these by argument-dependent lookup.
void read(const Reader& reader, DeviceClass& out) {
  reader.field("metadata", out.meta);
  read_selectors(reader, "spec.selectors", out.selectors);
}

void read(const Reader& reader, DeviceRequest& out) {
  reader.field("name", out.name);
  reader.at("exactly", [&out](const Reader& exactly) { read_choice(exactly, out); });
  reader.at("firstAvailable", [&out](const Reader& list) {
    for_each_item(list, [&out](const Reader& alternative) {
      DeviceRequest& choice = out.first_available.emplace_back();
      alternative.field("name", choice.name);
      read_choice(alternative, choice);
    });
  });
}

void read(const Reader& reader, ResourceClaimSpec& out) {
  reader.field("devices.requests", out.requests);
  out.constrained = has_items(reader, "devices.constraints");
}

void read(const Reader& reader, AllocatedDevice& out) {
  reader.field("driver", out.driver);
  reader.field("pool", out.pool);
  reader.field("device", out.device);
  reader.field("adminAccess", out.admin_access);
}

void read(const Reader& reader, ResourceClaim& out) {
  reader.field("metadata", out.meta);
  reader.field("spec", out.spec);
  reader.at("status.allocation", [&out](const Reader& allocation) {
    out.allocated = true;
    allocation.field("devices.results", out.devices);
    allocation.field("nodeSelector.nodeSelectorTerms", out.node_terms);
  });
  reader.at("status.reservedFor", [&out](const Reader& list) {
    for_each_item(list, [&out](const Reader& consumer) {
      consumer.field("uid", out.reserved_for.emplace_back());
    });
  });
}

void read(const Reader& reader, ResourceClaimTemplate& out) {
  reader.field("metadata", out.meta);
  reader.field("spec.spec", out.spec);
}

void read(const Reader& reader, ResourceSlice& out) {
  reader.field("metadata", out.meta);
  reader.at("spec", [&out](const Reader& spec) {
    spec.field("driver", out.driver);
    spec.field("pool.name", out.pool);
    spec.field("pool.generation", out.generation);
    spec.field("pool.resourceSliceCount", out.slices_in_pool);
    spec.field("nodeName", out.node_name);
    read_devices(spec, out.driver, out.devices);
  });
}

}  // namespace detail

template <>
base::Result<DeviceClass> decode<DeviceClass>(const boost::json::value& json) {
  return detail::decode_object<DeviceClass>("DeviceClass", json);
}
template <>
base::Result<ResourceClaim> decode<ResourceClaim>(const boost::json::value& json) {
  return detail::decode_object<ResourceClaim>("ResourceClaim", json);
}
template <>
base::Result<ResourceClaimTemplate> decode<ResourceClaimTemplate>(const boost::json::value& json) {
  return detail::decode_object<ResourceClaimTemplate>("ResourceClaimTemplate", json);
}
template <>
base::Result<ResourceSlice> decode<ResourceSlice>(const boost::json::value& json) {
  return detail::decode_object<ResourceSlice>("ResourceSlice", json);
}

base::Result<std::vector<DeviceTemplate>> decode_device_templates(const boost::json::value& json) {
  constexpr std::string_view kKind = "DRAConfig";
  std::string problem;
  const detail::Reader reader(json, problem);
  std::string kind;
  reader.field("kind", kind);
  if (kind != kKind) {
    reader.fail("kind: expected DRAConfig, found \"" + kind + "\"");
  }
  std::string driver;
  reader.field("spec.driver", driver);
  if (driver.empty()) {
    reader.fail("spec.driver: must name the driver");
  }
  std::vector<DeviceTemplate> templates;
  reader.at("spec.pools", [&](const detail::Reader& pools) {
    detail::for_each_item(pools, [&](const detail::Reader& pool) {
      DeviceTemplate& added = templates.emplace_back();
      added.driver = driver;
      pool.field("nodeSelectorTerms", added.node_terms);
      pool.at("resourceSlices", [&](const detail::Reader& slices) {
        detail::for_each_item(slices, [&](const detail::Reader& slice) {
          detail::read_devices(slice, driver, added.devices);
        });
      });
    });
  });
  if (templates.empty()) {
    reader.fail("spec.pools: must have at least one pool");
  }
  if (!problem.empty()) {
    return tl::unexpected(detail::object_error(kKind, json, problem));
  }
  return templates;
}

}  // namespace millwright::model

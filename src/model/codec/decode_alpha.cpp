// NodeOverlay and CapacityBuffer.
#include "millwright/model/codec.hpp"
#include "model/codec/reader.hpp"

namespace millwright::model {
namespace detail {

// Not in an unnamed namespace: Reader::field finds these by argument-dependent lookup.
void read(const Reader& reader, NodeOverlay& out) {
  reader.field("metadata", out.meta);
  reader.at("spec", [&out](const Reader& spec) {
    spec.field("requirements", out.requirements);
    spec.field("price", out.price);
    spec.field("priceAdjustment", out.price_adjustment);
    spec.field("capacity", out.capacity);
    spec.field("weight", out.weight);
  });
  reader.field("status.conditions", out.conditions);
}

void read(const Reader& reader, CapacityBuffer::Scalable& out) {
  reader.field("apiGroup", out.api_group);
  reader.field("kind", out.kind);
  reader.field("name", out.name);
}

void read(const Reader& reader, CapacityBuffer& out) {
  reader.field("metadata", out.meta);
  reader.at("spec", [&out](const Reader& spec) {
    spec.field("provisioningStrategy", out.provisioning_strategy);
    spec.field("podTemplateRef.name", out.pod_template);
    spec.field("scalableRef", out.scalable);
    spec.field("replicas", out.replicas);
    spec.field("percentage", out.percentage);
    spec.field("limits", out.limits);
  });
  reader.at("status", [&out](const Reader& status) {
    status.field("podTemplateRef.name", out.status_pod_template);
    status.field("replicas", out.status_replicas);
    status.field("podTemplateGeneration", out.pod_template_generation);
    status.field("conditions", out.conditions);
  });
}

}  // namespace detail

template <>
base::Result<NodeOverlay> decode<NodeOverlay>(const boost::json::value& json) {
  return detail::decode_object<NodeOverlay>("NodeOverlay", json);
}
template <>
base::Result<CapacityBuffer> decode<CapacityBuffer>(const boost::json::value& json) {
  return detail::decode_object<CapacityBuffer>("CapacityBuffer", json);
}

}  // namespace millwright::model

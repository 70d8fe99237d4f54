#include "controllers/nodeclaim/capacity_type_labels.hpp"

#include "millwright/model/codec.hpp"

#include <algorithm>
#include <map>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

void add_absent(const scheduling::Requirements& requirements, const model::StringMap& labels,
                json::object& patch) {
  for (const auto& requirement : requirements) {
    if (requirement.op() == model::Operator::DoesNotExist && labels.contains(requirement.key())) {
      patch[requirement.key()] = nullptr;
    }
  }
}

// What to merge into the labels: the capacity type, and nulls for those that told the reservation,
// which are the ones that the offering it has become must not have.
json::object relabelling(const cloud::Provider& provider, const scheduling::Snapshot& snapshot,
                         const model::NodeClaim& claim, const std::string& capacity_type) {
  json::object patch{{model::kCapacityTypeLabel, capacity_type}};
  const auto pool = find_pool(snapshot, claim.meta.label(model::kNodePoolLabel));
  const auto node_class = find_node_class(snapshot, claim.node_class_ref);
  if (!node_class) {
    return patch;
  }
  const auto types = provider.instance_types(pool ? *pool : model::NodePool{}, *node_class);
  const auto* type =
      types ? scheduling::find_type(*types, claim.meta.label(model::kInstanceTypeLabel)) : nullptr;
  if (type == nullptr) {
    return patch;
  }
  add_absent(type->requirements, claim.meta.labels, patch);
  for (const auto& offering : type->offerings) {
    if (offering.capacity_type() == capacity_type &&
        offering.zone() == claim.meta.label(model::kZoneLabel)) {
      add_absent(offering.requirements, claim.meta.labels, patch);
    }
  }
  return patch;
}

base::Task<base::Result<>> relabel(Services& services, scheduling::NodeRecordPtr record,
                                   json::object labels) {
  // The Node first: the claim's label is what this is found by.
  if (record->node) {
    json::value patch = json::object{{"metadata", json::object{{"labels", labels}}}};
    MW_CO_CHECK(co_await patch_node(services, record->node, std::move(patch)));
  }
  auto patch = ClaimPatch::of_metadata(json::object{{"labels", std::move(labels)}});
  MW_CO_CHECK(co_await patch_claim(services, record->claim, std::move(patch)));
  co_return base::Result<>{};
}

}  // namespace

base::Task<void> relabel_unreserved(Services& services, cloud::Provider* provider,
                                    std::vector<cloud::Instance> instances) {
  std::map<std::string, std::string, std::less<>> capacity_types;  // by provider id
  for (const auto& instance : instances) {
    const auto found = instance.labels.find(model::kCapacityTypeLabel);
    if (!instance.terminating && found != instance.labels.end()) {
      capacity_types[instance.provider_id] = found->second;
    }
  }
  const auto snapshot = services.state.snapshot();
  for (const auto& record : snapshot->nodes) {
    const auto& claim = record->claim;
    // EC2 may show a new instance before it shows where it runs.
    if (!claim || claim->meta.is_deleting() ||
        !model::is_true(claim->conditions, model::kRegistered) ||
        claim->meta.label(model::kCapacityTypeLabel) != model::kReserved) {
      continue;
    }
    const auto now = capacity_types.find(claim->provider_id);
    const auto& of = claim->node_class_ref;
    if (now == capacity_types.end() || now->second == model::kReserved ||
        services.providers.find(of.group, of.kind) != provider) {
      continue;
    }
    auto labels = relabelling(*provider, *snapshot, *claim, now->second);
    auto done = co_await relabel(services, record, std::move(labels));
    if (done) {
      services.log.info("relabelled a node whose reservation has ended",
                        {{"NodeClaim", claim->meta.name}, {"capacity-type", now->second}});
    } else {
      services.log.warn("relabelling a node whose reservation has ended failed, will try again",
                        {{"NodeClaim", claim->meta.name}, {"error", done.error().message}});
    }
  }
}

}  // namespace millwright::controllers

#include "scheduling/devices/device_places.hpp"

#include "millwright/model/device_pools.hpp"
#include "millwright/model/labels.hpp"
#include "millwright/scheduling/requirements.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

// What a node of the type is labelled with before it is there.
Requirements labels_of(const PoolOption& pool, const InstanceType& type) {
  Requirements labels = type.requirements;
  auto own = pool.pool->template_.labels.value_or(model::StringMap{});
  own[std::string(model::kNodePoolLabel)] = pool.pool->meta.name;
  labels.add(Requirements::from_labels(own));
  return labels;
}

// The instance types that a node may turn out to be.
std::vector<std::string> types_of(const NodeRecord& node) {
  if (const auto label = node.labels().find(model::kInstanceTypeLabel);
      label != node.labels().end()) {
    return {label->second};
  }
  if (!node.claim) {
    return {};
  }
  const auto may_be = Requirements(node.claim->requirements).get(model::kInstanceTypeLabel);
  return may_be.is_complement() ? std::vector<std::string>() : may_be.values();
}

bool is_for(const model::DeviceTemplate& devices, const Requirements& labels) {
  return std::any_of(devices.node_terms.begin(), devices.node_terms.end(),
                     [&](const model::NodeSelectorTerm& term) {
                       return !term.match_expressions.empty() && term.match_fields.empty() &&
                              labels.compatible(Requirements(term.match_expressions),
                                                AllowUndefined::None);
                     });
}

}  // namespace

DevicePlaces::DevicePlaces(const Problem& problem, DeviceQueries& queries, DeviceMemory& memory)
    : problem_(problem), queries_(queries), most_(queries.size()) {
  find_taken();
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    const PoolOption& pool = problem.pools[i];
    const auto& known = memory.masks({.queries = queries.text(),
                                      .published = problem.cluster->published_devices,
                                      .templates = problem.options.device_templates,
                                      .pool = pool.pool,
                                      .types = pool.types},
                                     [&] { return masks_of_types(pool); });
    queries.note(known.troubles);
    pools_.push_back(known.masks);
    for (std::size_t t = 0; t < known.masks.size(); ++t) {
      types_[{pool.pool->meta.name, (*pool.types)[t].name}] = {i, t};
      note(known.masks[t]);
    }
  }
  const auto by_node = published_by_node(*problem.cluster);
  for (const NodeRecordPtr& node : problem.nodes) {
    const auto found = by_node.find(node->name());
    nodes_.push_back(masks_of_node(*node, found == by_node.end() ? Published() : found->second));
  }
}

// Devices of claims that a pod uses. Those of a claim that no pod uses any more are given back.
void DevicePlaces::find_taken() {
  for (const auto& claim : problem_.cluster->resource_claims) {
    if (!claim->allocated || claim->reserved_for.empty()) {
      continue;
    }
    for (const model::AllocatedDevice& device : claim->devices) {
      if (!device.admin_access) {
        taken_.emplace(device.driver, device.pool, device.device);
      }
    }
  }
}

// Complete pools alone: kube-scheduler allocates nothing from others.
std::map<std::string_view, DevicePlaces::Published> DevicePlaces::published_by_node(
    const Snapshot& cluster) {
  std::map<std::string_view, std::vector<model::ResourceSlicePtr>> slices;
  for (const auto& slice : cluster.resource_slices) {
    if (const std::string& node = model::node_of(*slice); !node.empty()) {
      slices[node].push_back(slice);
    }
  }
  std::map<std::string_view, Published> published;
  for (const auto& [node, all] : slices) {
    for (const model::DevicePool& pool : model::device_pools(all)) {
      if (!pool.complete) {
        continue;
      }
      Published& of_node = published[node];
      of_node.drivers.insert(pool.slices.front()->driver);
      // The slices are the cluster's, so they stay.
      for (const auto& slice : pool.slices) {
        for (const model::Device& device : slice->devices) {
          of_node.offers.push_back({slice->driver, slice->pool, &device});
        }
      }
    }
  }
  return published;
}

// What drivers published on nodes of the type says more than what somebody foresaw.
DevicePlaces::Offers DevicePlaces::offers_of_type(const PoolOption& pool,
                                                  const InstanceType& type) const {
  Offers offers;
  if (const auto* published = problem_.cluster->published_devices.get()) {
    if (const auto known = published->find(type.name); known != published->end()) {
      for (const PublishedDevice& each : known->second) {
        offers.push_back({each.driver, {}, &each.device});
      }
      return offers;
    }
  }
  const auto* templates = problem_.options.device_templates.get();
  if (templates == nullptr || templates->empty()) {
    return offers;
  }
  const Requirements labels = labels_of(pool, type);
  for (const model::DeviceTemplate& each : *templates) {
    if (is_for(each, labels)) {
      for (const model::Device& device : each.devices) {
        offers.push_back({each.driver, {}, &device});
      }
    }
  }
  return offers;
}

DeviceMemory::TypeMasks DevicePlaces::masks_of_types(const PoolOption& pool) {
  DeviceMemory::TypeMasks result;
  for (std::size_t t = 0; pool.types && t < pool.types->size(); ++t) {
    result.masks.push_back(ask(offers_of_type(pool, (*pool.types)[t])));
  }
  result.troubles = queries_.troubles();
  return result;
}

DevicePlaces::Masks DevicePlaces::ask(const Offers& offers) {
  std::vector<std::pair<std::string_view, const model::Device*>> devices;
  devices.reserve(offers.size());
  for (const Offer& offer : offers) {
    devices.emplace_back(offer.driver, offer.device);
  }
  return queries_.masks(devices);
}

void DevicePlaces::note(const Masks& masks) {
  for (std::size_t query = 0; query < most_.size(); ++query) {
    const auto count = std::count_if(masks.begin(), masks.end(),
                                     [&](QueryMask mask) { return (mask >> query & 1U) != 0; });
    most_[query] = std::max<std::int64_t>(most_[query], count);
  }
  seen_.insert(masks.begin(), masks.end());
}

// A driver that has not spoken yet on a node that starts will offer what it does on nodes of the
// type.
std::vector<DevicePlaces::Masks> DevicePlaces::masks_of_node(const NodeRecord& node,
                                                             const Published& published) {
  if (node.initialized()) {
    return {free_of(published.offers)};
  }
  std::vector<Masks> result;
  for (const std::string& name : types_of(node)) {
    Offers offers = published.offers;
    if (const auto type = types_.find({node.node_pool(), name}); type != types_.end()) {
      const PoolOption& pool = problem_.pools[type->second.first];
      for (const Offer& offer : offers_of_type(pool, (*pool.types)[type->second.second])) {
        if (!published.drivers.contains(offer.driver)) {
          offers.push_back(offer);
        }
      }
    }
    result.push_back(free_of(offers));
  }
  return result.empty() ? std::vector<Masks>{free_of(published.offers)} : result;
}

DevicePlaces::Masks DevicePlaces::free_of(const Offers& offers) {
  const Masks all = ask(offers);
  note(all);
  Masks free;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Offer& offer = offers[i];
    if (!taken_.contains({offer.driver, offer.pool, offer.device->name})) {
      free.push_back(all[i]);
    }
  }
  return free;
}

std::set<std::string, std::less<>> DevicePlaces::drivers(std::string_view pool,
                                                         std::string_view instance_type,
                                                         std::size_t query) const {
  std::set<std::string, std::less<>> result;
  const auto type = types_.find({pool, instance_type});
  if (type == types_.end()) {
    return result;
  }
  const auto [p, t] = type->second;
  const Offers offers = offers_of_type(problem_.pools[p], (*problem_.pools[p].types)[t]);
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if ((pools_[p][t][i] >> query & 1U) != 0) {
      result.emplace(offers[i].driver);
    }
  }
  return result;
}

}  // namespace millwright::scheduling

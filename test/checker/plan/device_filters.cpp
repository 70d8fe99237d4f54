#include "checker/plan/device_filters.hpp"

#include "millwright/model/device_selector.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace millwright::checker {
namespace {

struct Candidate {
  std::string_view driver;
  const model::Device* device;
};

template <class T>
const T* named(const std::vector<std::shared_ptr<const T>>& items, const std::string& ns,
               const std::string& name) {
  for (const auto& item : items) {
    if (item->meta.name == name && item->meta.namespace_ == ns) {
      return item.get();
    }
  }
  return nullptr;
}

// Gives devices to requests in turn, and takes them back where it comes to a dead end.
class Giving {
 public:
  Giving(const scheduling::Snapshot& cluster, std::vector<Candidate> candidates)
      : cluster_(cluster), candidates_(std::move(candidates)), given_(candidates_.size()) {}

  std::string give(const Pods& pods) {
    std::set<const model::ResourceClaim*> seen;
    for (const model::Pod* pod : pods) {
      for (const auto& reference : pod->spec.resource_claims) {
        if (reference.claim_name.empty()) {
          const auto* of = named(cluster_.resource_claim_templates, pod->meta.namespace_,
                                 reference.template_name);
          if (of == nullptr) {
            return pod->meta.uid + " has a claim of no template";
          }
          add(of->spec);
          continue;
        }
        const auto* claim =
            named(cluster_.resource_claims, pod->meta.namespace_, reference.claim_name);
        if (claim == nullptr) {
          return pod->meta.uid + " has a claim that does not exist";
        }
        if (claim->allocated && pod->spec.node_name.empty() && !claim->reserved_for.empty()) {
          continue;  // it brings its devices along
        }
        if (seen.insert(claim).second) {
          add(claim->spec);
        }
      }
    }
    return give_from(0) ? "" : "they do not all get devices";
  }

 private:
  void add(const model::ResourceClaimSpec& spec) {
    for (const auto& request : spec.requests) {
      requests_.push_back(request.first_available.empty()
                              ? std::vector<const model::DeviceRequest*>{&request}
                              : std::vector<const model::DeviceRequest*>{});
      for (const auto& alternative : request.first_available) {
        requests_.back().push_back(&alternative);
      }
    }
  }

  bool give_from(std::size_t index) {
    if (index == requests_.size()) {
      return true;
    }
    return std::any_of(requests_[index].begin(), requests_[index].end(), [&](const auto* request) {
      return give_rest(index, *request, request->count, 0);
    });
  }

  // So many more to the request, from the candidate on; then to the requests after it.
  bool give_rest(std::size_t index, const model::DeviceRequest& request, std::int64_t more,
                 std::size_t from) {
    if (more == 0) {
      return give_from(index + 1);
    }
    for (std::size_t i = from; i < candidates_.size(); ++i) {
      if (given_[i] || !matches(request, candidates_[i])) {
        continue;
      }
      given_[i] = true;
      if (give_rest(index, request, more - 1, i + 1)) {
        return true;
      }
      given_[i] = false;
    }
    return false;
  }

  bool matches(const model::DeviceRequest& request, const Candidate& candidate) const {
    const auto* device_class = named(cluster_.device_classes, {}, request.class_name);
    if (device_class == nullptr || request.allocation_mode != "ExactCount") {
      return false;
    }
    std::vector<std::string> all = device_class->selectors;
    all.insert(all.end(), request.selectors.begin(), request.selectors.end());
    return std::all_of(all.begin(), all.end(), [&](const std::string& text) {
      const auto selector = model::DeviceSelector::parse(text);
      return selector && selector->matches(candidate.driver, *candidate.device).value_or(false);
    });
  }

  const scheduling::Snapshot& cluster_;
  std::vector<Candidate> candidates_;
  std::vector<bool> given_;
  std::vector<std::vector<const model::DeviceRequest*>> requests_;  // alternatives of each
};

bool want_devices(const Pods& pods) {
  return std::any_of(pods.begin(), pods.end(),
                     [](const auto* pod) { return !pod->spec.resource_claims.empty(); });
}

}  // namespace

std::string DeviceFilters::on_node(const scheduling::NodeRecord& node, const Pods& pods) const {
  const scheduling::Snapshot& cluster = *problem_.cluster;
  std::set<std::string> taken;
  for (const auto& claim : cluster.resource_claims) {
    for (const auto& device : claim->devices) {
      if (!claim->reserved_for.empty() && !device.admin_access) {
        taken.insert(device.driver + "/" + device.pool + "/" + device.device);
      }
    }
  }
  std::vector<Candidate> candidates;
  bool published = false;
  for (const auto& slice : cluster.resource_slices) {
    if (slice->node_name != node.name()) {
      continue;
    }
    published = true;
    for (const auto& device : slice->devices) {
      if (!taken.contains(slice->driver + "/" + slice->pool + "/" + device.name)) {
        candidates.push_back({slice->driver, &device});
      }
    }
  }
  if (!want_devices(pods) || (!published && !node.initialized())) {
    return {};
  }
  return Giving(cluster, std::move(candidates)).give(pods);
}

std::string DeviceFilters::on_type(const scheduling::PoolOption& option,
                                   const scheduling::InstanceType& type, const Pods& pods) const {
  if (!want_devices(pods)) {
    return {};
  }
  const scheduling::Snapshot& cluster = *problem_.cluster;
  std::vector<Candidate> candidates;
  if (cluster.published_devices && cluster.published_devices->contains(type.name)) {
    for (const auto& each : cluster.published_devices->find(type.name)->second) {
      candidates.push_back({each.driver, &each.device});
    }
  } else if (problem_.options.device_templates) {
    model::StringMap labels = option.pool->template_.labels.value_or(model::StringMap{});
    for (const auto& requirement : type.requirements) {
      if (requirement.values().size() == 1 && !requirement.is_complement()) {
        labels[requirement.key()] = requirement.values().front();
      }
    }
    for (const auto& each : *problem_.options.device_templates) {
      const bool is_for_type =
          std::any_of(each.node_terms.begin(), each.node_terms.end(),
                      [&](const auto& term) { return model::matches(term, labels, ""); });
      for (std::size_t i = 0; is_for_type && i < each.devices.size(); ++i) {
        candidates.push_back({each.driver, &each.devices[i]});
      }
    }
  }
  return Giving(cluster, std::move(candidates)).give(pods);
}

}  // namespace millwright::checker

#include "scheduling/devices/device_asks.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace millwright::scheduling {
namespace {

constexpr std::int64_t kMostDevices = 32;  // that one claim may have, in Kubernetes

template <class T>
const T* find_named(const std::vector<std::shared_ptr<const T>>& sorted, std::string_view ns,
                    std::string_view name) {
  const auto key = [](const auto& item) {
    return std::tuple<std::string_view, std::string_view>(item->meta.name, item->meta.namespace_);
  };
  const std::tuple wanted(name, ns);
  const auto found =
      std::lower_bound(sorted.begin(), sorted.end(), wanted,
                       [&](const auto& item, const auto& value) { return key(item) < value; });
  return found != sorted.end() && key(*found) == wanted ? found->get() : nullptr;
}

void refuse(PodDevices& devices, std::string refusal, std::string remedy) {
  if (devices.refusal.empty()) {
    devices.refusal = std::move(refusal);
    devices.remedy = std::move(remedy);
  }
}

bool names_nodes(const model::NodeSelectorTerm& term) {
  return !term.match_fields.empty();
}

// Nobody but this pod uses what is allocated to the claim, so that it will be free when it goes.
bool is_of_this_pod_alone(const model::ResourceClaim& claim, const model::Pod& pod) {
  return std::all_of(claim.reserved_for.begin(), claim.reserved_for.end(),
                     [&](const std::string& uid) { return uid == pod.meta.uid; });
}

}  // namespace

DeviceAsks::DeviceAsks(const Problem& problem, DeviceQueries& queries)
    : cluster_(*problem.cluster), queries_(queries) {
  find_first_users(problem);
  for (const PodPtr& pod : problem.pods) {
    if (!pod->spec.resource_claims.empty()) {
      by_uid_.emplace(pod->meta.uid, read(*pod));
    }
  }
  for (const KeptRoom& kept : problem.kept) {
    if (kept.sample && !kept.sample->spec.resource_claims.empty()) {
      by_sample_.emplace(kept.sample.get(), read(*kept.sample));
    }
  }
}

const PodDevices* DeviceAsks::of_sample(const model::Pod* sample) const {
  const auto found = by_sample_.find(sample);
  return found == by_sample_.end() ? nullptr : &found->second;
}

// One pod takes the devices of a claim that several share; the others follow it when they are
// allocated. Room that is kept comes first.
void DeviceAsks::find_first_users(const Problem& problem) {
  const auto note = [this](const model::Pod& pod) {
    for (const auto& reference : pod.spec.resource_claims) {
      if (!reference.claim_name.empty()) {
        first_users_.try_emplace({pod.meta.namespace_, reference.claim_name}, pod.meta.uid);
      }
    }
  };
  std::set<std::string_view> kept;
  for (const KeptRoom& room : problem.kept) {
    kept.insert(room.pod_uid);
    if (room.sample) {
      note(*room.sample);
    }
  }
  std::vector<const model::Pod*> pods;
  for (const PodPtr& pod : problem.pods) {
    if (!pod->spec.resource_claims.empty()) {
      pods.push_back(pod.get());
    }
  }
  std::sort(pods.begin(), pods.end(), [&](const model::Pod* a, const model::Pod* b) {
    return std::tuple(!kept.contains(a->meta.uid), std::string_view(a->meta.uid)) <
           std::tuple(!kept.contains(b->meta.uid), std::string_view(b->meta.uid));
  });
  for (const model::Pod* pod : pods) {
    note(*pod);
  }
}

PodDevices DeviceAsks::read(const model::Pod& pod) {
  PodDevices devices;
  for (const auto& reference : pod.spec.resource_claims) {
    read_claim(pod, reference, devices);
  }
  return devices;
}

void DeviceAsks::read_claim(const model::Pod& pod, const model::PodResourceClaim& reference,
                            PodDevices& devices) {
  if (!reference.claim_name.empty()) {
    read_named(pod, reference, devices);
    return;
  }
  const auto* of =
      find_named(cluster_.resource_claim_templates, pod.meta.namespace_, reference.template_name);
  if (of == nullptr) {
    refuse(devices,
           "its ResourceClaimTemplate " + pod.meta.namespace_ + "/" + reference.template_name +
               " does not exist",
           "create ResourceClaimTemplate " + reference.template_name);
    return;
  }
  read_spec("claim " + reference.name, of->spec, devices);
}

void DeviceAsks::read_named(const model::Pod& pod, const model::PodResourceClaim& reference,
                            PodDevices& devices) {
  const std::string name = "ResourceClaim " + pod.meta.namespace_ + "/" + reference.claim_name;
  const auto* claim =
      find_named(cluster_.resource_claims, pod.meta.namespace_, reference.claim_name);
  if (claim == nullptr) {
    refuse(devices, "its " + name + " does not exist",
           "create ResourceClaim " + reference.claim_name);
    return;
  }
  const bool is_bound = !pod.spec.node_name.empty();
  const bool is_let_go =
      is_of_this_pod_alone(*claim, pod) && (is_bound || claim->reserved_for.empty());
  if (claim->allocated && !is_let_go) {
    if (claim->node_terms.empty()) {
      return;
    }
    if (std::any_of(claim->node_terms.begin(), claim->node_terms.end(), names_nodes)) {
      refuse(devices,
             "its " + name + " has devices of one node already, and it can run on no other",
             is_bound ? "" : "make room on that node, or give the pod a claim of its own");
      return;
    }
    devices.node_terms.push_back(claim->node_terms);
    return;
  }
  const auto first = first_users_.find({pod.meta.namespace_, reference.claim_name});
  if (first != first_users_.end() && first->second != pod.meta.uid) {
    refuse(devices,
           "its " + name +
               " is for several pods; it follows the first of them, when that one has "
               "its devices",
           "");
    return;
  }
  read_spec(name, claim->spec, devices);
}

void DeviceAsks::read_spec(const std::string& claim, const model::ResourceClaimSpec& spec,
                           PodDevices& devices) {
  if (spec.constrained) {
    refuse(devices, "the devices of its " + claim + " must match each other, which is not planned",
           "remove spec.devices.constraints");
    return;
  }
  for (const model::DeviceRequest& request : spec.requests) {
    DeviceAsk ask;
    const bool is_read =
        request.first_available.empty()
            ? read_request(claim, request, ask, devices)
            : std::all_of(request.first_available.begin(), request.first_available.end(),
                          [&](const model::DeviceRequest& alternative) {
                            return read_request(claim, alternative, ask, devices);
                          });
    if (!is_read) {
      return;
    }
    devices.asks.push_back(std::move(ask));
  }
}

bool DeviceAsks::read_request(const std::string& claim, const model::DeviceRequest& request,
                              DeviceAsk& ask, PodDevices& devices) {
  const std::string name = "request " + request.name + " of its " + claim;
  if (request.allocation_mode != "ExactCount") {
    refuse(devices,
           name + " has allocationMode " + request.allocation_mode + ", which is not planned",
           "ask for a count of devices");
    return false;
  }
  if (request.admin_access || request.asks_capacity) {
    refuse(devices,
           name + (request.admin_access ? " asks for adminAccess" : " asks for part of a device") +
               ", which is not planned",
           "ask for whole devices");
    return false;
  }
  const auto* device_class = find_named(cluster_.device_classes, {}, request.class_name);
  if (device_class == nullptr) {
    refuse(devices, name + " names DeviceClass " + request.class_name + ", which does not exist",
           "create DeviceClass " + request.class_name);
    return false;
  }
  auto query = queries_.add(*device_class, request.selectors);
  if (!query) {
    refuse(devices, name + ": " + query.error().message, "correct the selector");
    return false;
  }
  ask.alternatives.push_back(
      {.query = *query, .count = std::clamp<std::int64_t>(request.count, 0, kMostDevices + 1)});
  return true;
}

}  // namespace millwright::scheduling

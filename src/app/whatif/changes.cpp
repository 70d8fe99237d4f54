#include "app/whatif/changes.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <set>

namespace millwright::app {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using model::text_at;

constexpr auto kEvictAgain = std::chrono::seconds(5);  // as kubectl drain
constexpr std::size_t kMostListed = 8;
// A sold-out zone stays one for the whole forecast.
constexpr auto kZoneStaysOut = std::chrono::hours(48);

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  std::size_t count = 0;
  for (const auto& name : names) {
    if (count++ == kMostListed) {
      return text + " and " + std::to_string(names.size() - kMostListed) + " more";
    }
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text.empty() ? "none" : text;
}

std::string applied_name(const json::value& object) {
  return std::string(text_at(object, "kind")).append(" ").append(text_at(object, "metadata.name"));
}

// What the server keeps of metadata that an edited file does not show.
void keep_metadata(const json::value& current, json::value& object) {
  auto& metadata = object.at("metadata").as_object();
  const auto& own = current.at("metadata").as_object();
  for (const auto* key : {"uid", "resourceVersion", "finalizers", "ownerReferences"}) {
    if (const auto* value = own.if_contains(key)) {
      metadata[key] = *value;
    } else {
      metadata.erase(key);
    }
  }
  // The controllers' own annotations, among them hashes.
  if (const auto* annotations = own.if_contains("annotations");
      annotations != nullptr && annotations->is_object()) {
    json::object all = annotations->get_object();
    if (const auto* given = metadata.if_contains("annotations");
        given != nullptr && given->is_object()) {
      for (const auto& [key, value] : given->get_object()) {
        all[key] = value;
      }
    }
    metadata["annotations"] = std::move(all);
  }
}

}  // namespace

base::Task<base::Result<>> Changes::make(std::vector<ChangeAsked> changes) {
  for (auto& change : changes) {
    auto made = co_await make_one(std::move(change));
    if (!made) {
      co_return tl::unexpected(std::move(made).error());
    }
  }
  co_return base::Result<>{};
}

base::Task<base::Result<>> Changes::make_one(ChangeAsked change) {
  if (const auto* file = std::get_if<ApplyFile>(&change)) {
    co_return co_await apply(file->file);
  }
  if (const auto* node = std::get_if<DrainNode>(&change)) {
    co_return co_await begin_drain(node->node);
  }
  if (const auto* wanted = std::get_if<ScaleWorkload>(&change)) {
    co_return co_await scale(*wanted);
  }
  if (const auto* price = std::get_if<SetPrice>(&change)) {
    co_return set_price(*price);
  }
  co_return fail_zone(std::get<ZoneOut>(change).zone);
}

base::Task<void> Changes::stop() {
  drains_.request_stop();
  co_await drains_.join();
}

base::Task<base::Result<>> Changes::apply(std::string file) {
  const auto& objects = applied_.at(file);
  for (const auto& object : objects) {
    auto done = co_await put(object);
    if (!done) {
      const std::string what = "apply -f " + file + ": " + applied_name(object);
      co_return base::with_context(what, std::move(done).error());
    }
  }
  co_return base::Result<>{};
}

base::Task<base::Result<>> Changes::put(json::value object) {
  const auto* resource =
      model::find_by_kind(text_at(object, "apiVersion"), text_at(object, "kind"));
  if (resource == nullptr || text_at(object, "metadata.name").empty()) {
    co_return base::fail(ErrorKind::Invalid,
                         "is of no kind known here, or has no name; apply takes NodePools, "
                         "NodeClasses, workloads and PodDisruptionBudgets");
  }
  auto& metadata = object.at("metadata").as_object();
  if (resource->namespaced && !metadata.contains("namespace")) {
    metadata["namespace"] = "default";
  }
  const model::ObjectKey key{std::string(text_at(object, "metadata.namespace")),
                             std::string(text_at(object, "metadata.name"))};
  const auto current = cluster_.world().api().get(*resource, key);
  if (!current) {
    metadata.erase("resourceVersion");
    metadata.erase("uid");
    auto created = co_await cluster_.client().create(*resource, std::move(object));
    MW_CO_CHECK(created);
    co_return base::Result<>{};
  }
  keep_metadata(**current, object);
  // Whoever leaves the count to an autoscaler does not reset it.
  const auto* replicas = model::find_path(**current, "spec.replicas");
  if (replicas != nullptr && resource->group == "apps" && object.at("spec").is_object() &&
      !object.at("spec").get_object().contains("replicas")) {
    object.at("spec").get_object()["replicas"] = *replicas;
  }
  auto replaced = co_await cluster_.client().replace(*resource, std::move(object));
  MW_CO_CHECK(replaced);
  co_return base::Result<>{};
}

base::Task<base::Result<>> Changes::scale(ScaleWorkload wanted) {
  const auto all = model::all_resources();
  const auto resource = *std::find_if(all.begin(), all.end(), [&](const model::Resource& each) {
    return each.group == "apps" && each.plural == wanted.resource;
  });
  const model::ObjectKey key{wanted.namespace_.empty() ? "default" : wanted.namespace_,
                             wanted.name};
  auto& api = cluster_.world().api();
  if (!api.get(resource, key)) {
    std::vector<std::string> names;
    for (const auto& object : api.list(resource)) {
      names.push_back(std::string(text_at(*object, "metadata.namespace")) + "/" +
                      std::string(text_at(*object, "metadata.name")));
    }
    co_return base::fail(ErrorKind::NotFound, "scale: there is no " + std::string(resource.kind) +
                                                  " " + key.to_string() +
                                                  " in the files; there are " + listed(names));
  }
  json::value patch = {{"spec", {{"replicas", wanted.replicas}}}};
  auto patched =
      co_await cluster_.client().patch(resource, key, kube::PatchType::Merge, std::move(patch));
  MW_CO_CHECK(patched);
  co_return base::Result<>{};
}

base::Task<base::Result<>> Changes::begin_drain(std::string node) {
  auto& api = cluster_.world().api();
  const model::ObjectKey key{{}, node};
  if (!api.get(model::kNodeResource, key)) {
    std::vector<std::string> names;
    for (const auto& object : api.list(model::kNodeResource)) {
      names.emplace_back(text_at(*object, "metadata.name"));
    }
    co_return base::fail(ErrorKind::NotFound, "drain: there is no Node " + node +
                                                  " in the files; there are " + listed(names));
  }
  json::value patch = {{"spec", {{"unschedulable", true}}}};
  auto patched = co_await cluster_.client().patch(model::kNodeResource, key, kube::PatchType::Merge,
                                                  std::move(patch));
  MW_CO_CHECK(patched);
  undrained_[node] = "its pods are still ending";
  drains_.spawn(drain(std::move(node)));
  co_return base::Result<>{};
}

std::vector<model::ObjectKey> Changes::pods_to_evict(const std::string& node) {
  std::vector<model::ObjectKey> pods;
  for (const auto& [uid, record] : cluster_.world().recorder().pods()) {
    const auto& pod = *record.last;
    if (!record.gone && !pod.meta.is_deleting() && pod.spec.node_name == node &&
        !model::is_owned_by_daemonset(pod) && !model::is_mirror(pod)) {
      pods.push_back(model::key_of(pod.meta));
    }
  }
  std::sort(pods.begin(), pods.end());
  return pods;
}

base::Task<void> Changes::drain(std::string node) {
  const auto stop = drains_.stop_token();
  while (!stop.stop_requested()) {
    const auto pods = pods_to_evict(node);
    if (pods.empty()) {
      undrained_.erase(node);
      co_return;
    }
    for (const auto& pod : pods) {
      const kube::DeleteOptions options;
      auto evicted = co_await cluster_.client().evict(pod, options, stop);
      if (!evicted && evicted.error().kind != ErrorKind::NotFound) {
        undrained_[node] = "pod " + pod.to_string() + ": " + evicted.error().message;
      }
    }
    co_await base::sleep(cluster_.world().loop(), kEvictAgain, stop);
  }
}

std::vector<cloud::OfferingPattern> Changes::offerings() const {
  std::vector<cloud::OfferingPattern> all;
  for (const auto profile : clouds_) {
    const auto some = cluster_.cloud(profile)->offerings();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

base::Result<> Changes::set_price(const SetPrice& wanted) {
  std::size_t changed = 0;
  for (const auto profile : clouds_) {
    changed += cluster_.cloud(profile)->set_price(wanted.offerings, wanted.price);
  }
  if (changed > 0) {
    return {};
  }
  // The types of the family, or all offerings of the type.
  const auto& type = wanted.offerings.instance_type;
  const auto family = type.substr(0, type.find_first_of(".-"));
  std::set<std::string> names;
  std::set<std::string> sold;
  for (const auto& offering : offerings()) {
    if (offering.instance_type == type) {
      sold.insert(offering.zone + "/" + offering.capacity_type);
    } else if (offering.instance_type.starts_with(family)) {
      names.insert(offering.instance_type);
    }
  }
  return base::fail(ErrorKind::NotFound,
                    sold.empty()
                        ? "price: there is no instance type " + type +
                              " in the catalog; alike are " + listed(names)
                        : "price: " + type + " is not sold so; it is sold as " + listed(sold));
}

base::Result<> Changes::fail_zone(const std::string& zone) {
  std::set<std::string> zones;
  for (const auto& offering : offerings()) {
    zones.insert(offering.zone);
  }
  std::vector<std::pair<std::string, std::string>> machines;  // node, provider id
  for (const auto& object : cluster_.world().api().list(model::kNodeResource)) {
    const auto* labels = model::find_path(*object, "metadata.labels");
    const std::string in(model::as_text(model::member(labels, model::kZoneLabel)));
    if (!in.empty()) {
      zones.insert(in);
    }
    if (in == zone) {
      machines.emplace_back(text_at(*object, "metadata.name"), text_at(*object, "spec.providerID"));
    }
  }
  if (!zones.contains(zone)) {
    return base::fail(ErrorKind::NotFound, "zone-out: no node is in zone " + zone +
                                               " and nothing is sold there; there are " +
                                               listed(zones));
  }
  for (const auto profile : clouds_) {
    auto& cloud = *cluster_.cloud(profile);
    auto settings = cloud.settings();
    settings.unavailable_ttl = kZoneStaysOut;
    cloud.configure(std::move(settings));
    cloud.sell_out({.instance_type = {}, .zone = zone, .capacity_type = {}});
  }
  for (const auto& [node, id] : machines) {
    bool lost = false;
    for (const auto profile : clouds_) {
      lost = lost || cluster_.cloud(profile)->lose(id);
    }
    if (!lost) {  // a machine of no NodeClaim
      cluster_.world().kubelet().terminated(id.empty() ? "node://" + node : id);
    }
  }
  zones_out_.push_back(zone);
  return {};
}

}  // namespace millwright::app

#include "app/whatif/cluster/restoring.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::app {
namespace {

namespace json = boost::json;
using model::text_at;

std::string annotation_of(const json::value& object, std::string_view key) {
  return std::string(
      model::as_text(model::member(model::find_path(object, "metadata.annotations"), key)));
}

// Clouds stamp each NodeClaim with a hash of its NodeClass. That of a real cloud says nothing to a
// simulated one, so a claim that fits its class gets the simulated cloud's own.
class ClaimStamps {
 public:
  ClaimStamps(EmbeddedCluster& cluster, const std::vector<ClusterObject>& objects)
      : cluster_(cluster) {
    for (const auto& each : objects) {
      if (cloud_of(*each.resource)) {
        node_classes_.push_back(&each);
      }
    }
  }

  json::value stamped(const ClusterObject& each) const {
    json::value object = each.object;
    if (*each.resource == model::kNodeClaimResource) {
      stamp(object);
    }
    return object;
  }

 private:
  void stamp(json::value& claim) const {
    const auto reference = reference_at(claim, "spec.nodeClassRef");
    for (const auto* candidate : node_classes_) {
      if (reference_to(*candidate) != reference) {
        continue;
      }
      const auto profile = cloud_of(*candidate->resource);
      auto* cloud = profile ? cluster_.cloud(*profile) : nullptr;
      const auto node_class = model::decode<model::NodeClass>(candidate->object);
      if (cloud != nullptr && node_class) {
        put_stamp(claim, candidate->object, cloud->stamp(*node_class));
      }
    }
  }

  static void put_stamp(json::value& claim, const json::value& made_from,
                        const model::StringMap& stamp) {
    const bool fits = std::all_of(stamp.begin(), stamp.end(), [&](const auto& entry) {
      const auto on_claim = annotation_of(claim, entry.first);
      return !on_claim.empty() && on_claim == annotation_of(made_from, entry.first);
    });
    if (fits) {
      auto& annotations = claim.at("metadata").at("annotations").as_object();
      for (const auto& [key, value] : stamp) {
        annotations[key] = value;
      }
    }
  }

  EmbeddedCluster& cluster_;
  std::vector<const ClusterObject*> node_classes_;
};

base::Result<> adopt_machines(EmbeddedCluster& cluster, std::span<const cloud::Profile> clouds) {
  for (const auto& object : cluster.world().api().list(model::kNodeClaimResource)) {
    MW_TRY(claim, model::decode<model::NodeClaim>(*object));
    if (claim.provider_id.empty()) {
      continue;
    }
    if (auto* cloud = cloud_serving(cluster, clouds, claim.node_class_ref)) {
      cloud->adopt(std::make_shared<const model::NodeClaim>(std::move(claim)));
    }
  }
  return {};
}

}  // namespace

cloud::SimulatedCloud* cloud_serving(EmbeddedCluster& cluster,
                                     std::span<const cloud::Profile> clouds,
                                     const model::NodeClassReference& ref) {
  for (const auto profile : clouds) {
    auto* cloud = cluster.cloud(profile);
    const auto served = cloud->node_classes();
    if (std::any_of(served.begin(), served.end(),
                    [&](const model::Resource& resource) { return ref.is_of(resource); })) {
      return cloud;
    }
  }
  return nullptr;
}

base::Result<> restore_cluster(EmbeddedCluster& cluster, std::span<const cloud::Profile> clouds,
                               const std::vector<ClusterObject>& objects) {
  const ClaimStamps stamps(cluster, objects);
  auto& api = cluster.world().api();
  for (const auto& each : objects) {
    const auto kind = std::string(each.resource->kind);
    auto object = stamps.stamped(each);
    const auto key = model::ObjectKey{std::string(text_at(object, "metadata.namespace")),
                                      std::string(text_at(object, "metadata.name"))};
    if (kind == "Namespace" && api.get(*each.resource, key)) {
      continue;  // every cluster has some
    }
    auto restored = api.restore(*each.resource, std::move(object));
    if (!restored) {
      return base::with_context(kind + " " + key.to_string() + " of the files",
                                std::move(restored).error());
    }
  }
  return adopt_machines(cluster, clouds);
}

}  // namespace millwright::app

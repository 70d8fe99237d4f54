#include "app/serving/admission_view.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace millwright::app {
namespace {

using TypesByNodeClass = std::map<model::NodeClassReference, scheduling::InstanceTypes>;

// Each takes a walk over the nodes and a plan. As many at once as one file has NodePools, mostly.
constexpr auto kBetweenPreviews = std::chrono::seconds(1);
constexpr int kPreviewsAtOnce = 10;

}  // namespace

std::shared_ptr<const webhooks::ClusterSnapshot> AdmissionView::get() const {
  const std::scoped_lock lock(mutex_);
  return cluster_;
}

bool AdmissionView::may_preview(base::TimePoint now) {
  const std::scoped_lock lock(mutex_);
  previews_from_ = std::max(previews_from_, now - kPreviewsAtOnce * kBetweenPreviews);
  if (previews_from_ + kBetweenPreviews > now) {
    return false;
  }
  previews_from_ += kBetweenPreviews;
  return true;
}

void AdmissionView::refresh(const controllers::Services& services) {
  const auto snapshot = services.state.snapshot();
  auto cluster = std::make_shared<webhooks::ClusterSnapshot>();
  auto types = std::make_shared<TypesByNodeClass>();
  cluster->node_pools = snapshot->node_pools;
  for (const auto& node_class : snapshot->node_classes) {
    cluster->node_classes.push_back(*node_class);
    auto reference = model::reference_to(*node_class);
    const auto* provider = services.providers.find(reference.group, reference.kind);
    if (provider == nullptr) {
      continue;
    }
    if (auto found = provider->instance_types(model::NodePool{}, *node_class)) {
      types->emplace(std::move(reference), *std::move(found));
    }
  }
  for (const auto& provider : services.providers.all()) {
    const auto kinds = provider->node_classes();
    cluster->served_node_classes.insert(cluster->served_node_classes.end(), kinds.begin(),
                                        kinds.end());
  }
  cluster->instance_types = [types](const model::NodeClassReference& reference) {
    const auto found = types->find(reference);
    return found == types->end() ? nullptr : found->second;
  };
  cluster->hash_of = [&providers = services.providers](const model::NodeClass& node_class) {
    const auto reference = model::reference_to(node_class);
    const auto* provider = providers.find(reference.group, reference.kind);
    return provider == nullptr ? std::nullopt : provider->hash_of(node_class);
  };
  cluster->unsupported = [&providers = services.providers](const model::NodeClass& node_class) {
    const auto reference = model::reference_to(node_class);
    const auto* provider = providers.find(reference.group, reference.kind);
    return provider == nullptr ? std::vector<std::string>() : provider->unsupported(node_class);
  };
  cluster->cluster = [&state = services.state] { return state.latest(); };
  cluster->may_preview = [this, &loop = services.loop] { return may_preview(loop.now()); };
  cluster->now = services.loop.now();
  const std::scoped_lock lock(mutex_);
  cluster_ = std::move(cluster);
}

}  // namespace millwright::app

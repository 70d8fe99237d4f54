#include "controllers/nodeclaim/conditions/drift.hpp"

namespace millwright::controllers {

base::Task<base::Result<std::string>> drift_of(Services& services, ClaimPtr claim,
                                               std::shared_ptr<const model::NodePool> pool) {
  std::string reason = disruption::drift_reason(*claim, *pool);
  if (!reason.empty()) {
    co_return reason;
  }
  const auto& ref = claim->node_class_ref;
  const auto node_class = find_node_class(*services.state.snapshot(), ref);
  cloud::Provider* provider = services.providers.find(ref.group, ref.kind);
  if (!node_class || provider == nullptr) {
    co_return std::string();
  }
  // Not judged while the NodeClass is not ready (it may have no subnets) or the catalog is not
  // known: an empty list does not mean that the type is gone.
  if (model::is_true(node_class->conditions, model::kReady)) {
    const auto types = provider->instance_types(*pool, *node_class);
    if (types) {
      reason = disruption::sale_drift_reason(*claim, *types, services.loop.now());
    }
  }
  if (!reason.empty()) {
    co_return reason;
  }
  co_return co_await provider->drift(claim, node_class);
}

}  // namespace millwright::controllers

#include "controllers/termination/last_steps.hpp"

namespace millwright::controllers {

base::Result<cloud::Provider*> provider_of(const Services& services,
                                           const model::NodeClaim& claim) {
  const auto& ref = claim.node_class_ref;
  cloud::Provider* provider = services.providers.find(ref.group, ref.kind);
  if (provider == nullptr) {
    return base::fail(base::ErrorKind::Invalid, "NodeClaim " + claim.meta.name +
                                                    ": no cloud of this installation serves " +
                                                    ref.kind + "; its instance cannot be ended");
  }
  return provider;
}

base::Task<base::Result<bool>> end_instance(Services& services, ClaimPtr claim) {
  MW_CO_TRY(provider, provider_of(services, *claim));
  auto removed = co_await provider->remove(claim);
  if (removed) {
    MW_CO_CHECK(co_await edit_conditions(services, claim, [](model::ConditionSet& set) {
      set.set_true(model::kInstanceTerminating);
    }));
    co_return false;
  }
  if (removed.error().kind != base::ErrorKind::NotFound) {
    co_return base::with_context("ending the instance of NodeClaim " + claim->meta.name,
                                 std::move(removed).error());
  }
  co_return true;
}

boost::json::value finalizer_removal(const model::ObjectMeta& meta) {
  boost::json::array finalizers;
  for (const auto& finalizer : meta.finalizers) {
    if (finalizer != model::kTerminationFinalizer) {
      finalizers.emplace_back(finalizer);
    }
  }
  return {{"metadata",
           {{"resourceVersion", meta.resource_version}, {"finalizers", std::move(finalizers)}}}};
}

}  // namespace millwright::controllers

#include "controllers/nodeclaim/expiration.hpp"

namespace millwright::controllers {

std::optional<base::TimePoint> expiry_of(const model::NodeClaim& claim) {
  const auto lifetime = claim.expire_after.value();
  const auto created = claim.meta.creation_timestamp;
  return lifetime && created ? std::optional(*created + *lifetime) : std::nullopt;
}

}  // namespace millwright::controllers

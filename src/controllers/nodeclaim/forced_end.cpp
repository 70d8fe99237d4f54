#include "controllers/nodeclaim/forced_end.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace millwright::controllers {

bool is_out_of_time(const model::NodeClaim& claim, base::TimePoint now) {
  const auto wall =
      base::parse_rfc3339(claim.meta.annotation(model::kTerminationTimestampAnnotation));
  return wall && *wall <= now;
}

base::Task<base::Result<>> end_drain_time(Services& services, ClaimPtr claim) {
  using Json = boost::json::value;
  const std::function<std::optional<Json>(const Json&)> stamp =
      [uid = claim->meta.uid,
       now = services.loop.now()](const Json& object) -> std::optional<Json> {
    const auto current = model::decode<model::NodeClaim>(object);
    if (!current || current->meta.uid != uid || is_out_of_time(*current, now)) {
      return std::nullopt;
    }
    const boost::json::object annotations{
        {model::kTerminationTimestampAnnotation, base::format_rfc3339(now)}};
    return Json{{"metadata", {{"annotations", annotations}}}};
  };
  const auto stamped =
      co_await services.client.update(model::kNodeClaimResource, model::key_of(claim->meta), stamp);
  MW_CO_CHECK(ignore_not_found(stamped));
  if (stamped) {
    if (auto current = model::decode<model::NodeClaim>(*stamped)) {
      services.state.answered(std::make_shared<const model::NodeClaim>(*std::move(current)));
    }
  }
  co_return base::Result<>{};
}

}  // namespace millwright::controllers

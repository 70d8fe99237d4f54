#include "controllers/pools/hash_stamps.hpp"

#include "millwright/model/conditions.hpp"

#include <boost/json.hpp>

namespace millwright::controllers {

bool has_stamp(const model::ObjectMeta& meta, const model::HashStamp& stamp) {
  return meta.annotation(stamp.version_key) == stamp.version &&
         meta.annotation(stamp.key) == stamp.hash;
}

boost::json::object annotations_of(const model::HashStamp& stamp) {
  boost::json::object annotations;
  annotations[stamp.key] = stamp.hash;
  annotations[stamp.version_key] = stamp.version;
  return annotations;
}

base::Task<base::Result<>> stamp_anew(Services& services,
                                      std::vector<std::shared_ptr<const model::NodeClaim>> claims,
                                      model::HashStamp stamp) {
  for (const auto& claim : claims) {
    if (claim->meta.annotation(stamp.version_key) == stamp.version) {
      continue;
    }
    boost::json::object annotations = annotations_of(stamp);
    if (model::find_condition(claim->conditions, model::kDrifted) != nullptr) {
      annotations.erase(stamp.key);
    }
    boost::json::object metadata;
    metadata["annotations"] = std::move(annotations);
    MW_CO_CHECK(ignore_not_found(
        co_await patch_claim(services, claim, ClaimPatch::of_metadata(std::move(metadata)))));
  }
  co_return base::Result<>{};
}

}  // namespace millwright::controllers

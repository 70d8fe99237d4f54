// Drift hashes on NodePools, NodeClasses and their NodeClaims, by Karpenter's rule for a new
// version of a hash (its controllers nodepool.hash and nodeclass.hash): what was made by another
// version takes over the present hash, so that the version alone drifts nobody.
#pragma once

#include "millwright/controllers/services.hpp"

#include <boost/json/value.hpp>

#include <memory>
#include <vector>

namespace millwright::controllers {

bool has_stamp(const model::ObjectMeta& meta, const model::HashStamp& stamp);
// The stamp as annotations.
boost::json::object annotations_of(const model::HashStamp& stamp);

// Gives each claim of another version the stamp. One with a Drifted condition takes the version
// only: it stays drifted.
base::Task<base::Result<>> stamp_anew(Services& services,
                                      std::vector<std::shared_ptr<const model::NodeClaim>> claims,
                                      model::HashStamp stamp);

}  // namespace millwright::controllers

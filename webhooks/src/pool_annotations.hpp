// Millwright's annotations of NodePools (docs/disruption.md). A CRD can have no rules about
// annotations, so the webhook alone refuses what could not be read.
#pragma once

#include "millwright/schema/schema.hpp"
#include "webhooks/src/review.hpp"
#include "webhooks/src/warnings.hpp"

#include <vector>

namespace millwright::webhooks {

// Values that cannot be read. One that was there before is let pass: a controller that touches
// something else could not write the pool otherwise.
std::vector<schema::Problem> annotation_problems(const Review& review);
// Whether an annotation of Millwright's is written, and not only those that controllers write.
bool changes_annotations(const Review& review);
// Values that can be read and will not do what their author thinks, and mistyped keys.
void warn_of_annotations(const model::NodePool& pool, base::TimePoint now, Warnings& warnings);

}  // namespace millwright::webhooks

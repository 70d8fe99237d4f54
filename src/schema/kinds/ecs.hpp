// Pieces that the ECSNodeClasses of both groups share.
#pragma once

#include "schema/engine/field.hpp"

namespace millwright::schema {

Field ecs_metadata_options();

// [{"id": ..., "name": ...}], of the status.
Field ecs_resolved_groups();

}  // namespace millwright::schema

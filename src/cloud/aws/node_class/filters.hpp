// EC2's filters for the tags of a selector term.
#pragma once

#include "cloud/aws/calls/ec2_types.hpp"

#include <vector>

namespace millwright::cloud::aws {

// The value "*" selects whatever has the tag.
std::vector<Filter> tag_filters(const model::StringMap& tags);

}  // namespace millwright::cloud::aws

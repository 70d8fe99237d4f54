// A device as expressions see it.
#pragma once

#include "millwright/model/devices.hpp"
#include "model/cel/value.hpp"

#include <string_view>

namespace millwright::model::cel {

// Invalid where an attribute is no version, though it says so: Kubernetes gives up on such a
// device, whatever the expression looks at.
base::Result<Value> device_value(std::string_view driver, const Device& device);

}  // namespace millwright::model::cel

// The file that --dra-config-file names: DRAConfigs (test.karpenter.sh/v1alpha1), as Karpenter's
// DRA driver for tests reads them from the API server. What they list is planned with where no node
// of a type has published devices yet.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/model/devices.hpp"

#include <string>
#include <vector>

namespace millwright::app {

// Of one or several YAML documents. Invalid names the file, the object and the field.
base::Result<std::vector<model::DeviceTemplate>> load_device_templates(const std::string& path);

}  // namespace millwright::app

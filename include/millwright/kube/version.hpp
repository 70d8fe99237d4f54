// Which version of Kubernetes the API server is.
#pragma once

#include "millwright/kube/transport.hpp"

#include <memory>
#include <string>

namespace millwright::kube {

// "1.33". An error when the API server does not say.
base::Task<base::Result<std::string>> ask_version(std::shared_ptr<Transport> transport);

}  // namespace millwright::kube

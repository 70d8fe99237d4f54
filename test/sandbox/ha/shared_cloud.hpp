// A cloud that all replicas share, as one of them sees it.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/cloud/provider.hpp"

#include <functional>
#include <memory>
#include <string>

namespace millwright::test {

// Answers come through `loop`, the replica's own. `on_write` is told what the cloud is asked to do,
// "create web-1", as it is asked. `cloud` outlives the result.
std::unique_ptr<cloud::Provider> shared_cloud(base::Loop& loop, cloud::Provider& cloud,
                                              std::function<void(std::string)> on_write);

}  // namespace millwright::test

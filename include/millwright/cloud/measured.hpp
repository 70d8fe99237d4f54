// Measures a provider's calls: karpenter_cloudprovider_duration_seconds and
// karpenter_cloudprovider_errors_total, as Karpenter's metrics decorator of cloud providers does.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/cloud/provider.hpp"

#include <memory>

namespace millwright::cloud {

// `loop` and `metrics` must outlive the result. Answers from memory are not measured.
std::unique_ptr<Provider> measured(std::unique_ptr<Provider> provider, base::Loop& loop,
                                   base::Metrics& metrics);

}  // namespace millwright::cloud

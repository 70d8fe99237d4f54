#include "cloud/aws/catalog/estimated_price.hpp"

namespace millwright::cloud::aws {
namespace {

// Of what EC2 asks for m6i in us-east-1: 0.096 for 2 vCPUs and 8 GiB.
constexpr double kPerVcpu = 0.0335;
constexpr double kPerGib = 0.0036;
constexpr double kPerAccelerator = 0.5;

}  // namespace

double estimated_price(const TypeFacts& type) {
  std::int64_t accelerators = 0;
  for (const auto* list : {&type.gpus, type.neuron.empty() ? &type.inference : &type.neuron}) {
    for (const auto& each : *list) {
      accelerators += each.count;
    }
  }
  return kPerVcpu * static_cast<double>(type.cpus) +
         kPerGib * static_cast<double>(type.memory_mib) / 1024 +
         kPerAccelerator * static_cast<double>(accelerators);
}

}  // namespace millwright::cloud::aws

// What the kubelet calls the things it reserves and watches.
#pragma once

#include "schema/engine/pattern.hpp"

#include <string>
#include <vector>

namespace millwright::schema {

const std::vector<std::string>& reservable_resources();  // of kubeReserved and systemReserved
const std::vector<std::string>& eviction_signals();
const Pattern& eviction_threshold();

}  // namespace millwright::schema

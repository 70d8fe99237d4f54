// A transport that lets nothing be written: what must not touch a cluster gets one of these, so
// that no caller has to be trusted with it.
#pragma once

#include "millwright/kube/transport.hpp"

#include <memory>

namespace millwright::kube {

// Passes GET, which reads and watches, and refuses every other method with Denied; those are never
// sent. Loop thread only.
std::shared_ptr<Transport> read_only(std::shared_ptr<Transport> transport);

}  // namespace millwright::kube

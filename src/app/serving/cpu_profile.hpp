// What the program spends its processor time on, for who operates it: a sampled profile of the
// whole process, taken by gperftools, in the format that google-pprof and `go tool pprof` read. As
// Karpenter's --enable-profiling does, on the metrics port.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/net/server.hpp"

namespace millwright::app {

// /debug/pprof/profile?seconds=N, 30 without N, 300 at most. One at a time: a second caller gets
// 409. `loop` outlives the router.
void add_profile_route(net::Router& router, base::Loop& loop);

}  // namespace millwright::app

// The machines of a piece of work over time: when each was bought, had pods, stood empty and went.
// What the picture at the top of the README is drawn from (rollout_picture.py).
#pragma once

#include "plane/field/window.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace millwright::field {

// Seconds are from the window's beginning.
struct MachineLife {
  double bought = 0;                            // the NodeClaim was made; 0 if it was there before
  std::optional<double> ready;                  // its Node was Ready
  std::optional<double> gone;                   // nullopt: there at the end
  std::optional<double> price;                  // $/h
  std::vector<std::pair<double, double>> used;  // pods were bound to it, from and until
};

struct Timeline {
  double seconds = 0;                           // that the window is long
  std::vector<MachineLife> machines;            // by the time they were bought
  std::vector<std::pair<double, int>> waiting;  // how many pods have no node, from then on
};

Timeline timeline_of(const sandbox::Recorder& recorder, const Window& window,
                     const PriceLookup& price);

boost::json::object to_json(const Timeline& timeline);

}  // namespace millwright::field

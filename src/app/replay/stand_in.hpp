// What takes the place of an owner that the sandbox does not play. Pure.
#pragma once

#include "millwright/base/time.hpp"

#include <boost/json/value.hpp>

#include <optional>

namespace millwright::app {

// A ReplicaSet of one pod that creates `pod` anew where its own owner would, or, with `runs_for`, a
// Job whose pod ends after so long. `pod` is of a recording.
boost::json::value stand_in_owner(const boost::json::value& pod,
                                  std::optional<base::Duration> runs_for);
// Makes it the pod's controller.
void give_owner(boost::json::value& pod, const boost::json::value& owner);

// On a pod, or on the template in an object: how long its containers run.
void set_run_for(boost::json::value& holder_of_metadata, base::Duration runs_for);
// Recordings leave images out, and API servers want one.
void fill_images(boost::json::value& object);

}  // namespace millwright::app

// The JSON between `millwright cloud` and RemoteCloud: instances, claims, classes and errors.
#pragma once

#include "millwright/cloud/provider.hpp"

#include <boost/json/value.hpp>

namespace millwright::cloud::wire {

boost::json::value encode(const Instance& instance);
base::Result<Instance> decode_instance(const boost::json::value& json);

boost::json::value encode(const base::Error& error);
// The error in an answer; nullopt when there is none.
std::optional<base::Error> error_in(const boost::json::value& answer);

// Includes the uid, which is the idempotency token.
boost::json::value encode(const model::NodeClaim& claim);
boost::json::value encode(const model::NodeClass& node_class);

}  // namespace millwright::cloud::wire

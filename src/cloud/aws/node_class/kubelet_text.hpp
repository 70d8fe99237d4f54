// The kubelet's settings of an EC2NodeClass as the text that Karpenter hashes. Pure.
#pragma once

#include <boost/json/value.hpp>

#include <string>

namespace millwright::cloud::aws {

// JSON as Go's encoding/json writes a map: keys in order, no spaces, "<", ">" and "&" escaped.
// "null" when the spec has no settings, or an empty block of them.
std::string kubelet_text(const boost::json::value& spec);

}  // namespace millwright::cloud::aws

// What `kubectl get ... -A -o json` would print of a sandbox cluster: the files that what-if reads.
#pragma once

#include "millwright/cloud/simulated.hpp"

#include <string>

namespace millwright::test {

// A NodePool of on-demand amd64 machines of kwok, with more members of its spec and of its
// template's spec (YAML lines, two and six spaces deep).
std::string pool_yaml(const std::string& extra = {}, const std::string& template_extra = {});

// A Deployment "web" in namespace "shop"; `pod_spec` has more members of its pods' spec (YAML
// lines, six spaces deep).
std::string deployment_yaml(int replicas, const std::string& cpu, const std::string& pod_spec = {});

// Applies the documents to an empty cluster, waits until nothing moves, and lists every object. A
// cluster of kwok has NodeClass "default" already.
std::string snapshot_of(const std::string& yaml, cloud::Profile profile = cloud::Profile::Kwok);

}  // namespace millwright::test

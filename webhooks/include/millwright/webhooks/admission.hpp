// AdmissionReview v1: text in, text out, no I/O. Field rules come from the schema room; what this
// room adds is the protocol, defaulting patches, and warnings that need to see other objects.
#pragma once

#include "millwright/model/karpenter.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::webhooks {

// What cross-object warnings look at. Immutable; nullptr fields mean "not known yet", which
// suppresses the warnings that would need them.
struct World {
  std::vector<model::NodePool> node_pools;
  std::vector<model::NodeClass> node_classes;
  // Instance types a pool of this NodeClass could use; empty when unknown.
  std::function<scheduling::InstanceTypes(const model::NodeClassReference&)> instance_types;
  base::TimePoint now;
};
using WorldSource = std::function<std::shared_ptr<const World>()>;

struct HttpReply {
  int status = 200;
  std::string body;  // JSON
};

// Serves /mutate (defaulting) and /validate (rules and warnings). Malformed reviews are answered
// with 400 and a reason, never with an exception; unknown kinds are allowed.
class Admission {
 public:
  explicit Admission(WorldSource world);
  HttpReply mutate(std::string_view review) const;
  HttpReply validate(std::string_view review) const;

 private:
  WorldSource world_;
};

}  // namespace millwright::webhooks

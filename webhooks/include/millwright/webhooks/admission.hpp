// Answers AdmissionReview v1 requests: text in, text out, no I/O. The rules of fields come from the
// schema module. This module adds the protocol, patches with defaults, and warnings that depend on
// other objects.
#pragma once

#include "millwright/model/karpenter.hpp"
#include "millwright/model/kinds.hpp"
#include "millwright/scheduling/instance_type.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::webhooks {

// The other objects that warnings depend on. Immutable. A function that is empty, or returns
// nullptr, means "not known yet": the warnings that need it are left out.
struct ClusterSnapshot {
  std::vector<std::shared_ptr<const model::NodePool>> node_pools;
  std::vector<model::NodeClass> node_classes;
  // The NodeClass kinds of the enabled clouds.
  std::vector<model::Resource> served_node_classes;
  // Instance types a pool of this NodeClass could use; empty when unknown.
  std::function<scheduling::InstanceTypes(const model::NodeClassReference&)> instance_types;
  // What a NodeClass's machines are stamped with; nothing: its cloud does not say.
  std::function<std::optional<model::HashStamp>(const model::NodeClass&)> hash_of;
  // What a NodeClass asks for and its cloud cannot make.
  std::function<std::vector<std::string>(const model::NodeClass&)> unsupported;
  // The newest state of the cluster, for what an edit would replace.
  std::function<scheduling::SnapshotPtr()> cluster;
  // Whether it may be worked out now: who sends reviews must not be able to keep the processor
  // busy.
  std::function<bool()> may_preview;
  base::TimePoint now;
};
using ClusterSnapshotSource = std::function<std::shared_ptr<const ClusterSnapshot>()>;

struct HttpReply {
  int status = 200;
  std::string body;  // JSON
};

// Serves /mutate (defaulting) and /validate (rules and warnings). A malformed review is answered
// with 400 and the reason. Objects of unknown kinds are allowed.
class Admission {
 public:
  explicit Admission(ClusterSnapshotSource cluster);
  HttpReply mutate(std::string_view review) const;
  HttpReply validate(std::string_view review) const;

 private:
  ClusterSnapshotSource cluster_;
};

}  // namespace millwright::webhooks

// A cluster as `kubectl get ... -o yaml` or `-o json` prints it, made ready for another API server
// to take it in. Pure: texts in, objects out.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/model/kinds.hpp"

#include <boost/json/value.hpp>

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

struct ClusterObject {
  const model::Resource* resource = nullptr;
  boost::json::value object;
};

struct ClusterFiles {
  std::vector<ClusterObject> objects;  // Namespaces first
  std::set<cloud::Profile> clouds;     // of the NodeClasses among them
  base::TimePoint newest;              // of all times that are written in them
  std::vector<std::string> notes;      // what a reader of the forecast should know
};

// The kinds of objects that a cluster in files, or in a recording, is made of: owners and their
// workloads come after what these need.
std::span<const model::Resource> planned_kinds();

// One file: YAML documents or JSON, Lists taken apart. Invalid names `file`.
base::Result<std::vector<boost::json::value>> read_objects(std::string_view text,
                                                           const std::string& file);

// All files together. Of objects that are given twice the last counts. Kinds that change no
// decision are left out. Pods whose owner is of a kind unknown here get a ReplicaSet in its place,
// so that somebody creates them anew. Invalid when the forecast could not be right: an owner, a
// NodeClaim, a NodePool or a NodeClass is missing; the message says what to add.
base::Result<ClusterFiles> take_stock(std::vector<boost::json::value> objects);

// A NodeClass of the files, and the class that the member at `path` of an object names.
model::NodeClassReference reference_to(const ClusterObject& node_class);
model::NodeClassReference reference_at(const boost::json::value& object, std::string_view path);

// The cloud whose NodeClass it is.
std::optional<cloud::Profile> cloud_of(const model::Resource& resource);

}  // namespace millwright::app

// CCE's nodes: asked for, described, listed and deleted. A CCE node is a machine that CCE makes and
// joins to the cluster; deleting it deletes the machine. Loop thread only.
#pragma once

#include "cloud/huawei/calls/api.hpp"
#include "millwright/model/labels.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud::huawei {

struct CceNode {
  std::string uid;  // its Node's spec.providerID
  std::string name;
  std::string flavor;
  std::string zone;
  std::string os;
  std::string subnet;
  std::string phase;  // Build, Installing, Active, Abnormal, Deleting, Error, ...
  std::string job;    // that makes it
  std::string server;
  std::string private_ip;  // the Node's name
  bool spot = false;
  model::StringMap tags;  // k8sTags: the Kubernetes labels that it registers with
  std::optional<base::TimePoint> created_at;

  bool is_deleting() const { return phase == "Deleting"; }
  bool is_being_made() const { return phase == "Build" || phase == "Installing"; }
  std::string_view capacity_type() const { return spot ? model::kSpot : model::kOnDemand; }
  std::string tag(std::string_view key) const;
};

// nullopt for an item without what every node has: metadata.uid and spec.
std::optional<CceNode> read_node(const boost::json::value& item);

class CceNodes {
 public:
  CceNodes(Api& api, std::string cluster) : api_(api), cluster_(std::move(cluster)) {}

  // Not repeated when the answer is lost: CCE has no token that makes a second request the first.
  base::Task<ApiResult<CceNode>> create(boost::json::value body);
  // NotFound when there is none of that uid.
  base::Task<ApiResult<CceNode>> get(std::string uid);
  // Every node of the cluster, whoever made it, in one answer: CCE knows no pages of nodes.
  base::Task<ApiResult<std::vector<CceNode>>> list();
  base::Task<ApiResult<>> remove(std::string uid);
  // Why a job of CCE's failed, in its words, without secrets that it may repeat; empty when it did
  // not, or does not say.
  base::Task<ApiResult<std::string>> job_failure(std::string job);

 private:
  Call call(std::string operation, std::string_view uid = {}) const;

  Api& api_;
  std::string cluster_;
};

}  // namespace millwright::cloud::huawei

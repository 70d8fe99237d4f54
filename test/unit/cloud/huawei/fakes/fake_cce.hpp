// A Huawei Cloud that remembers: one project with two flavors in two zones, a subnet, and a CCE
// cluster whose nodes can be made, listed and deleted. Sells out, fails, loses answers and shows
// nodes late on demand.
#pragma once

#include "millwright/model/codec.hpp"
#include "support/machine_shape.hpp"
#include "unit/cloud/huawei/fakes/fake_keys.hpp"

#include <boost/json.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace millwright::cloud::huawei {

// Of what the fake shows.
inline constexpr std::string_view kNodeClass = R"(
apiVersion: karpenter.k8s.huawei/v1alpha1
kind: CCENodeClass
metadata: {name: default}
spec:
  subnetSelectorTerms: [{name: nodes}]
  imsSelector: {imsFamily: Huawei Cloud EulerOS 2.0}
  blockDeviceMappings: {root: {volumeSize: 40, volumeType: SSD}}
  login: {sshKey: key}
)";

class FakeCce {
 public:
  FakeCce(base::VirtualLoop& loop, FakeHttp& http) : loop_(loop) {
    http.handler = [this](const net::ClientRequest& request) { return answer(request); };
  }

  struct Node {
    boost::json::value body;
    std::string phase = "Build";
    base::TimePoint visible_at{};
    base::TimePoint created_at{};
  };
  std::map<std::string, Node> nodes;  // by uid
  int orders = 0;                     // requests for a node, refused ones included
  std::map<std::string, int> calls;   // by method and the last word of the path
  std::set<std::pair<std::string, std::string>> sold_out;  // flavor and zone
  std::optional<net::Response> next_order;                 // instead of a node, once
  int lost_answers = 0;                                    // nodes that are made, but not told
  base::Duration lag{};                                    // until a new node is listed
  std::function<void(const std::string& uid, const Node&)> on_order;
  std::function<void(const std::string& uid)> on_deletion;
  std::string sale_of_xlarge;  // its cond:operation:az
  std::string job_reason;      // why the jobs that made nodes failed; empty: they did not
  bool keeps_unmade = false;   // nodes that are being made cannot be deleted
  int late_answers = 0;        // nodes that show only when show_late() is called, and are not told
  void show_late() {
    nodes.merge(late_);
    late_.clear();
  }
  // What is being deleted is gone.
  void finish_deletions() {
    std::erase_if(nodes, [](const auto& each) { return each.second.phase == "Deleting"; });
  }
  int living() const {
    int count = 0;
    for (const auto& [uid, node] : nodes) {
      count += node.phase == "Deleting" ? 0 : 1;
    }
    return count;
  }

 private:
  using Answer = base::Result<net::Response>;

  static boost::json::object shown(const std::string& uid, const Node& node) {
    boost::json::object result = node.body.as_object();
    result["metadata"] = {{"uid", uid},
                          {"name", "node-" + uid},
                          {"creationTimestamp", base::format_rfc3339(node.created_at)}};
    result["status"] = {{"phase", node.phase},
                        {"jobID", "job-" + uid},
                        {"serverId", "server-" + uid},
                        {"privateIP", "address-of-" + uid}};
    return result;
  }

  Answer answer(const net::ClientRequest& request) {
    const auto path = request.url.substr(0, request.url.find('?'));
    ++calls[request.method + " " + path.substr(path.rfind('/') + 1)];
    const auto has = [&request](std::string_view part) {
      return request.url.find(part) != std::string::npos;
    };
    if (has("/v3/auth/domains")) {
      return net::Response::json(200, R"({"domains":[{"id":"d1"}]})");
    }
    if (has("/v3/projects?")) {
      return net::Response::json(200, R"({"projects":[{"id":"p1"}]})");
    }
    if (has("/cloudservers/flavors")) {
      return net::Response::json(
          200, R"x({"flavors":[{"id":"c9.large.4","name":"c9.large.4","vcpus":"2","ram":8192,)x"
               R"x("os_extra_specs":{"cond:spot:operation:status":"normal",)x"
               R"x("cond:spot:operation:az":"az-b(sellout)"}},)x"
               R"x({"id":"c9.xlarge.4","name":"c9.xlarge.4","vcpus":"4","ram":16384,)x"
               R"x("os_extra_specs":{"cond:operation:az":")x" +
                   sale_of_xlarge + R"("}}]})");
    }
    if (has("/availability-zones")) {
      return net::Response::json(200, R"({"availability_zones":[{"availability_zone_id":"az-a"},)"
                                      R"({"availability_zone_id":"az-b"}]})");
    }
    if (has("/subnets")) {
      return net::Response::json(200, R"({"subnets":[{"id":"subnet-1","name":"nodes",)"
                                      R"("status":"ACTIVE","available_ip_address_count":200}]})");
    }
    if (has("/on-demand-resources")) {
      return net::Response::json(200,
                                 R"({"product_rating_results":[{"id":"c9.large.4","amount":0.7},)"
                                 R"({"id":"c9.xlarge.4","amount":1.4}]})");
    }
    if (has("/jobs/")) {
      const boost::json::object step{
          {"status",
           {{"phase", job_reason.empty() ? "Success" : "Failed"}, {"reason", job_reason}}}};
      return net::Response::json(
          200, boost::json::serialize(boost::json::object{
                   {"kind", "Job"}, {"spec", {{"subJobs", boost::json::array{step}}}}}));
    }
    return has("/clusters/c1/nodes") ? answer_nodes(request) : refusal(404, "X.404", "unexpected");
  }

  Answer answer_nodes(const net::ClientRequest& request) {
    if (request.method == "POST") {
      return order(request);
    }
    const auto uid = request.url.substr(request.url.rfind('/') + 1);
    if (uid == "nodes") {
      boost::json::array items;
      for (const auto& [id, node] : nodes) {
        if (node.visible_at <= loop_.now()) {
          items.push_back(shown(id, node));
        }
      }
      return net::Response::json(200, boost::json::serialize(boost::json::object{
                                          {"kind", "List"}, {"items", std::move(items)}}));
    }
    const auto found = nodes.find(uid);
    if (found == nodes.end() || found->second.visible_at > loop_.now()) {
      return refusal(404, "CCE.01404001", "node not found");
    }
    const bool is_unmade = found->second.phase == "Build" || found->second.phase == "Installing";
    if (request.method == "DELETE" && keeps_unmade && is_unmade) {
      return refusal(409, "CCE.01409002", "the node is being made");
    }
    if (request.method == "DELETE" &&
        std::exchange(found->second.phase, "Deleting") != "Deleting" && on_deletion) {
      on_deletion(uid);
    }
    return net::Response::json(200, boost::json::serialize(shown(uid, found->second)));
  }

  Answer order(const net::ClientRequest& request) {
    ++orders;
    if (next_order) {
      return *std::exchange(next_order, std::nullopt);
    }
    Node node{.body = model::parse_json(request.body).value()};
    node.visible_at = loop_.now() + lag;
    node.created_at = loop_.now();
    const std::pair<std::string, std::string> offering{model::text_at(node.body, "spec.flavor"),
                                                       model::text_at(node.body, "spec.az")};
    if (sold_out.contains(offering)) {
      return refusal(400, "CCE_CM.0021", "the flavor is sold out in the az");
    }
    const auto uid = "u" + std::to_string(++made_);
    if (late_answers > 0) {
      --late_answers;
      late_[uid] = std::move(node);
      return base::fail(base::ErrorKind::Timeout, "no answer");
    }
    const auto reply = boost::json::serialize(shown(uid, node));
    if (on_order) {
      on_order(uid, node);
    }
    nodes[uid] = std::move(node);
    if (lost_answers > 0) {
      --lost_answers;
      return base::fail(base::ErrorKind::Timeout, "no answer");
    }
    return net::Response::json(201, reply);
  }

  base::VirtualLoop& loop_;
  std::map<std::string, Node> late_;
  int made_ = 0;
};

// The machine as its kubelet sees it.
inline Instance instance_of(const std::string& uid, const FakeCce::Node& made) {
  const auto flavor = model::text_at(made.body, "spec.flavor");
  const int cpus = flavor == "c9.large.4" ? 2 : 4;
  return millwright::instance_of({.provider_id = uid,
                                  .node_name = "address-of-" + uid,
                                  .type = std::string(flavor),
                                  .zone = std::string(model::text_at(made.body, "spec.az")),
                                  .cpus = cpus,
                                  .gib = cpus * 4});
}

}  // namespace millwright::cloud::huawei

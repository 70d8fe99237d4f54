// An Alibaba Cloud that remembers, on a virtual loop: one cluster, types in two zones, launches by
// client token, instances that show late, lost answers and offerings that are sold out.
#pragma once

#include "cloud/alibaba/alibaba_cloud.hpp"
#include "millwright/model/codec.hpp"
#include "support/machine_shape.hpp"
#include "unit/cloud/alibaba/fakes/fake_answers.hpp"

#include <boost/json.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millwright::cloud::alibaba {

// Of what the fake shows.
inline constexpr std::string_view kNodeClass = R"(
apiVersion: karpenter.k8s.alibabacloud/v1alpha1
kind: ECSNodeClass
metadata: {name: default}
spec:
  vSwitchSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  imageSelectorTerms: [{alias: ContainerOS}]
)";

class FakeEcs {
 public:
  struct Type {
    std::string name;
    int cpus = 0;
    int gib = 0;
    double price = 0;
  };
  static const std::vector<Type>& types() {
    static const std::vector<Type> all{{"ecs.g7.large", 2, 8, 0.5}, {"ecs.g7.xlarge", 4, 16, 1.0}};
    return all;
  }
  struct Machine {
    std::string id;
    std::string type;
    std::string zone;
    std::string vswitch;
    std::string image;
    bool spot = false;
    bool recycling = false;
    std::string state = "Running";  // "Stopping" once deleted, "" when gone
    base::TimePoint visible_at;
    model::StringMap tags;
  };

  FakeEcs(base::VirtualLoop& loop, FakeHttp& http) : loop_(loop) {
    http.handler = [this](const net::ClientRequest& request) { return answer(request); };
  }

  std::vector<Machine> machines;     // that there ever were
  std::map<std::string, int> calls;  // by action
  std::set<std::string> sold_out;    // "ecs.g7.large z1"
  int lost_answers = 0;              // launches that are made, but not told
  bool refuses_groups = false;       // RAM allows RunInstances only
  base::Duration lag{};              // until a new instance is listed
  std::function<void(const Machine&)> on_launch;
  std::function<void(const Machine&)> on_termination;  // nothing: it is gone at once

  std::vector<Machine> living() const {
    std::vector<Machine> result;
    for (const auto& machine : machines) {
      if (machine.state == "Running") {
        result.push_back(machine);
      }
    }
    return result;
  }
  Machine& find(const std::string& id) {
    return *std::find_if(machines.begin(), machines.end(),
                         [&](const auto& each) { return each.id == id; });
  }

 private:
  using Answer = base::Result<net::Response>;
  using Fields = std::map<std::string, std::string>;

  static Fields fields_of(const std::string& url) {
    Fields fields;
    auto at = url.find('?');
    while (at != std::string::npos) {
      const auto end = url.find('&', at + 1);
      const auto pair = url.substr(at + 1, end == std::string::npos ? end : end - at - 1);
      const auto equal = pair.find('=');
      fields[net::url_decode(pair.substr(0, equal))] = net::url_decode(pair.substr(equal + 1));
      at = end;
    }
    return fields;
  }
  static std::string field(const Fields& fields, const std::string& name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
  }
  static Answer told(const boost::json::value& value) {
    return net::Response::json(200, boost::json::serialize(value));
  }

  Answer answer(const net::ClientRequest& request) {
    const std::string action(request.headers.get("x-acs-action"));
    ++calls[action];
    const auto fields = fields_of(request.url);
    if (action == "CreateAutoProvisioningGroup") {
      return refuses_groups ? Answer(rpc_error("Forbidden.RAM", 403))
                            : once(fields, [&] { return launch_group(fields); });
    }
    if (action == "RunInstances") {
      return once(fields, [&] { return run_one(fields); });
    }
    if (action == "DescribeInstances") {
      return describe(fields);
    }
    if (action == "DeleteInstances") {
      return remove(field(fields, "InstanceId.1"));
    }
    if (action == "DescribeClusterAttachScripts") {
      // As ACK's: no two have the same token.
      return net::Response::text(
          200, "#!/bin/sh\ncurl x | bash -s -- --token t" + std::to_string(++scripts_));
    }
    return describe_region(action, fields);
  }

  Answer describe_region(const std::string& action, const Fields& fields) const {
    if (action == "DescribeInstanceTypes") {
      return told({{"InstanceTypes", {{"InstanceType", type_items()}}}});
    }
    if (action == "DescribeAvailableResource") {
      return told({{"AvailableZones", {{"AvailableZone", stock_items()}}}});
    }
    if (action == "DescribeSpotPriceHistory") {
      return told(
          {{"SpotPrices", {{"SpotPriceType", price_items(field(fields, "InstanceType"))}}}});
    }
    if (action == "DescribeVSwitches") {
      boost::json::array items;
      for (const std::string zone : {"z1", "z2"}) {
        items.push_back(boost::json::object{
            {"VSwitchId", "vsw-" + zone}, {"ZoneId", zone}, {"AvailableIpAddressCount", 250}});
      }
      return told({{"VSwitches", {{"VSwitch", items}}}, {"TotalCount", 2}});
    }
    if (action == "DescribeSecurityGroups") {
      const boost::json::array items{boost::json::object{{"SecurityGroupId", "sg-1"}}};
      return told({{"SecurityGroups", {{"SecurityGroup", items}}}});
    }
    if (action == "DescribeClusterDetail") {
      return net::Response::json(200, R"({"current_version":"1.31.1-aliyun.1",
        "meta_data":"{\"Capabilities\":{\"Network\":\"terway-eniip\"}}"})");
    }
    if (action == "GetClusterAddonInstance") {
      return net::Response::json(200, R"({"name":"terway-eniip","config":""})");
    }
    if (action == "DescribeKubernetesVersionMetadata") {
      return net::Response::json(200, R"([{"images":[{"image_id":"m-1",
        "image_name":"ContainerOS 3.2","architecture":"x86_64"}]}])");
    }
    return rpc_error("InvalidAction.NotFound", 404);
  }
  static boost::json::array type_items() {
    boost::json::array items;
    for (const auto& type : types()) {
      items.push_back(boost::json::object{{"InstanceTypeId", type.name},
                                          {"InstanceTypeFamily", "ecs.g7"},
                                          {"CpuArchitecture", "X86"},
                                          {"CpuCoreCount", type.cpus},
                                          {"MemorySize", type.gib},
                                          {"EniQuantity", 4},
                                          {"EniPrivateIpAddressQuantity", 10}});
    }
    return items;
  }
  static boost::json::array stock_items() {
    boost::json::array zones;
    for (const std::string zone : {"z1", "z2"}) {
      boost::json::array supported;
      for (const auto& type : types()) {
        supported.push_back(
            boost::json::object{{"Value", type.name}, {"StatusCategory", "WithStock"}});
      }
      const boost::json::array resources{
          boost::json::object{{"SupportedResources", {{"SupportedResource", supported}}}}};
      zones.push_back(boost::json::object{
          {"ZoneId", zone}, {"AvailableResources", {{"AvailableResource", resources}}}});
    }
    return zones;
  }
  static boost::json::array price_items(const std::string& name) {
    boost::json::array items;
    for (const auto& type : types()) {
      for (const std::string zone : {"z1", "z2"}) {
        if (type.name == name) {
          items.push_back(boost::json::object{{"ZoneId", zone},
                                              {"SpotPrice", type.price / 4},
                                              {"OriginPrice", type.price},
                                              {"Timestamp", "2026-01-01T23:00:00Z"}});
        }
      }
    }
    return items;
  }

  // By the client token: the same question has the same answer, another one is refused.
  template <class Launch>
  Answer once(const Fields& fields, Launch launch) {
    const auto token = field(fields, "ClientToken");
    EXPECT_FALSE(token.empty());
    EXPECT_LE(token.size(), 64U);
    const auto known = launches_.find(token);
    if (known != launches_.end()) {
      return known->second.first == fields ? told(known->second.second)
                                           : Answer(rpc_error("IdempotentParameterMismatch", 400));
    }
    base::Result<boost::json::value> made = launch();
    if (!made) {
      return rpc_error(made.error().message, 403);
    }
    launches_[token] = {fields, *made};
    if (lost_answers > 0) {
      --lost_answers;
      return base::fail(base::ErrorKind::Timeout, "no answer");
    }
    return told(*made);
  }

  base::Result<boost::json::value> launch_group(const Fields& fields) {
    boost::json::array results;
    const bool spot = field(fields, "SpotTargetCapacity") == "1";
    for (int number = 1;; ++number) {
      const auto at = "LaunchTemplateConfig." + std::to_string(number) + ".";
      const auto type = field(fields, at + "InstanceType");
      if (type.empty()) {
        break;
      }
      const auto vswitch = field(fields, at + "VSwitchId");
      boost::json::object result{{"InstanceType", type},
                                 {"ZoneId", vswitch.substr(4)},
                                 {"SpotStrategy", spot ? "SpotAsPriceGo" : "NoSpot"}};
      if (sold_out.contains(type + " " + vswitch.substr(4))) {
        result["ErrorCode"] = "NoInstanceStock";
        results.push_back(std::move(result));
        continue;
      }
      const auto id = make(fields, "LaunchConfiguration.", {type, vswitch, spot});
      result["InstanceIds"] = {{"InstanceId", boost::json::array{id}}};
      results.push_back(std::move(result));
      break;
    }
    return boost::json::object{{"LaunchResults", {{"LaunchResult", std::move(results)}}}};
  }
  base::Result<boost::json::value> run_one(const Fields& fields) {
    const auto type = field(fields, "InstanceType");
    const auto vswitch = field(fields, "VSwitchId");
    if (sold_out.contains(type + " " + vswitch.substr(4))) {
      return base::fail(base::ErrorKind::NoCapacity, "OperationDenied.NoStock");
    }
    const bool spot = field(fields, "SpotStrategy") != "";
    const boost::json::array ids{boost::json::string(make(fields, "", {type, vswitch, spot}))};
    return boost::json::object{{"InstanceIdSets", {{"InstanceIdSet", ids}}}};
  }

  struct Place {
    std::string type;
    std::string vswitch;
    bool spot = false;
  };
  std::string make(const Fields& fields, const std::string& prefix, const Place& place) {
    Machine machine;
    machine.id = "i-" + std::to_string(machines.size() + 1);
    machine.type = place.type;
    machine.vswitch = place.vswitch;
    machine.zone = place.vswitch.substr(4);
    machine.spot = place.spot;
    machine.image = field(fields, prefix + "ImageId");
    machine.visible_at = loop_.now() + lag;
    for (int tag = 1;; ++tag) {
      const auto at = prefix + "Tag." + std::to_string(tag);
      if (!fields.contains(at + ".Key")) {
        break;
      }
      machine.tags[field(fields, at + ".Key")] = field(fields, at + ".Value");
    }
    machines.push_back(machine);
    if (on_launch) {
      on_launch(machine);
    }
    return machine.id;
  }

  bool is_asked_for(const Machine& machine, const Fields& fields) const {
    for (int tag = 1; fields.contains("Tag." + std::to_string(tag) + ".Key"); ++tag) {
      const auto at = "Tag." + std::to_string(tag);
      const auto has = machine.tags.find(field(fields, at + ".Key"));
      if (has == machine.tags.end() || has->second != field(fields, at + ".Value")) {
        return false;
      }
    }
    const auto ids = field(fields, "InstanceIds");
    return !machine.state.empty() && machine.visible_at <= loop_.now() &&
           (ids.empty() || ids.find('"' + machine.id + '"') != std::string::npos);
  }
  // A hundred a page.
  Answer describe(const Fields& fields) const {
    constexpr std::size_t kPage = 100;
    const auto token = field(fields, "NextToken");
    std::size_t skip = token.empty() ? 0 : std::stoul(token);
    const auto next = std::to_string(skip + kPage);
    bool more = false;
    boost::json::array items;
    for (const auto& machine : machines) {
      if (!is_asked_for(machine, fields)) {
        continue;
      }
      if (skip > 0) {
        --skip;
        continue;
      }
      more = items.size() == kPage;
      if (more) {
        break;
      }
      items.push_back(described(machine));
    }
    return told({{"Instances", {{"Instance", std::move(items)}}}, {"NextToken", more ? next : ""}});
  }
  static boost::json::object described(const Machine& machine) {
    boost::json::array tags;
    for (const auto& [key, value] : machine.tags) {
      tags.push_back(boost::json::object{{"TagKey", key}, {"TagValue", value}});
    }
    boost::json::array locks;
    if (machine.recycling) {
      locks.push_back(boost::json::object{{"LockReason", "Recycling"}});
    }
    const boost::json::array addresses{boost::json::string("address-of-" + machine.id)};
    return {{"InstanceId", machine.id},
            {"InstanceType", machine.type},
            {"ZoneId", machine.zone},
            {"ImageId", machine.image},
            {"Status", machine.state},
            {"SpotStrategy", machine.spot ? "SpotAsPriceGo" : "NoSpot"},
            {"VpcAttributes",
             {{"VSwitchId", machine.vswitch}, {"PrivateIpAddress", {{"IpAddress", addresses}}}}},
            {"SecurityGroupIds", {{"SecurityGroupId", boost::json::array{"sg-1"}}}},
            {"OperationLocks", {{"LockReason", std::move(locks)}}},
            {"Tags", {{"Tag", std::move(tags)}}}};
  }

  Answer remove(const std::string& id) {
    const auto found = std::find_if(machines.begin(), machines.end(), [&](const auto& each) {
      return each.id == id && !each.state.empty() && each.visible_at <= loop_.now();
    });
    if (found == machines.end()) {
      return rpc_error("InvalidInstanceId.NotFound", 404);
    }
    if (found->state == "Running") {
      found->state = on_termination ? "Stopping" : "";
      if (on_termination) {
        on_termination(*found);
      }
    }
    return net::Response::json(200, "{}");
  }

  base::VirtualLoop& loop_;
  std::map<std::string, std::pair<Fields, boost::json::value>> launches_;  // by client token
  int scripts_ = 0;
};

// The machine as its kubelet sees it.
inline Instance instance_of(const FakeEcs::Machine& made) {
  MachineShape shape{.provider_id = "cn-hangzhou." + made.id,
                     .node_name = "node-" + made.id,
                     .type = made.type,
                     .zone = made.zone};
  for (const auto& type : FakeEcs::types()) {
    if (type.name == made.type) {
      shape.cpus = type.cpus;
      shape.gib = type.gib;
    }
  }
  return millwright::instance_of(shape);
}

}  // namespace millwright::cloud::alibaba

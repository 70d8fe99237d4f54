// A provider whose EC2 has a placement group of each strategy.
#pragma once

#include "unit/cloud/aws/provider/provider_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {

inline const std::string kGroupLabelText(kPlacementGroupLabel);
inline const std::string kPartitionLabelText(kPartitionLabel);

inline std::string group(const std::string& id, const std::string& name,
                         const std::string& strategy, int partitions = 0) {
  return "<item><groupName>" + name + "</groupName><groupId>" + id + "</groupId><strategy>" +
         strategy + "</strategy><state>available</state>" +
         (partitions == 0 ? ""
                          : "<partitionCount>" + std::to_string(partitions) + "</partitionCount>") +
         "</item>";
}

class PlacementTest : public ProviderTest {
 protected:
  PlacementTest() {
    ec2.answer_discovery();
    ec2.aws.on("DescribePlacementGroups",
               [this](const Asked& asked) -> base::Result<net::Response> {
                 if (!refusal.empty()) {
                   return ec2_error(refusal, refusal == "UnauthorizedOperation" ? 403 : 503);
                 }
                 const auto name = asked.field("GroupName.1");
                 const auto found = there.find(name.empty() ? asked.field("GroupId.1") : name);
                 if (found == there.end()) {
                   return ec2_error("InvalidPlacementGroup.Unknown");
                 }
                 return xml("<R><placementGroupSet>" + found->second + "</placementGroupSet></R>");
               });
  }

  std::shared_ptr<model::NodeClass> selecting_class() const {
    boost::json::object more;
    if (!selector.empty()) {
      more["placementGroupSelector"] = selector;
    }
    return discovering_class(more);
  }
  // As the nodeclass controller: what resolve() says becomes the object's status.
  base::Result<NodeClassState> resolve() {
    const auto found = selecting_class();
    auto state = wait(loop, cloud->resolve(found));
    if (state) {
      found->status = state->status;
      the_class = found;
    }
    return state;
  }
  // "True", "<reason>: <message>" or "absent".
  static std::string verdict(const NodeClassState& state) {
    for (const auto& each : state.conditions) {
      if (each.type == "PlacementGroupReady") {
        return each.good ? std::string("True") : each.reason + ": " + each.message;
      }
    }
    return "absent";
  }
  scheduling::InstanceType type(const std::string& name) {
    return *scheduling::find_type(*cloud->instance_types({}, *the_class), name);
  }
  // "us-west-2a 1", the zones and partitions in which the type can be had on demand.
  std::vector<std::string> on_sale(const std::string& name) {
    std::vector<std::string> result;
    for (const auto& each : type(name).offerings) {
      const auto* partition = each.requirements.find(kPartitionLabel);
      if (each.available && each.capacity_type() == model::kOnDemand) {
        result.push_back(std::string(each.zone()) +
                         (partition == nullptr ? "" : " " + partition->values().front()));
      }
    }
    return result;
  }
  static std::shared_ptr<model::NodeClaim> claim_in(const std::string& name,
                                                    std::vector<std::string> partitions) {
    auto claim = claim_named(name);
    claim->requirements.push_back(
        {.key = kPartitionLabelText, .op = model::Operator::In, .values = std::move(partitions)});
    return claim;
  }
  std::string launch_template() const { return ec2.aws.calls("CreateLaunchTemplate").back().body; }

  std::map<std::string, std::string> there{{"near", group("pg-near", "near", "cluster")},
                                           {"pg-near", group("pg-near", "near", "cluster")},
                                           {"racks", group("pg-racks", "racks", "partition", 3)},
                                           {"apart", group("pg-apart", "apart", "spread")}};
  std::string refusal;
  boost::json::object selector{{"name", "near"}};
};

}  // namespace millwright::cloud::aws

// An EC2 that remembers: fleets by client token, instances, launch templates; with late
// visibility, lost answers and offerings that are sold out.
#pragma once

#include "cloud/aws/launch/ownership.hpp"
#include "fake_aws.hpp"

#include <set>

namespace millwright::cloud::aws {

// Of what answer_discovery() shows.
inline constexpr std::string_view kNodeClass = R"(
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: node-role
  amiFamily: AL2023
  amiSelectorTerms: [{id: ami-amd}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
)";

class FakeEc2 {
 public:
  FakeEc2(base::VirtualLoop& loop, FakeHttp& http) : loop_(loop), aws(http) {
    aws.on("DescribeInstanceTypes", read_test_data("instance_types.xml"));
    aws.on("DescribeInstanceTypeOfferings", offerings());
    aws.on("DescribeSpotPriceHistory", "<R><spotPriceHistorySet/></R>");
    aws.on("GetProducts", [](const Asked&) { return net::Response::text(500, "<html>"); });
    aws.on("CreateLaunchTemplate", [this](const Asked& asked) { return create_template(asked); });
    aws.on("DescribeLaunchTemplates", [this](const Asked&) { return list_templates(); });
    aws.on("DeleteLaunchTemplate", [this](const Asked& asked) {
      templates.erase(asked.field("LaunchTemplateName"));
      return xml("<R/>");
    });
    aws.on("CreateFleet", [this](const Asked& asked) { return create_fleet(asked); });
    aws.on("RunInstances", [this](const Asked& asked) { return judge(asked); });
    aws.on("DescribeInstances", [this](const Asked& asked) { return describe(asked); });
    aws.on("DescribeInstanceStatus", "<R><instanceStatusSet/></R>");
    aws.on("CreateTags", [this](const Asked& asked) { return tag(asked); });
    aws.on("TerminateInstances", [this](const Asked& asked) { return terminate(asked); });
  }

  // What classes find: subnets "subnet-a" and so on in the zones of these letters, one group and
  // one image.
  void answer_discovery(const std::vector<std::string>& letters = {"a", "b"}) {
    std::string subnets;
    for (const auto& letter : letters) {
      subnets += "<item><subnetId>subnet-" + letter + "</subnetId><availabilityZone>us-west-2" +
                 letter + "</availabilityZone><availabilityZoneId>usw2-az-" + letter +
                 "</availabilityZoneId><availableIpAddressCount>100</availableIpAddressCount>"
                 "</item>";
    }
    aws.on("DescribeSubnets", "<R><subnetSet>" + subnets + "</subnetSet></R>");
    aws.on("DescribeSecurityGroups",
           "<R><securityGroupInfo><item><groupId>sg-1</groupId><groupName>n</groupName>"
           "</item></securityGroupInfo></R>");
    aws.on("DescribeImages",
           "<R><imagesSet><item><imageId>ami-amd</imageId><name>n</name><architecture>x86_64"
           "</architecture><creationDate>2026-01-01T00:00:00.000Z</creationDate></item>"
           "</imagesSet></R>");
  }

  // An IAM with one instance profile.
  void answer_profiles() {
    aws.on("GetInstanceProfile", [this](const Asked&) {
      return profile.empty() ? xml("<ErrorResponse><Error><Code>NoSuchEntity</Code></Error>"
                                   "</ErrorResponse>",
                                   404)
                             : xml("<R><GetInstanceProfileResult><InstanceProfile><Roles><member>"
                                   "<RoleName>node-role</RoleName></member></Roles>"
                                   "</InstanceProfile></GetInstanceProfileResult></R>");
    });
    aws.on("CreateInstanceProfile", [this](const Asked& asked) {
      profile = asked.field("InstanceProfileName");
      return xml("<R/>");
    });
    aws.on("AddRoleToInstanceProfile", "<R/>");
    aws.on("RemoveRoleFromInstanceProfile", "<R/>");
    aws.on("ListInstanceProfiles", [this](const Asked&) {
      return xml(
          "<R><ListInstanceProfilesResult><InstanceProfiles><member>"
          "<InstanceProfileName>" +
          profile +
          "</InstanceProfileName></member></InstanceProfiles>"
          "</ListInstanceProfilesResult></R>");
    });
    aws.on("DeleteInstanceProfile", [this](const Asked&) {
      profile.clear();
      return xml("<R/>");
    });
  }

  struct Machine {
    std::string id;
    std::string type;
    std::string zone;
    std::string subnet;
    std::string image;
    std::string state = "running";
    std::string reservation;
    std::string placement_group;
    int partition = 0;
    base::TimePoint launched_at;
    base::TimePoint visible_at;
    std::map<std::string, std::string> tags;
  };

  std::vector<Machine> living() const {
    std::vector<Machine> result;
    for (const auto& machine : machines) {
      if (machine.state == "running") {
        result.push_back(machine);
      }
    }
    return result;
  }
  int living_in(const std::string& reservation) const {
    const auto all = living();
    return static_cast<int>(std::count_if(
        all.begin(), all.end(), [&](const auto& each) { return each.reservation == reservation; }));
  }
  Machine& find(const std::string& id) {
    return *std::find_if(machines.begin(), machines.end(),
                         [&](const auto& each) { return each.id == id; });
  }

 private:
  base::VirtualLoop& loop_;

 public:
  FakeAws aws;
  std::vector<Machine> machines;
  std::set<std::string> templates;
  std::string profile;             // the instance profile that IAM has
  std::set<std::string> sold_out;  // "m5.large us-west-2a"
  std::set<std::string> denied;    // actions that dry runs say the role may not call
  std::string fleet_error;         // code that every offering fails with
  std::string fleet_error_message = "no luck";
  int partitions = 0;              // of placement groups; where nobody chose, EC2 takes the next
  bool lose_answer = false;        // the next fleet is made, its answer is not seen
  bool reservation_ended = false;  // and its instances run on
  int stock = 1'000'000;           // instances that EC2 has left, of whatever kind
  base::Duration lag{};            // until a new instance is described
  bool hides_partitions = false;   // of instances that it describes
  std::function<void(const Machine&)> on_launch;
  std::function<void(const Machine&)> on_termination;

 private:
  static std::string offerings() {
    std::string items;
    for (const auto& type : test_types()) {
      for (const std::string zone : {"us-west-2a", "us-west-2b"}) {
        items += "<item><instanceType>" + type.name + "</instanceType><location>" + zone +
                 "</location></item>";
      }
    }
    return "<R><instanceTypeOfferingSet>" + items + "</instanceTypeOfferingSet></R>";
  }

  // What a dry run gets to hear.
  net::Response judge(const Asked& asked) const {
    EXPECT_EQ(asked.field("DryRun"), "true");
    return denied.contains(asked.field("Action")) ? ec2_error("UnauthorizedOperation", 403)
                                                  : ec2_error("DryRunOperation", 412);
  }
  net::Response create_template(const Asked& asked) {
    if (denied.contains("CreateLaunchTemplate")) {
      return ec2_error("UnauthorizedOperation", 403);
    }
    reservations_[asked.field("LaunchTemplateName")] = asked.field(
        "LaunchTemplateData.CapacityReservationSpecification."
        "CapacityReservationTarget.CapacityReservationId");
    const std::string placement = "LaunchTemplateData.Placement.";
    placements_[asked.field("LaunchTemplateName")] = {asked.field(placement + "GroupId"),
                                                      asked.field(placement + "PartitionNumber")};
    const bool added = templates.insert(asked.field("LaunchTemplateName")).second;
    return added ? xml("<R/>") : ec2_error("InvalidLaunchTemplateName.AlreadyExistsException");
  }
  net::Response list_templates() const {
    std::string items;
    for (const auto& name : templates) {
      items += "<item><launchTemplateName>" + name + "</launchTemplateName></item>";
    }
    return xml("<R><launchTemplates>" + items + "</launchTemplates></R>");
  }

  static std::string overrides(const std::string& type, const std::string& zone,
                               const std::string& subnet) {
    return "<launchTemplateAndOverrides><overrides><instanceType>" + type +
           "</instanceType><subnetId>" + subnet + "</subnetId><availabilityZone>" + zone +
           "</availabilityZone></overrides></launchTemplateAndOverrides>";
  }

  base::Result<net::Response> create_fleet(const Asked& asked) {
    if (asked.fields.contains("DryRun")) {
      return judge(asked);
    }
    const auto token = asked.field("ClientToken");
    if (const auto known = fleets_.find(token); known != fleets_.end()) {
      return known->second.first == asked.body ? xml(known->second.second)
                                               : ec2_error("IdempotentParameterMismatch");
    }
    std::string errors;
    std::string made;
    const auto wanted = asked.field("TargetCapacitySpecification.TotalTargetCapacity");
    for (int config = 1; made.empty(); ++config) {
      const auto prefix = "LaunchTemplateConfigs." + std::to_string(config);
      const auto name = asked.field(prefix + ".LaunchTemplateSpecification.LaunchTemplateName");
      if (name.empty()) {
        break;
      }
      if (!templates.contains(name)) {
        return ec2_error("InvalidLaunchTemplateName.NotFoundException");
      }
      made = launch_from(asked, prefix, std::stoi(wanted), errors);
    }
    const auto body = "<R><fleetInstanceSet>" + made + "</fleetInstanceSet><errorSet>" + errors +
                      "</errorSet></R>";
    fleets_[token] = {asked.body, body};
    if (std::exchange(lose_answer, false)) {
      return base::fail(base::ErrorKind::Timeout, "no answer");
    }
    return xml(body);
  }

  std::string fleet_error_item(const std::string& offering, const std::string& code) const {
    return "<item>" + offering + "<errorCode>" + code + "</errorCode><errorMessage>" +
           fleet_error_message + "</errorMessage></item>";
  }

  std::string launch_from(const Asked& asked, const std::string& prefix, int wanted,
                          std::string& errors) {
    for (int number = 1;; ++number) {
      const auto at = prefix + ".Overrides." + std::to_string(number);
      const auto type = asked.field(at + ".InstanceType");
      if (type.empty()) {
        return {};
      }
      const auto zone = asked.field(at + ".AvailabilityZone");
      const auto offering = overrides(type, zone, asked.field(at + ".SubnetId"));
      const bool none = sold_out.contains(type + " " + zone) || stock == 0;
      if (none || !fleet_error.empty()) {
        errors += fleet_error_item(offering, none ? "InsufficientInstanceCapacity" : fleet_error);
        continue;
      }
      std::string ids;
      for (; wanted > 0 && stock > 0; --wanted, --stock) {
        ids += "<item>" + launch_one(asked, at) + "</item>";
      }
      if (wanted > 0) {
        errors += fleet_error_item(offering, "InsufficientInstanceCapacity");
      }
      return "<item>" + offering + "<instanceIds>" + ids + "</instanceIds><instanceType>" + type +
             "</instanceType></item>";
    }
  }

  std::string launch_one(const Asked& asked, const std::string& at) {
    Machine machine;
    machine.id = "i-" + std::to_string(machines.size() + 1);
    machine.type = asked.field(at + ".InstanceType");
    machine.zone = asked.field(at + ".AvailabilityZone");
    machine.subnet = asked.field(at + ".SubnetId");
    machine.image = asked.field(at + ".ImageId");
    const auto config = at.substr(0, at.find(".Overrides"));
    const auto used = asked.field(config + ".LaunchTemplateSpecification.LaunchTemplateName");
    machine.reservation = reservations_[used];
    machine.placement_group = placements_[used].first;
    if (const auto& chosen = placements_[used].second; !chosen.empty()) {
      machine.partition = std::stoi(chosen);
    } else if (partitions > 0) {
      machine.partition = static_cast<int>(machines.size()) % partitions + 1;
    }
    machine.launched_at = loop_.now();
    machine.visible_at = loop_.now() + lag;
    for (int tag = 1;
         asked.fields.contains("TagSpecification.1.Tag." + std::to_string(tag) + ".Key"); ++tag) {
      const auto tag_at = "TagSpecification.1.Tag." + std::to_string(tag);
      machine.tags[asked.field(tag_at + ".Key")] = asked.field(tag_at + ".Value");
    }
    machines.push_back(machine);
    if (on_launch) {
      on_launch(machine);
    }
    return machine.id;
  }

  net::Response tag(const Asked& asked) {
    auto& machine = find(asked.field("ResourceId.1"));
    for (int i = 1; asked.fields.contains("Tag." + std::to_string(i) + ".Key"); ++i) {
      const auto at = "Tag." + std::to_string(i);
      machine.tags[asked.field(at + ".Key")] = asked.field(at + ".Value");
    }
    return xml("<R/>");
  }

  std::string describe_one(const Machine& machine) const {
    std::string tags;
    for (const auto& [key, value] : machine.tags) {
      tags += "<item><key>" + key + "</key><value>" + value + "</value></item>";
    }
    return "<item><instancesSet><item><instanceId>" + machine.id + "</instanceId><launchTime>" +
           base::format_rfc3339(machine.launched_at) + "</launchTime><instanceType>" +
           machine.type + "</instanceType><imageId>" + machine.image + "</imageId><subnetId>" +
           machine.subnet + "</subnetId><privateDnsName>ip-" + machine.id +
           "</privateDnsName><instanceState><name>" + machine.state +
           "</name></instanceState><placement><availabilityZone>" + machine.zone +
           "</availabilityZone><groupId>" + machine.placement_group + "</groupId>" +
           (machine.partition == 0 || hides_partitions
                ? ""
                : "<partitionNumber>" + std::to_string(machine.partition) + "</partitionNumber>") +
           "</placement><capacityReservationId>" + (reservation_ended ? "" : machine.reservation) +
           "</capacityReservationId><capacityReservationSpecification>"
           "<capacityReservationTarget><capacityReservationId>" +
           machine.reservation +
           "</capacityReservationId></capacityReservationTarget>"
           "</capacityReservationSpecification><groupSet><item><groupId>sg-1</groupId></item>"
           "</groupSet><tagSet>" +
           tags + "</tagSet></item></instancesSet></item>";
  }

  bool is_asked_for(const Machine& machine, const Asked& asked) const {
    for (const std::string tag :
         {"millwright.io/nodeclaim-uid", "millwright.io/boot-shape", "eks:eks-cluster-name"}) {
      const auto wanted = asked.filter("tag:" + tag);
      const auto has = machine.tags.find(tag);
      if (wanted != "-" && (has == machine.tags.end() || has->second != wanted)) {
        return false;
      }
    }
    return machine.state != "terminated" && machine.visible_at <= loop_.now();
  }

  net::Response describe(const Asked& asked) {
    std::string items;
    if (asked.fields.contains("InstanceId.1")) {
      for (int i = 1; asked.fields.contains("InstanceId." + std::to_string(i)); ++i) {
        const auto id = asked.field("InstanceId." + std::to_string(i));
        const auto found = std::find_if(machines.begin(), machines.end(),
                                        [&](const auto& each) { return each.id == id; });
        if (found == machines.end()) {
          return ec2_error("InvalidInstanceID.NotFound", 400, id);
        }
        items += is_asked_for(*found, asked) ? describe_one(*found) : "";
      }
    } else {
      for (const auto& machine : machines) {
        items += is_asked_for(machine, asked) ? describe_one(machine) : "";
      }
    }
    return xml("<R><reservationSet>" + items + "</reservationSet></R>");
  }

  net::Response terminate(const Asked& asked) {
    for (int i = 1; asked.fields.contains("InstanceId." + std::to_string(i)); ++i) {
      auto& machine = find(asked.field("InstanceId." + std::to_string(i)));
      machine.state = "shutting-down";
      if (on_termination) {
        on_termination(machine);
      }
    }
    return xml("<R/>");
  }

  std::map<std::string, std::string> reservations_;  // by launch template
  // By launch template: group, partition.
  std::map<std::string, std::pair<std::string, std::string>> placements_;
  std::map<std::string, std::pair<std::string, std::string>> fleets_;  // token -> body, answer
};

// The machine as its kubelet sees it.
inline Instance instance_of(const FakeEc2::Machine& made) {
  Instance instance;
  instance.provider_id = provider_id_of(made.zone, made.id);
  instance.node_name = "node-" + made.id;
  instance.labels = {{"node.kubernetes.io/instance-type", made.type},
                     {"topology.kubernetes.io/zone", made.zone}};
  static const auto kTypes = test_types();
  for (const auto& facts : kTypes) {
    if (facts.name == made.type) {
      NodeClassSpec spec;
      spec.family = Family::Al2023;
      scheduling::InstanceType type;
      type.capacity = capacity_of(facts, spec, {});
      type.overhead = overhead_of(facts, spec, type.capacity);
      instance.capacity = type.capacity;
      instance.allocatable = type.allocatable();
    }
  }
  return instance;
}

}  // namespace millwright::cloud::aws

// Writes the status of an EC2NodeClass.
#include "cloud/aws/node_class/resolver.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;

json::array subnets_json(const std::vector<Subnet>& subnets) {
  json::array result;
  for (const auto& each : subnets) {
    json::object item{{"id", each.id}, {"zone", each.zone}};
    if (!each.zone_id.empty()) {
      item["zoneID"] = each.zone_id;
    }
    result.push_back(std::move(item));
  }
  return result;
}

json::array groups_json(const std::vector<SecurityGroup>& groups) {
  json::array result;
  for (const auto& each : groups) {
    result.push_back(json::object{{"id", each.id}, {"name", each.name}});
  }
  return result;
}

json::array images_json(const std::vector<ResolvedImage>& images) {
  json::array result;
  for (const auto& each : images) {
    json::object item{{"id", each.id}, {"name", each.name}};
    if (each.deprecated) {
      item["deprecated"] = true;
    }
    item["requirements"] = model::encode(each.requirements);
    result.push_back(std::move(item));
  }
  return result;
}

json::array reservations_json(const std::vector<CapacityReservation>& reservations) {
  json::array result;
  for (const auto& each : reservations) {
    json::object item{{"id", each.id},
                      {"availabilityZone", each.zone},
                      {"instanceMatchCriteria", each.match_criteria},
                      {"instanceType", each.type},
                      {"ownerID", each.owner},
                      {"reservationType", each.kind},
                      {"state", each.expiring ? "expiring" : "active"},
                      {"interruptible", each.interruptible}};
    if (!each.end_time.empty()) {
      item["endTime"] = each.end_time;
    }
    result.push_back(std::move(item));
  }
  return result;
}

}  // namespace

json::value status_json(const std::vector<Subnet>& subnets,
                        const std::vector<SecurityGroup>& groups,
                        const std::vector<ResolvedImage>& images,
                        const std::vector<CapacityReservation>& reservations,
                        const std::string& profile) {
  json::object status;
  status["subnets"] = subnets_json(subnets);
  status["securityGroups"] = groups_json(groups);
  status["amis"] = images_json(images);
  status["capacityReservations"] =
      reservations.empty() ? json::value() : json::value(reservations_json(reservations));
  status["instanceProfile"] = profile;
  return status;
}

}  // namespace millwright::cloud::aws

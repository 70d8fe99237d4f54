#include "cloud/aws/calls/ec2.hpp"

#include <algorithm>
#include <array>

namespace millwright::cloud::aws {
namespace {

Form form_of(std::string_view action, const std::vector<Filter>& filters) {
  Form form(action, kEc2Version);
  for (const auto& filter : filters) {
    form.add_filter(filter.name, filter.values);
  }
  return form;
}

model::StringMap read_tags(const XmlNode& item) {
  model::StringMap tags;
  for (const auto& tag : item.items("tagSet")) {
    tags[tag.text_of("key")] = tag.text_of("value");
  }
  return tags;
}

std::string arch_of(std::string_view ec2_name) {
  return ec2_name == "x86_64" ? "amd64" : std::string(ec2_name);
}

CountedReservation read_reservation(const XmlNode& item, base::TimePoint now) {
  CountedReservation read;
  auto& reservation = read.reservation;
  reservation.id = item.text_of("capacityReservationId");
  reservation.type = item.text_of("instanceType");
  reservation.zone = item.text_of("availabilityZone");
  reservation.owner = item.text_of("ownerId");
  reservation.match_criteria = item.text_of("instanceMatchCriteria");
  if (item.text_of("reservationType") == "capacity-block") {
    reservation.kind = "capacity-block";
  }
  reservation.end_time = item.text_of("endDate");
  const auto end = base::parse_rfc3339(reservation.end_time);
  reservation.expiring = reservation.is_block() && end && now >= *end - kBlockEndsEarly;
  reservation.interruptible = item.text_of("interruptible") == "true";
  read.available = item.integer_of("availableInstanceCount").value_or(0);
  return read;
}

}  // namespace

std::span<const std::string> living_states() {
  static const std::array<std::string, 5> kStates{"pending", "running", "stopping", "stopped",
                                                  "shutting-down"};
  return kStates;
}

base::Task<ApiResult<>> Ec2::call(Form form) {
  MW_CO_CHECK(co_await api_.query(Service::Ec2, std::move(form)));
  co_return ApiResult<>{};
}

base::Task<ApiResult<>> Ec2::pages(Form form, OnPage on_page) {
  std::string token;
  for (int page = 0; page < kMaxPages; ++page) {
    Form asked = form;
    if (!token.empty()) {
      asked.add("NextToken", token);
    }
    MW_CO_TRY(root, co_await api_.query(Service::Ec2, std::move(asked)));
    on_page(root);
    const auto& next = root.text_of("nextToken");
    if (next.empty() || next == token) {
      break;
    }
    token = next;
  }
  co_return ApiResult<>{};
}

base::Task<ApiResult<std::vector<TypeFacts>>> Ec2::instance_types() {
  const std::vector<Filter> filters{{"supported-virtualization-type", {"hvm"}},
                                    {"processor-info.supported-architecture", {"x86_64", "arm64"}}};
  Form form = form_of("DescribeInstanceTypes", filters);
  form.add("MaxResults", 100);
  std::vector<TypeFacts> types;
  const auto read = [&types](const XmlNode& root) {
    for (const auto& item : root.items("instanceTypeSet")) {
      if (auto facts = read_type(item)) {
        types.push_back(*std::move(facts));
      }
    }
  };
  MW_CO_CHECK(co_await pages(std::move(form), read));
  co_return types;
}

base::Task<ApiResult<ZonesByType>> Ec2::type_zones() {
  Form form("DescribeInstanceTypeOfferings", kEc2Version);
  form.add("LocationType", "availability-zone").add("MaxResults", 1000);
  ZonesByType zones;
  const auto read = [&zones](const XmlNode& root) {
    for (const auto& item : root.items("instanceTypeOfferingSet")) {
      zones[item.text_of("instanceType")].insert(item.text_of("location"));
    }
  };
  MW_CO_CHECK(co_await pages(std::move(form), read));
  co_return zones;
}

base::Task<ApiResult<SpotTable>> Ec2::spot_prices() {
  static const std::vector<std::string> kProducts{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"};
  Form form("DescribeSpotPriceHistory", kEc2Version);
  form.add_list("ProductDescription", kProducts);
  form.add("StartTime", base::format_rfc3339(api_.loop().now())).add("MaxResults", 2000);
  SpotTable prices;
  std::map<std::pair<std::string, std::string>, std::string> newest;
  const auto read = [&](const XmlNode& root) {
    for (const auto& item : root.items("spotPriceHistorySet")) {
      const auto price = item.decimal_of("spotPrice");
      const auto& type = item.text_of("instanceType");
      const auto& zone = item.text_of("availabilityZone");
      auto& time = newest[{type, zone}];
      // RFC 3339 in UTC sorts as text.
      if (price && *price > 0 && item.text_of("timestamp") >= time) {
        time = item.text_of("timestamp");
        prices[type][zone] = *price;
      }
    }
  };
  MW_CO_CHECK(co_await pages(std::move(form), read));
  co_return prices;
}

base::Task<ApiResult<std::vector<Subnet>>> Ec2::subnets(std::vector<Filter> filters) {
  Form form = form_of("DescribeSubnets", filters);
  form.add("MaxResults", 500);
  std::vector<Subnet> found;
  const auto read = [&found](const XmlNode& root) {
    for (const auto& item : root.items("subnetSet")) {
      found.push_back({.id = item.text_of("subnetId"),
                       .zone = item.text_of("availabilityZone"),
                       .zone_id = item.text_of("availabilityZoneId"),
                       .free_addresses = item.integer_of("availableIpAddressCount").value_or(0)});
    }
  };
  MW_CO_CHECK(co_await pages(std::move(form), read));
  co_return found;
}

base::Task<ApiResult<std::vector<SecurityGroup>>> Ec2::security_groups(
    std::vector<Filter> filters) {
  Form form = form_of("DescribeSecurityGroups", filters);
  form.add("MaxResults", 500);
  std::vector<SecurityGroup> found;
  const auto read = [&found](const XmlNode& root) {
    for (const auto& item : root.items("securityGroupInfo")) {
      found.push_back({item.text_of("groupId"), item.text_of("groupName")});
    }
  };
  MW_CO_CHECK(co_await pages(std::move(form), read));
  co_return found;
}

base::Task<ApiResult<std::vector<Image>>> Ec2::images(std::vector<Filter> filters,
                                                      std::vector<std::string> owners) {
  Form form = form_of("DescribeImages", filters);
  form.add_list("Owner", owners);
  form.add("IncludeDeprecated", true).add("MaxResults", 1000);
  const auto now = api_.loop().now();
  std::vector<Image> found;
  const auto read = [&](const XmlNode& root) {
    for (const auto& item : root.items("imagesSet")) {
      const auto deprecation = base::parse_rfc3339(item.text_of("deprecationTime"));
      found.push_back({.id = item.text_of("imageId"),
                       .name = item.text_of("name"),
                       .arch = arch_of(item.text_of("architecture")),
                       .created = item.text_of("creationDate"),
                       .deprecated = deprecation && *deprecation <= now,
                       .tags = read_tags(item)});
    }
  };
  MW_CO_CHECK(co_await pages(std::move(form), read));
  co_return found;
}

base::Task<ApiResult<std::vector<CountedReservation>>> Ec2::reservations(
    std::vector<Filter> filters, std::vector<std::string> ids) {
  filters.push_back({"state", {"active"}});
  Form form = form_of("DescribeCapacityReservations", filters);
  form.add_list("CapacityReservationId", ids);
  if (ids.empty()) {
    form.add("MaxResults", 1000);  // not with ids
  }
  const auto now = api_.loop().now();
  std::vector<CountedReservation> found;
  const auto read = [&](const XmlNode& root) {
    for (const auto& item : root.items("capacityReservationSet")) {
      found.push_back(read_reservation(item, now));
    }
  };
  MW_CO_CHECK(co_await pages(std::move(form), read));
  co_return found;
}

Ec2Instance read_instance(const XmlNode& item) {
  Ec2Instance instance;
  instance.id = item.text_of("instanceId");
  instance.type = item.text_of("instanceType");
  const auto& placement = item.child("placement");
  instance.zone = placement.text_of("availabilityZone");
  instance.tenancy = placement.text_of("tenancy");
  instance.placement_group = placement.text_of("groupId");
  instance.placement_group_name = placement.text_of("groupName");
  const auto partition = placement.integer_of("partitionNumber").value_or(0);
  instance.partition = partition > 0 && partition < 1000 ? static_cast<int>(partition) : 0;
  instance.state = item.child("instanceState").text_of("name");
  instance.image_id = item.text_of("imageId");
  instance.subnet_id = item.text_of("subnetId");
  instance.private_dns_name = item.text_of("privateDnsName");
  // EC2 sets the first on instances of fleets; some emulators set only the second.
  instance.is_spot =
      !item.text_of("spotInstanceRequestId").empty() || item.text_of("instanceLifecycle") == "spot";
  // The target says that the instance was launched for a reservation: one that runs in an open
  // reservation by chance has none. The id says where it runs now, and goes with the reservation.
  if (!item.child("capacityReservationSpecification")
           .child("capacityReservationTarget")
           .text_of("capacityReservationId")
           .empty()) {
    instance.reservation_id = item.text_of("capacityReservationId");
  }
  for (const auto& group : item.items("groupSet")) {
    instance.security_groups.push_back(group.text_of("groupId"));
  }
  std::sort(instance.security_groups.begin(), instance.security_groups.end());
  instance.tags = read_tags(item);
  instance.launched_at = base::parse_rfc3339(item.text_of("launchTime"));
  return instance;
}

base::Task<ApiResult<std::vector<Ec2Instance>>> Ec2::described(Form form) {
  std::vector<Ec2Instance> found;
  const auto read = [&found](const XmlNode& root) {
    for (const auto& reservation : root.items("reservationSet")) {
      for (const auto& item : reservation.items("instancesSet")) {
        found.push_back(read_instance(item));
      }
    }
  };
  MW_CO_CHECK(co_await pages(std::move(form), read));
  co_return found;
}

base::Task<ApiResult<std::vector<Ec2Instance>>> Ec2::instances(std::vector<Filter> filters) {
  Form form = form_of("DescribeInstances", filters);
  form.add("MaxResults", 1000);
  return described(std::move(form));
}

base::Task<ApiResult<std::vector<Ec2Instance>>> Ec2::instances_by_id(std::vector<std::string> ids) {
  Form form("DescribeInstances", kEc2Version);
  form.add_list("InstanceId", ids);
  form.add_filter("instance-state-name",
                  std::vector<std::string>(living_states().begin(), living_states().end()));
  return described(std::move(form));
}

base::Task<ApiResult<>> Ec2::terminate(std::vector<std::string> ids) {
  Form form("TerminateInstances", kEc2Version);
  form.add_list("InstanceId", ids);
  co_return co_await call(std::move(form));
}

base::Task<ApiResult<>> Ec2::create_tags(std::string resource, model::StringMap tags) {
  Form form("CreateTags", kEc2Version);
  form.add("ResourceId.1", resource);
  int position = 0;
  for (const auto& [key, value] : tags) {
    const auto prefix = "Tag." + std::to_string(++position);
    form.add(prefix + ".Key", key).add(prefix + ".Value", value);
  }
  co_return co_await call(std::move(form));
}

base::Task<ApiResult<>> Ec2::create_launch_template(Form form) {
  co_return co_await call(std::move(form));
}

base::Task<ApiResult<std::vector<std::string>>> Ec2::launch_templates(std::vector<Filter> filters) {
  Form form = form_of("DescribeLaunchTemplates", filters);
  form.add("MaxResults", 200);
  std::vector<std::string> names;
  const auto read = [&names](const XmlNode& root) {
    for (const auto& item : root.items("launchTemplates")) {
      names.push_back(item.text_of("launchTemplateName"));
    }
  };
  MW_CO_CHECK(co_await pages(std::move(form), read));
  co_return names;
}

base::Task<ApiResult<>> Ec2::delete_launch_template(std::string name) {
  Form form("DeleteLaunchTemplate", kEc2Version);
  form.add("LaunchTemplateName", name);
  co_return co_await call(std::move(form));
}

base::Task<ApiResult<XmlNode>> Ec2::create_fleet(Form form) {
  Patience patience;
  patience.buys = true;
  co_return co_await api_.query(Service::Ec2, std::move(form), std::move(patience));
}

base::Task<ApiResult<XmlNode>> Ec2::run_instances(Form form) {
  co_return co_await api_.query(Service::Ec2, std::move(form));
}

}  // namespace millwright::cloud::aws

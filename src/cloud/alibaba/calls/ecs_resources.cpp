// What nodes are made in and of: vSwitches, security groups, images; and instances.
#include "cloud/alibaba/calls/ecs.hpp"
#include "millwright/model/json_fields.hpp"

#include <algorithm>
#include <memory>

namespace millwright::cloud::alibaba {
namespace {

constexpr std::size_t kIdsPerCall = 100;

std::string image_arch(std::string_view text) {
  return text == "arm64" ? "arm64" : "amd64";
}

GroupLaunch read_launch(Answer& answer, const boost::json::value& item) {
  GroupLaunch launch;
  launch.type = answer.optional_text(item, "InstanceType");
  launch.zone = answer.optional_text(item, "ZoneId");
  const auto strategy = answer.optional_text(item, "SpotStrategy");
  launch.is_spot = !strategy.empty() && strategy != "NoSpot";
  launch.error_code = answer.optional_text(item, "ErrorCode");
  launch.error_message = answer.optional_text(item, "ErrorMsg");
  for (const auto& id : answer.optional_list(item, "InstanceIds", "InstanceId")) {
    if (model::as_text(&id).empty()) {
      answer.note("InstanceId", "is no text");
      continue;
    }
    launch.instance_ids.emplace_back(model::as_text(&id));
  }
  return launch;
}

}  // namespace

base::Task<ApiResult<std::vector<VSwitch>>> Ecs::vswitches(std::string id, Tags tags) {
  Parameters filter;
  filter.set_tag_filter(tags);
  if (!id.empty()) {
    filter.set("VSwitchId", id);
  }
  const auto found = std::make_shared<std::vector<VSwitch>>();
  const auto read = [found](Answer& answer, const boost::json::value& page) {
    const auto& items = answer.list(page, "VSwitches", "VSwitch");
    for (const auto& item : items) {
      // One that is being made has no addresses yet.
      if (answer.optional_text(item, "Status") != "Pending") {
        found->push_back({.id = answer.text(item, "VSwitchId"),
                          .zone = answer.text(item, "ZoneId"),
                          .free_addresses = answer.count(item, "AvailableIpAddressCount")});
      }
    }
    return items.size();
  };
  MW_CO_CHECK(co_await numbered_pages(Service::Vpc, "DescribeVSwitches", std::move(filter), read));
  co_return std::move(*found);
}

base::Task<ApiResult<std::vector<SecurityGroup>>> Ecs::security_groups(Parameters filter) {
  const auto found = std::make_shared<std::vector<SecurityGroup>>();
  const auto read = [found](Answer& answer, const boost::json::value& page) {
    for (const auto& item : answer.list(page, "SecurityGroups", "SecurityGroup")) {
      found->push_back({.id = answer.text(item, "SecurityGroupId"),
                        .name = answer.optional_text(item, "SecurityGroupName")});
    }
  };
  MW_CO_CHECK(co_await pages("DescribeSecurityGroups", std::move(filter), read));
  co_return std::move(*found);
}

base::Task<ApiResult<std::vector<Image>>> Ecs::images(Parameters filter) {
  filter.set("Status", "Available");
  const auto found = std::make_shared<std::vector<Image>>();
  const auto read = [found](Answer& answer, const boost::json::value& page) {
    const auto& items = answer.list(page, "Images", "Image");
    for (const auto& item : items) {
      found->push_back({.id = answer.text(item, "ImageId"),
                        .name = answer.optional_text(item, "ImageName"),
                        .arch = image_arch(answer.optional_text(item, "Architecture")),
                        .created = answer.optional_text(item, "CreationTime"),
                        .owner_id = answer.account(item, "ImageOwnerId")});
    }
    return items.size();
  };
  MW_CO_CHECK(co_await numbered_pages(Service::Ecs, "DescribeImages", std::move(filter), read));
  co_return std::move(*found);
}

base::Task<ApiResult<std::vector<EcsInstance>>> Ecs::instances(Parameters filter) {
  const auto found = std::make_shared<std::vector<EcsInstance>>();
  const auto read = [found](Answer& answer, const boost::json::value& page) {
    for (const auto& item : answer.list(page, "Instances", "Instance")) {
      found->push_back(read_instance(answer, item));
    }
  };
  MW_CO_CHECK(co_await pages("DescribeInstances", std::move(filter), read));
  co_return std::move(*found);
}

base::Task<ApiResult<std::vector<EcsInstance>>> Ecs::instances_by_id(std::vector<std::string> ids) {
  std::vector<EcsInstance> found;
  for (std::size_t from = 0; from < ids.size(); from += kIdsPerCall) {
    const auto end = std::min(ids.size(), from + kIdsPerCall);
    Parameters filter;
    filter.set_json_list("InstanceIds", std::span(ids).subspan(from, end - from));
    MW_CO_TRY(some, co_await instances(std::move(filter)));
    std::move(some.begin(), some.end(), std::back_inserter(found));
  }
  co_return found;
}

base::Task<ApiResult<std::vector<EcsInstance>>> Ecs::instances_by_tags(Tags tags) {
  Parameters filter;
  filter.set_tag_filter(tags);
  co_return co_await instances(std::move(filter));
}

base::Task<ApiResult<>> Ecs::delete_instances(std::vector<std::string> ids) {
  Parameters parameters;
  parameters.set_list("InstanceId", ids).set("Force", true).set("TerminateSubscription", true);
  MW_CO_CHECK(co_await api_.rpc(Service::Ecs, "DeleteInstances", std::move(parameters)));
  co_return ApiResult<>{};
}

base::Task<ApiResult<boost::json::value>> Ecs::buy(std::string action, Parameters parameters) {
  Patience patience;
  patience.buys = true;
  co_return co_await api_.rpc(Service::Ecs, std::move(action), std::move(parameters),
                              std::move(patience));
}

base::Task<ApiResult<std::vector<GroupLaunch>>> Ecs::create_group(Parameters parameters) {
  const std::string action = "CreateAutoProvisioningGroup";
  MW_CO_TRY(answered, co_await buy(action, std::move(parameters)));
  Answer answer;
  std::vector<GroupLaunch> launches;
  for (const auto& item : answer.list(answered, "LaunchResults", "LaunchResult")) {
    launches.push_back(read_launch(answer, item));
  }
  if (!answer.is_good()) {
    co_return tl::unexpected(bad_answer("ecs " + action, answer.problem()));
  }
  co_return launches;
}

base::Task<ApiResult<std::string>> Ecs::run_instance(Parameters parameters) {
  const std::string action = "RunInstances";
  MW_CO_TRY(answered, co_await buy(action, std::move(parameters)));
  Answer answer;
  for (const auto& id : answer.list(answered, "InstanceIdSets", "InstanceIdSet")) {
    if (const auto text = model::as_text(&id); !text.empty()) {
      co_return std::string(text);
    }
  }
  answer.note("InstanceIdSet", "holds no instance");
  co_return tl::unexpected(bad_answer("ecs " + action, answer.problem()));
}

}  // namespace millwright::cloud::alibaba

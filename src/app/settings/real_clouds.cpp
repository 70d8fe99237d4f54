#include "app/settings/real_clouds.hpp"

#include "app/settings/setting_values.hpp"

#include <algorithm>
#include <utility>

namespace millwright::app {
namespace {

std::string_view node_class_of(cloud::Profile cloud) {
  switch (cloud) {
    case cloud::Profile::Kwok:
      return "KWOKNodeClass";
    case cloud::Profile::Aws:
      return "EC2NodeClass";
    case cloud::Profile::Alibaba:
      return "ECSNodeClass";
    case cloud::Profile::Huawei:
      break;
  }
  return "CCENodeClass";
}

bool is_among(std::span<const cloud::Profile> clouds, cloud::Profile cloud) {
  return std::find(clouds.begin(), clouds.end(), cloud) != clouds.end();
}

}  // namespace

std::string read_real_clouds(std::string_view text, std::vector<cloud::Profile>& clouds) {
  std::vector<cloud::Profile> read;
  for (const auto& name : split(text)) {
    const auto cloud = cloud::parse_profile(name);
    if (!cloud || *cloud == cloud::Profile::Kwok) {
      return "must be a list of aws, alibaba, huawei; " + in_quotes(name) + " is none of them";
    }
    if (!is_among(read, *cloud)) {
      read.push_back(*cloud);
    }
  }
  clouds = std::move(read);
  return {};
}

std::vector<std::string> named_twice(std::span<const cloud::Profile> real,
                                     std::span<const cloud::Profile> simulated) {
  std::vector<std::string> problems;
  for (const auto cloud : real) {
    if (is_among(simulated, cloud)) {
      problems.push_back(std::string("--clouds and --simulated-clouds both name ")
                             .append(cloud::to_string(cloud))
                             .append("; its ")
                             .append(node_class_of(cloud))
                             .append("es can have one of them"));
    }
  }
  return problems;
}

std::string cloud_list(std::span<const cloud::Profile> clouds, std::string_view separator) {
  std::string list;
  for (const auto cloud : clouds) {
    list.append(list.empty() ? "" : separator).append(cloud::to_string(cloud));
  }
  return list;
}

}  // namespace millwright::app

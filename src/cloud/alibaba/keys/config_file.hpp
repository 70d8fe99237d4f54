// The file of Alibaba Cloud's command line tool, ~/.aliyun/config.json: profiles of several modes.
#pragma once

#include "cloud/common/environment.hpp"

#include <optional>
#include <string>

namespace millwright::cloud::alibaba {

struct ConfigProfile {
  std::string name;
  std::string mode;  // "AK", "StsToken", "OIDC", "EcsRamRole", ...
  std::string access_key_id;
  std::string access_key_secret;
  std::string sts_token;
  std::string ram_role_name;
  std::string ram_role_arn;
  std::string oidc_provider_arn;
  std::string oidc_token_file;
  std::string region_id;
};

// The profile that ALIBABA_CLOUD_PROFILE names, else the file's current one. nullopt when there is
// no file; Invalid when it cannot be read, or has no such profile. Shows nothing of its content.
base::Result<std::optional<ConfigProfile>> load_config_profile(
    const ProcessEnvironment& environment);

}  // namespace millwright::cloud::alibaba

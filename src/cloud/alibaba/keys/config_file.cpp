#include "cloud/alibaba/keys/config_file.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json/array.hpp>

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;

ConfigProfile profile_of(const boost::json::value& json) {
  const auto text = [&json](std::string_view key) {
    return std::string(model::as_text(model::member(json, key)));
  };
  return {.name = text("name"),
          .mode = text("mode"),
          .access_key_id = text("access_key_id"),
          .access_key_secret = text("access_key_secret"),
          .sts_token = text("sts_token"),
          .ram_role_name = text("ram_role_name"),
          .ram_role_arn = text("ram_role_arn"),
          .oidc_provider_arn = text("oidc_provider_arn"),
          .oidc_token_file = text("oidc_token_file"),
          .region_id = text("region_id")};
}

}  // namespace

base::Result<std::optional<ConfigProfile>> load_config_profile(
    const ProcessEnvironment& environment) {
  const auto path = environment.text("HOME") + "/.aliyun/config.json";
  const auto text = environment.read_file(path);
  auto wanted = environment.text("ALIBABA_CLOUD_PROFILE");
  if (!text && text.error().kind == ErrorKind::NotFound && wanted.empty()) {
    return std::optional<ConfigProfile>();
  }
  if (!text) {
    return tl::unexpected(text.error());
  }
  const auto json = model::parse_json(*text);
  if (!json) {
    return base::fail(ErrorKind::Invalid, path + " is not JSON");
  }
  if (wanted.empty()) {
    wanted = model::text_at(*json, "current");
  }
  const auto* list = model::member(*json, "profiles");
  const auto* profiles = list == nullptr ? nullptr : list->if_array();
  if (profiles != nullptr) {
    for (const auto& each : *profiles) {
      auto profile = profile_of(each);
      if (profile.name == wanted) {
        return std::optional(std::move(profile));
      }
    }
  }
  return base::fail(ErrorKind::Invalid, path + " has no profile \"" + wanted + "\"");
}

}  // namespace millwright::cloud::alibaba

// Keys from the environment, from web identity and from shared files.
#include "cloud/aws/keys/credentials.hpp"
#include "cloud/aws/keys/profile_file.hpp"

#include <charconv>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

constexpr std::string_view kSessionName = "millwright";
constexpr int kMaxChain = 8;  // profiles that assume roles of profiles that ...

std::string text(const Profile& profile, std::string_view key) {
  const auto found = profile.find(key);
  return found == profile.end() ? std::string() : found->second;
}

std::string or_else(std::string value, std::string_view otherwise) {
  return value.empty() ? std::string(otherwise) : value;
}

int duration_of(const Profile& profile) {
  const auto value = text(profile, "duration_seconds");
  int seconds = 0;
  std::from_chars(value.data(), value.data() + value.size(), seconds);
  return seconds >= 900 ? seconds : 3600;
}

base::Result<std::string> read_token(const ProcessEnvironment& environment,
                                     const std::string& path) {
  MW_TRY(token, environment.read_file(path));
  const auto clean = trimmed(token);
  if (clean.empty()) {
    return base::fail(ErrorKind::Invalid, path + " holds no web identity token");
  }
  return std::string(clean);
}

std::optional<Credentials> keys_of(const Profile& profile) {
  Credentials credentials;
  credentials.access_key_id = text(profile, "aws_access_key_id");
  credentials.secret_access_key = text(profile, "aws_secret_access_key");
  credentials.session_token = text(profile, "aws_session_token");
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return std::nullopt;
  }
  return credentials;
}

// The source that a profile's credential_source names.
base::Task<Found> from_named_source(CredentialParts parts, std::string source) {
  if (source == "Environment") {
    co_return from_environment(parts.environment);
  }
  if (source == "EcsContainer") {
    co_return co_await from_container(parts);
  }
  if (source == "Ec2InstanceMetadata") {
    co_return co_await from_instance_metadata(parts);
  }
  co_return base::fail(ErrorKind::Invalid,
                       "credential_source: expected Environment, EcsContainer or "
                       "Ec2InstanceMetadata");
}

// Takes its arguments by value because the coroutine may outlive the caller's.
base::Task<Found> from_profile(CredentialParts parts, Profiles profiles, std::string name,
                               int depth) {
  const auto where = "AWS profile \"" + name + "\"";
  const auto found = profiles.find(name);
  if (found == profiles.end()) {
    co_return std::optional<Credentials>();
  }
  const Profile profile = found->second;
  if (depth > kMaxChain) {
    co_return base::fail(ErrorKind::Invalid, where + ": source_profile leads in a circle");
  }
  AssumedRole role;
  role.role_arn = text(profile, "role_arn");
  if (role.role_arn.empty()) {
    if (auto keys = keys_of(profile)) {
      co_return keys;
    }
    for (const std::string_view unsupported :
         {"credential_process", "sso_session", "sso_start_url"}) {
      if (!text(profile, unsupported).empty()) {
        co_return base::fail(ErrorKind::Invalid,
                             where + ": " + std::string(unsupported) +
                                 " is not supported; use keys, a role or the environment");
      }
    }
    co_return std::optional<Credentials>();
  }
  role.session_name = or_else(text(profile, "role_session_name"), kSessionName);
  role.external_id = text(profile, "external_id");
  role.duration_seconds = duration_of(profile);
  std::optional<Credentials> keys;
  if (const auto file = text(profile, "web_identity_token_file"); !file.empty()) {
    MW_CO_TRY(token, read_token(parts.environment, file));
    role.token = token;
  } else {
    const auto source = text(profile, "source_profile");
    Found base_keys = std::optional<Credentials>();
    if (source == name) {
      base_keys = keys_of(profile);
    } else if (!source.empty()) {
      base_keys = co_await from_profile(parts, profiles, source, depth + 1);
    } else {
      base_keys = co_await from_named_source(parts, text(profile, "credential_source"));
    }
    if (!base_keys || !*base_keys) {
      const auto why = base_keys ? "no keys to assume it with" : base_keys.error().message;
      co_return base::fail(ErrorKind::Invalid, where + ": role_arn: " + why);
    }
    keys = **base_keys;
  }
  auto assumed = co_await assume_role(parts, role, keys);
  if (!assumed) {
    co_return base::with_context(where, std::move(assumed).error());
  }
  co_return std::optional(*std::move(assumed));
}

}  // namespace

Found from_environment(const ProcessEnvironment& environment) {
  const auto either = [&](const std::string& name, const std::string& other) {
    const auto value = environment.text(name);
    return value.empty() ? environment.text(other) : value;
  };
  Credentials credentials;
  credentials.access_key_id = either("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY");
  credentials.secret_access_key = either("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY");
  credentials.session_token = environment.text("AWS_SESSION_TOKEN");
  if (credentials.access_key_id.empty() && credentials.secret_access_key.empty()) {
    return std::optional<Credentials>();
  }
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return base::fail(ErrorKind::Invalid,
                      "the environment has only one of AWS_ACCESS_KEY_ID and "
                      "AWS_SECRET_ACCESS_KEY; set both or none");
  }
  return credentials;
}

base::Task<Found> from_web_identity(CredentialParts parts) {
  const auto& around = parts.environment;
  const auto file = around.text("AWS_WEB_IDENTITY_TOKEN_FILE");
  AssumedRole role;
  role.role_arn = around.text("AWS_ROLE_ARN");
  if (file.empty() || role.role_arn.empty()) {
    co_return std::optional<Credentials>();
  }
  role.session_name = or_else(around.text("AWS_ROLE_SESSION_NAME"), kSessionName);
  auto read = read_token(around, file);
  if (!read) {
    co_return base::with_context("AWS_WEB_IDENTITY_TOKEN_FILE", std::move(read).error());
  }
  role.token = *std::move(read);
  std::optional<Credentials> no_keys;
  MW_CO_TRY(credentials, co_await assume_role(parts, role, no_keys));
  co_return std::optional(std::move(credentials));
}

base::Task<Found> from_shared_files(CredentialParts parts) {
  auto loaded = load_profiles(parts.environment);
  MW_CO_TRY(profiles, std::move(loaded));
  const auto name = profile_name(parts.environment);
  if (!parts.environment.text("AWS_PROFILE").empty() && !profiles.contains(name)) {
    co_return base::fail(ErrorKind::Invalid, "AWS_PROFILE names \"" + name +
                                                 "\", which is in neither ~/.aws/config nor "
                                                 "~/.aws/credentials");
  }
  co_return co_await from_profile(parts, std::move(profiles), name, 0);
}

}  // namespace millwright::cloud::aws

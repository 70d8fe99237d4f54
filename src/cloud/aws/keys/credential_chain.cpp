#include "cloud/aws/keys/credentials.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

}  // namespace

CredentialChain::CredentialChain(CredentialParts parts)
    : parts_(std::move(parts)),
      renewed_({.loop = parts_.loop,
                .cloud = "AWS",
                .find = [this] { return find(); },
                .log = parts_.log}) {}

base::Task<base::Result<Credentials>> CredentialChain::find() const {
  Found found = from_environment(parts_.environment);
  using Source = base::Task<Found> (*)(CredentialParts);
  constexpr std::array<Source, 4> kSources{from_web_identity, from_shared_files, from_container,
                                           from_instance_metadata};
  for (const auto source : kSources) {
    if (!found || *found) {
      break;
    }
    found = co_await source(parts_);
  }
  if (!found) {
    co_return base::with_context("AWS credentials", std::move(found).error());
  }
  if (!*found) {
    co_return base::fail(ErrorKind::Denied,
                         "no AWS credentials: looked for AWS_ACCESS_KEY_ID, "
                         "AWS_WEB_IDENTITY_TOKEN_FILE, a profile in ~/.aws, "
                         "AWS_CONTAINER_CREDENTIALS_FULL_URI and an instance role");
  }
  co_return **std::move(found);
}

}  // namespace millwright::cloud::aws

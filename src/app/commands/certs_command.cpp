#include "app/commands/certs_command.hpp"

#include "millwright/base/loop.hpp"
#include "millwright/certs/certs.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

namespace millwright::app {

int run_certs(const CertsArguments& arguments) {
  certs::Policy policy;
  policy.dns_names = arguments.names;
  policy.leaf_life = std::chrono::hours(24) * arguments.days;
  const auto bundle = certs::reconcile(std::nullopt, policy, base::system_now());
  if (!bundle) {
    std::fprintf(stderr, "certs: %s\n", bundle.error().message.c_str());
    return 1;
  }
  const std::pair<const char*, const std::string*> files[] = {
      {"ca.crt", &bundle->ca.certificate_pem},         {"ca.key", &bundle->ca.key_pem},
      {"tls.crt", &bundle->leaf.certificate_pem},      {"tls.key", &bundle->leaf.key_pem},
      {"client.crt", &bundle->client.certificate_pem}, {"client.key", &bundle->client.key_pem}};
  for (const auto& [name, text] : files) {
    const auto path = std::filesystem::path(arguments.directory) / name;
    std::ofstream file(path, std::ios::trunc);
    std::error_code error;
    std::filesystem::permissions(
        path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
    file << *text;
    if (!file.flush() || error) {
      std::fprintf(stderr, "certs: cannot write %s\n", path.c_str());
      return 1;
    }
    std::printf("%s\n", path.c_str());
  }
  return 0;
}

}  // namespace millwright::app

#include "app/commands/install_command.hpp"

#include "app/settings/real_clouds.hpp"
#include "millwright/app/install.hpp"

#include <cstdio>

namespace millwright::app {
namespace {

base::Result<std::vector<cloud::Profile>> parse_clouds(std::string_view text) {
  std::vector<cloud::Profile> profiles;
  while (!text.empty() && text != "none") {
    const std::size_t comma = text.find(',');
    const auto profile = cloud::parse_profile(text.substr(0, comma));
    if (!profile) {
      return base::fail(
          base::ErrorKind::Invalid,
          "--simulated-clouds must be auto, none, or a list of kwok, aws, alibaba, huawei; "
          "not \"" +
              std::string(text.substr(0, comma)) + "\"");
    }
    profiles.push_back(*profile);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return profiles;
}

void keep_unless_empty(std::string& option, const std::string& argument) {
  if (!argument.empty()) {
    option = argument;
  }
}

base::Result<std::string> text_of(const InstallArguments& arguments) {
  MW_TRY(mode, parse_install_mode(arguments.mode));
  MW_TRY(part, parse_install_part(arguments.part));
  const bool automatic = arguments.simulated_clouds == "auto";
  const std::string chosen = arguments.clouds.empty() ? "kwok" : "none";
  MW_TRY(simulated, parse_clouds(automatic ? chosen : arguments.simulated_clouds));
  InstallOptions options;
  options.mode = mode;
  options.part = part;
  options.namespace_ = arguments.namespace_;
  options.image = arguments.image;
  options.replicas = arguments.replicas;
  options.asking_port = arguments.asking_port;
  options.console = arguments.console;
  options.lease_namespace = arguments.lease_namespace;
  if (const auto problem = read_real_clouds(arguments.clouds, options.clouds); !problem.empty()) {
    return base::fail(base::ErrorKind::Invalid, "--clouds " + problem);
  }
  options.cluster_name = arguments.cluster_name;
  options.cluster_id = arguments.cluster_id;
  options.simulated_clouds = std::move(simulated);
  options.crds = !arguments.no_crds;
  keep_unless_empty(options.scheduler_image, arguments.scheduler_image);
  keep_unless_empty(options.cluster_ip, arguments.cluster_ip);
  keep_unless_empty(options.ca_data, arguments.ca_data);
  keep_unless_empty(options.client_cert_data, arguments.client_cert_data);
  keep_unless_empty(options.client_key_data, arguments.client_key_data);
  options.tls_directory = arguments.tls_directory;
  return install_text(options);
}

}  // namespace

int run_install(const InstallArguments& arguments) {
  const auto text = text_of(arguments);
  if (!text) {
    std::fprintf(stderr, "install: %s\n", text.error().message.c_str());
    return 2;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace millwright::app

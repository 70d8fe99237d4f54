// The command line. CLI11 is heavy to compile and stays in this file.

#include "app/cloud_command.hpp"
#include "app/controller_command.hpp"
#include "app/convert_command.hpp"
#include "app/install_command.hpp"
#include "app/sandbox_command.hpp"
#include "millwright/base/version.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/schema/schema.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace {

using namespace millwright;

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string crd_file_name(const schema::Kind& kind) {
  const auto& resource = schema::resource_of(kind);
  return std::string(resource.group) + "_" + std::string(resource.plural) + ".yaml";
}

int print_crds(const std::string& directory) {
  for (const auto* kind : schema::all_kinds()) {
    if (directory.empty()) {
      std::printf("---\n%s", schema::crd_yaml(*kind).c_str());
      continue;
    }
    const auto path = std::filesystem::path(directory) / crd_file_name(*kind);
    std::ofstream file(path, std::ios::trunc);
    file << schema::crd_yaml(*kind);
    if (!file.flush()) {
      std::fprintf(stderr, "crds: cannot write %s\n", path.c_str());
      return 1;
    }
  }
  return 0;
}

struct CertsArguments {
  std::string directory = ".";
  std::vector<std::string> names{"localhost"};
  int days = 90;
};

int make_certs(const CertsArguments& arguments) {
  certs::Policy policy;
  policy.dns_names = arguments.names;
  policy.leaf_life = std::chrono::hours(24) * arguments.days;
  const auto bundle = certs::reconcile(std::nullopt, policy, base::system_now());
  if (!bundle) {
    std::fprintf(stderr, "certs: %s\n", bundle.error().message.c_str());
    return 1;
  }
  const std::pair<const char*, const std::string*> files[] = {
      {"ca.crt", &bundle->ca.certificate_pem},
      {"ca.key", &bundle->ca.key_pem},
      {"tls.crt", &bundle->leaf.certificate_pem},
      {"tls.key", &bundle->leaf.key_pem}};
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

// Flags are collected as text; the settings table says what they mean, so that every problem is
// reported at once and in one form.
std::map<std::string, std::string> collect_flags(const std::vector<std::string>& extras) {
  std::map<std::string, std::string> flags;
  for (std::size_t i = 0; i < extras.size(); ++i) {
    std::string name = extras[i];
    name.erase(0, name.find_first_not_of('-') == std::string::npos ? name.size()
                                                                   : name.find_first_not_of('-'));
    const std::size_t equals = name.find('=');
    if (equals != std::string::npos) {
      flags[name.substr(0, equals)] = name.substr(equals + 1);
    } else if (i + 1 < extras.size() && !extras[i + 1].starts_with("--")) {
      flags[name] = extras[++i];
    } else {
      flags[name] = "true";
    }
  }
  return flags;
}

std::string settings_help() {
  std::string text = "Settings (flag, environment variable, default):\n";
  for (const auto& setting : app::setting_table()) {
    text += "  --" + std::string(setting.flag) + "  " + std::string(setting.environment) + "  [" +
            std::string(setting.default_text) + "]\n      " + std::string(setting.help) + "\n";
  }
  return text;
}

void add_cloud_options(CLI::App& command, app::CloudArguments& arguments) {
  command.add_option("--profile", arguments.profiles, "kwok, aws, alibaba or huawei; repeatable")
      ->capture_default_str();
  command.add_option("--port", arguments.port, "HTTP port on 127.0.0.1")->capture_default_str();
  command.add_option("--kubeconfig", arguments.kubeconfig, "the cluster that gets the Nodes")
      ->required();
  command.add_option("--launch", arguments.launch, "how long a launch takes, such as 30s");
  command.add_option("--boot", arguments.boot, "from the launch until the Node registers");
  command.add_option("--termination", arguments.termination, "how long a termination takes");
  command
      .add_option("--lost-replies", arguments.lost_replies,
                  "share of launches that succeed but are answered with a time-out")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--errors", arguments.errors, "share of calls that fail")
      ->check(CLI::Range(0.0, 1.0));
}

void add_convert_options(CLI::App& command, app::ConvertArguments& arguments) {
  command.add_option("-f,--file", arguments.file, "YAML with legacy objects; - for standard input")
      ->required();
  command.add_option("--node-role", arguments.node_role,
                     "IAM role of nodes whose template names no instance profile");
  command.add_option("--kubernetes-version", arguments.kubernetes_version,
                     "of the cluster, such as 1.33: AL2 has no image from there on");
}

void add_install_options(CLI::App& command, app::InstallArguments& arguments) {
  command
      .add_option("--mode", arguments.mode,
                  "extender: an existing kube-scheduler calls us; second-scheduler: a stock one of "
                  "our own; alone: none")
      ->capture_default_str();
  command.add_option("--namespace", arguments.namespace_, "where it lives")->capture_default_str();
  command.add_option("--image", arguments.image, "image of Millwright");
  command.add_option("--scheduler-image", arguments.scheduler_image,
                     "image of the second scheduler: the cluster's own minor version");
  command.add_option("--replicas", arguments.replicas, "one leads, the others stand by")
      ->capture_default_str();
  command.add_option("--leader-election-namespace", arguments.lease_namespace,
                     "namespace of the Lease; Karpenter's own makes the two take turns");
  command.add_option("--clouds", arguments.clouds, "real clouds: aws");
  command.add_option("--cluster-name", arguments.cluster_name, "name of the cluster; aws needs it");
  command
      .add_option("--simulated-clouds", arguments.simulated_clouds,
                  "clouds that exist only in memory, or none; auto: kwok unless --clouds is given")
      ->capture_default_str();
  command.add_flag("--no-crds", arguments.no_crds,
                   "without the definitions: what `kubectl delete -f -` may safely be given");
  command
      .add_option("--part", arguments.part,
                  "all, stanza (for an existing kube-scheduler), second-scheduler, opt-in-policy")
      ->capture_default_str();
  command.add_option("--cluster-ip", arguments.cluster_ip, "of the stanza: of Service millwright");
  command.add_option("--ca-data", arguments.ca_data,
                     "of the stanza: ca.crt of Secret millwright-certs, base64 as it stands there");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App cli("Millwright: a Kubernetes node autoscaler", "millwright");
  cli.require_subcommand(1);

  auto* controller = cli.add_subcommand("controller", "run beside a cluster");
  controller->allow_extras();
  controller->footer(settings_help);

  app::SandboxArguments sandbox_arguments;
  auto* sandbox =
      cli.add_subcommand("sandbox", "a whole cluster in this process, to try things on");
  sandbox->add_option("--story", sandbox_arguments.story,
                      "a story to run: a name, all, or list (to see their names)");
  sandbox->add_option("--examples", sandbox_arguments.examples, "folder of the example manifests")
      ->capture_default_str();
  sandbox->add_flag("--keep", sandbox_arguments.keep, "stay up after the story, for kubectl");
  sandbox->add_option("--speed", sandbox_arguments.speed, "seconds of its time per real second")
      ->check(CLI::Range(0.1, 1000.0))
      ->capture_default_str();
  sandbox->add_option("--seed", sandbox_arguments.seed, "seed of every chance")
      ->capture_default_str();
  sandbox
      ->add_option("--cloud", sandbox_arguments.profile,
                   "without a story: kwok, aws, alibaba or huawei")
      ->capture_default_str();
  sandbox->add_option("--kubeconfig", sandbox_arguments.kubeconfig, "where to write a kubeconfig");
  sandbox->add_flag("--verbose", sandbox_arguments.verbose, "print what the controllers log");

  std::string crd_directory;
  auto* crds = cli.add_subcommand("crds", "print the CustomResourceDefinitions");
  crds->add_option("--dir", crd_directory, "write one file per kind into this folder instead")
      ->check(CLI::ExistingDirectory);

  app::InstallArguments install_arguments;
  auto* install = cli.add_subcommand("install", "print the manifests for kubectl apply -f -");
  add_install_options(*install, install_arguments);

  app::ConvertArguments convert_arguments;
  auto* convert = cli.add_subcommand(
      "convert", "Provisioners and AWSNodeTemplates of a file as NodePools and EC2NodeClasses");
  add_convert_options(*convert, convert_arguments);

  CertsArguments certs_arguments;
  auto* certs = cli.add_subcommand("certs", "make a CA and a serving certificate as files");
  certs
      ->add_option("--dir", certs_arguments.directory,
                   "folder for ca.crt, ca.key, tls.crt, tls.key")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  certs->add_option("--name", certs_arguments.names, "DNS names of the certificate")
      ->capture_default_str();
  certs->add_option("--days", certs_arguments.days, "life of the certificate")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();

  app::CloudArguments cloud_arguments;
  auto* cloud = cli.add_subcommand(
      "cloud", "simulated clouds in a process of their own, for several controllers");
  add_cloud_options(*cloud, cloud_arguments);

  auto* version = cli.add_subcommand("version", "print the version");

  CLI11_PARSE(cli, argc, argv);
  if (*version) {
    std::printf("millwright %s\n", base::version());
    return 0;
  }
  if (*crds) {
    return print_crds(crd_directory);
  }
  if (*install) {
    return app::run_install(install_arguments);
  }
  if (*convert) {
    return app::run_convert(convert_arguments);
  }
  if (*certs) {
    return make_certs(certs_arguments);
  }
  if (*cloud) {
    return app::run_cloud(cloud_arguments);
  }
  if (*sandbox) {
    return app::run_sandbox(sandbox_arguments);
  }
  return app::run_controller(collect_flags(controller->remaining()), environment);
}

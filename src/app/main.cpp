// The command line. CLI11 is heavy to compile and stays in this file.

#include "app/commands/certs_command.hpp"
#include "app/commands/cloud_command.hpp"
#include "app/commands/console_command.hpp"
#include "app/commands/controller_command.hpp"
#include "app/commands/convert_command.hpp"
#include "app/commands/crds_command.hpp"
#include "app/commands/install_command.hpp"
#include "app/commands/sandbox_command.hpp"
#include "app/commands/why_command.hpp"
#include "app/recording/record_command.hpp"
#include "app/replay/replay_command.hpp"
#include "app/top/top_command.hpp"
#include "app/whatif/what_if_command.hpp"
#include "millwright/app/settings.hpp"
#include "millwright/base/version.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace {

namespace app = millwright::app;

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
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

// Runs the chosen subcommand; returns the exit status. Each add_* function below adds a subcommand
// that sets it when it is chosen.
using Run = std::function<int()>;

void add_controller(CLI::App& cli, Run& run) {
  auto* command = cli.add_subcommand("controller", "run beside a cluster");
  command->allow_extras();
  command->footer(app::settings_help);
  command->callback([command, &run] {
    run = [command] {
      return app::run_controller(collect_flags(command->remaining()), environment);
    };
  });
}

void add_sandbox(CLI::App& cli, Run& run) {
  const auto arguments = std::make_shared<app::SandboxArguments>();
  auto* command =
      cli.add_subcommand("sandbox", "a whole cluster in this process, to try things on");
  command->add_option("--story", arguments->story,
                      "a story to run: a name, all, or list (to see their names)");
  command->add_option("--examples", arguments->examples, "folder of the example manifests")
      ->capture_default_str();
  command->add_flag("--keep", arguments->keep, "stay up after the story, for kubectl");
  command->add_option("--speed", arguments->speed, "seconds of its time per real second")
      ->check(CLI::Range(0.1, 1000.0))
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "seed of every chance")->capture_default_str();
  command
      ->add_option("--cloud", arguments->profile, "without a story: kwok, aws, alibaba or huawei")
      ->capture_default_str();
  command->add_option("--kubeconfig", arguments->kubeconfig, "where to write a kubeconfig");
  command->add_flag("--verbose", arguments->verbose, "print what the controllers log");
  command->add_option("--decision-log", arguments->decision_log,
                      "file to which each decision is written, for `millwright why`");
  command->add_flag("--no-console{false}", arguments->console, "without the page for a browser");
  command->add_option("--console-port", arguments->console_port,
                      "port of that page on 127.0.0.1; 0: any free one");
  command->add_option("--asking-port", arguments->asking_port,
                      "port on 127.0.0.1 for `why --server`, `top` and `console`; 0: any free one");
  command->add_option("--metrics-port", arguments->metrics_port,
                      "port of /metrics on 127.0.0.1; 0: any free one");
  command->callback(
      [arguments, &run] { run = [arguments] { return app::run_sandbox(*arguments); }; });
}

void add_cloud(CLI::App& cli, Run& run) {
  const auto arguments = std::make_shared<app::CloudArguments>();
  auto* command = cli.add_subcommand(
      "cloud", "simulated clouds in a process of their own, for several controllers");
  command->add_option("--profile", arguments->profiles, "kwok, aws, alibaba or huawei; repeatable")
      ->capture_default_str();
  command->add_option("--port", arguments->port, "HTTP port on 127.0.0.1")->capture_default_str();
  command->add_option("--kubeconfig", arguments->kubeconfig, "the cluster that gets the Nodes")
      ->required();
  command->add_option("--launch", arguments->launch, "how long a launch takes, such as 30s");
  command->add_option("--boot", arguments->boot, "from the launch until the Node registers");
  command->add_option("--termination", arguments->termination, "how long a termination takes");
  command
      ->add_option("--lost-replies", arguments->lost_replies,
                   "share of launches that succeed but are answered with a time-out")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--errors", arguments->errors, "share of calls that fail")
      ->check(CLI::Range(0.0, 1.0));
  command->callback(
      [arguments, &run] { run = [arguments] { return app::run_cloud(*arguments); }; });
}

void add_convert(CLI::App& cli, Run& run) {
  const auto arguments = std::make_shared<app::ConvertArguments>();
  auto* command = cli.add_subcommand(
      "convert",
      "Provisioners and AWSNodeTemplates of a file as NodePools and EC2NodeClasses, and "
      "ECSNodeClasses of Alibaba Cloud's own provider as those of karpenter.k8s.alibabacloud");
  command->add_option("-f,--file", arguments->file, "YAML to convert; - for standard input")
      ->required();
  command->add_option("--node-role", arguments->node_role,
                      "IAM role of nodes whose template names no instance profile");
  command->add_option("--kubernetes-version", arguments->kubernetes_version,
                      "of the cluster, such as 1.33: AL2 has no image from there on");
  command->add_option("--ecs-group", arguments->ecs_group,
                      "API group that ECSNodeClasses get: karpenter.k8s.alibabacloud (when absent) "
                      "or karpenter.alibabacloud.com, to go back");
  command->callback(
      [arguments, &run] { run = [arguments] { return app::run_convert(*arguments); }; });
}

void add_install(CLI::App& cli, Run& run) {
  const auto arguments = std::make_shared<app::InstallArguments>();
  auto* command = cli.add_subcommand("install", "print the manifests for kubectl apply -f -");
  command
      ->add_option("--mode", arguments->mode,
                   "extender: an existing kube-scheduler calls us; second-scheduler: a stock one "
                   "of our own; alone: none")
      ->capture_default_str();
  command->add_option("--namespace", arguments->namespace_, "where it lives")
      ->capture_default_str();
  command->add_option("--image", arguments->image, "image of Millwright");
  command->add_option("--scheduler-image", arguments->scheduler_image,
                      "image of the second scheduler: the cluster's own minor version");
  command->add_option("--replicas", arguments->replicas, "one leads, the others stand by")
      ->capture_default_str();
  command->add_option("--asking-port", arguments->asking_port,
                      "port that answers `why --server`, with the roles for it, such as 8445");
  command->add_flag("--console", arguments->console,
                    "serve the page of `millwright console` on that port, too");
  command->add_option("--leader-election-namespace", arguments->lease_namespace,
                      "namespace of the Lease; Karpenter's own makes the two take turns");
  command->add_option("--clouds", arguments->clouds,
                      "real clouds: aws, alibaba, huawei, with commas between");
  command->add_option("--cluster-name", arguments->cluster_name,
                      "name of the cluster; aws needs it");
  command->add_option("--cluster-id", arguments->cluster_id,
                      "id of the ACK cluster; alibaba needs it");
  command
      ->add_option("--simulated-clouds", arguments->simulated_clouds,
                   "clouds that exist only in memory, or none; auto: kwok unless --clouds is given")
      ->capture_default_str();
  command->add_flag("--no-crds", arguments->no_crds,
                    "without the definitions: what `kubectl delete -f -` may safely be given");
  command
      ->add_option("--part", arguments->part,
                   "all, stanza (for an existing kube-scheduler), second-scheduler, opt-in-policy, "
                   "reader (the role of `record` and `controller --shadow`)")
      ->capture_default_str();
  command->add_option("--cluster-ip", arguments->cluster_ip,
                      "of the stanza: of Service millwright-extender");
  command->add_option(
      "--ca-data", arguments->ca_data,
      "of the stanza: ca.crt of Secret millwright-certs, base64 as it stands there");
  command->add_option("--client-cert-data", arguments->client_cert_data,
                      "of the stanza: client.crt of the same Secret");
  command->add_option("--client-key-data", arguments->client_key_data,
                      "of the stanza: client.key of the same Secret");
  command->add_option("--tls-dir", arguments->tls_directory,
                      "of the stanza, in place of the data: where kube-scheduler finds ca.crt, "
                      "client.crt and client.key");
  command->callback(
      [arguments, &run] { run = [arguments] { return app::run_install(*arguments); }; });
}

void add_crds(CLI::App& cli, Run& run) {
  const auto directory = std::make_shared<std::string>();
  auto* command = cli.add_subcommand("crds", "print the CustomResourceDefinitions");
  command->add_option("--dir", *directory, "write one file per kind into this folder instead")
      ->check(CLI::ExistingDirectory);
  command->callback([directory, &run] { run = [directory] { return app::run_crds(*directory); }; });
}

void add_certs(CLI::App& cli, Run& run) {
  const auto arguments = std::make_shared<app::CertsArguments>();
  auto* command =
      cli.add_subcommand("certs", "make a CA, a serving and a client certificate as files");
  command
      ->add_option("--dir", arguments->directory,
                   "folder for ca.crt, tls.crt and client.crt, each with its .key")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  command->add_option("--name", arguments->names, "DNS names of the certificate")
      ->capture_default_str();
  command->add_option("--days", arguments->days, "life of the certificate")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  command->callback(
      [arguments, &run] { run = [arguments] { return app::run_certs(*arguments); }; });
}

CLI::Option* add_server(CLI::App& to, app::RemoteServer& server) {
  return to.add_option("--server", server.url, "https://HOST:PORT of a controller's --asking-port");
}

// Who asks the server.
void add_caller(CLI::App& command, app::RemoteServer& server) {
  command.add_option("--kubeconfig", server.kubeconfig,
                     "with --server: whose user asks; default: $KUBECONFIG, then ~/.kube/config");
  command.add_option("--context", server.context, "of the kubeconfig");
  command.add_option("--token-file", server.token_file,
                     "with --server: a file with the token, in place of a kubeconfig");
  command.add_option("--certificate-authority", server.certificate_authority,
                     "with --server: file with its CA, ca.crt of Secret millwright-certs");
}

void add_why(CLI::App& cli, Run& run) {
  const auto arguments = std::make_shared<app::WhyArguments>();
  auto* command =
      cli.add_subcommand("why", "why a pod waits, a node stays or goes, and what would change it");
  command->add_option("kind", arguments->kind, "pod, node, nodeclaim or nodepool")->required();
  command->add_option("name", arguments->name, "its name; of a pod also namespace/name")
      ->required();
  command->add_option("-n,--namespace", arguments->namespace_, "of the pod")->capture_default_str();
  auto* from = command->add_option_group("from", "where the answer comes from");
  from->add_option("--decisions", arguments->decisions,
                   "what --decision-log wrote, or a log with it; - for standard input");
  add_server(*from, arguments->server);
  from->require_option(1);
  add_caller(*command, arguments->server);
  command->add_option("-o,--output", arguments->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([arguments, &run] { run = [arguments] { return app::run_why(*arguments); }; });
}

void add_top(CLI::App& cli, Run& run) {
  const auto arguments = std::make_shared<app::TopArguments>();
  auto* command = cli.add_subcommand(
      "top",
      "nodes by pool, their price and fill, and the pods that wait, of a running controller");
  add_server(*command, arguments->server)->required();
  add_caller(*command, arguments->server);
  command
      ->add_option("--sort", arguments->sort,
                   "nodes by name, pool, state, price, cpu, memory, pods, kept or age")
      ->capture_default_str();
  command->add_option("--pool", arguments->node_pool, "only the nodes of this NodePool");
  command->add_flag("--once", arguments->once,
                    "print one table and end, as without a terminal; else q ends it");
  command->add_option("--interval", arguments->interval, "seconds between two tables")
      ->check(CLI::Range(0.5, 3600.0))
      ->capture_default_str();
  command->add_option("-o,--output", arguments->output, "text, or json for one view")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([arguments, &run] { run = [arguments] { return app::run_top(*arguments); }; });
}

void add_console(CLI::App& cli, Run& run) {
  const auto arguments = std::make_shared<app::ConsoleArguments>();
  auto* command = cli.add_subcommand(
      "console", "the page of a running controller, for a browser on this machine");
  add_server(*command, arguments->server)->required();
  add_caller(*command, arguments->server);
  command->add_option("--port", arguments->port, "on 127.0.0.1; 0: any free one");
  command->callback(
      [arguments, &run] { run = [arguments] { return app::run_console(*arguments); }; });
}

// Its words are its own language: options of one change must not be taken for another's.
void add_what_if(CLI::App& cli, Run& run) {
  auto* command = cli.add_subcommand(
      "what-if", "what an edit, a drain, a price, more replicas or a lost zone would do");
  command->prefix_command();
  command->footer(app::what_if_usage);
  command->callback(
      [command, &run] { run = [command] { return app::run_what_if(command->remaining()); }; });
}

void add_record(CLI::App& cli, Run& run) {
  const auto arguments = std::make_shared<app::RecordArguments>();
  auto* command = cli.add_subcommand(
      "record", "write what happens in a cluster to a file, reading only, for `millwright replay`");
  command->add_option("--output", arguments->output, "the file, a new one; - for standard output")
      ->required();
  command->add_option("--duration", arguments->duration,
                      "ends after so long, such as 24h; default: when it is interrupted");
  command->add_flag("--hash-names", arguments->hash_names,
                    "hide names, namespaces and values of labels behind keyed hashes");
  command->add_option("--max-megabytes", arguments->most_megabytes, "ends at this size")
      ->check(CLI::Range(1, 1'048'576))
      ->capture_default_str();
  command->add_option("--kubeconfig", arguments->kubeconfig,
                      "default: the service account of a pod, else $KUBECONFIG, ~/.kube/config");
  command->add_option("--context", arguments->context, "of the kubeconfig");
  command->callback([arguments, &run] {
    run = [arguments] { return app::run_record(*arguments, environment); };
  });
}

void add_replay(CLI::App& cli, Run& run) {
  const auto arguments = std::make_shared<app::ReplayArguments>();
  auto* command = cli.add_subcommand(
      "replay", "run a recorded day again with Millwright, in virtual time, and compare");
  command
      ->add_option("recording", arguments->request.recording,
                   "what `millwright record` wrote; - for standard input")
      ->required();
  command->add_option("--nodepools", arguments->request.node_pools,
                      "file with NodePools and NodeClasses that take the place of those recorded");
  command->add_option("--svg", arguments->svg, "file for a picture of nodes, price and waiting");
  command->add_option("--decision-log", arguments->decision_log,
                      "file to which each decision is written, for `millwright why`");
  command->add_option("--seed", arguments->request.seed, "seed of every chance")
      ->capture_default_str();
  command
      ->add_option("--simulated-clouds", arguments->request.clouds,
                   "kwok, aws, alibaba, huawei: whose catalogs; default: those of the NodeClasses")
      ->delimiter(',');
  command->add_option("--instance-types-file-path", arguments->request.instance_types_file,
                      "catalog in place of kwok's own");
  command->add_option("-o,--output", arguments->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback(
      [arguments, &run] { run = [arguments] { return app::run_replay(*arguments); }; });
}

// kubectl runs a plugin under this name: kubectl millwright why ...
std::string program_name(std::string_view path) {
  const auto file = path.substr(path.rfind('/') + 1);
  return file.starts_with("kubectl-millwright") ? "kubectl millwright" : "millwright";
}

void add_settings(CLI::App& cli, Run& run) {
  auto* command =
      cli.add_subcommand("settings", "print the reference of all settings, docs/settings.md");
  command->callback([&run] {
    run = [] {
      std::fputs(app::settings_reference().c_str(), stdout);
      return 0;
    };
  });
}

void add_version(CLI::App& cli, Run& run) {
  auto* command = cli.add_subcommand("version", "print the version");
  command->callback([&run] {
    run = [] {
      std::printf("millwright %s\n", millwright::base::version());
      return 0;
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App cli("Millwright: a Kubernetes node autoscaler",
               program_name(argc > 0 ? argv[0] : "millwright"));
  cli.require_subcommand(1);
  Run run;
  add_controller(cli, run);
  add_sandbox(cli, run);
  add_crds(cli, run);
  add_install(cli, run);
  add_convert(cli, run);
  add_certs(cli, run);
  add_cloud(cli, run);
  add_why(cli, run);
  add_top(cli, run);
  add_console(cli, run);
  add_what_if(cli, run);
  add_record(cli, run);
  add_replay(cli, run);
  add_settings(cli, run);
  add_version(cli, run);
  CLI11_PARSE(cli, argc, argv);
  return run();
}

#include "plane/runner/controller.hpp"

#include "millwright/base/base64.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>

namespace millwright::plane {
namespace {

constexpr auto kControllerStartLimit = seconds(30);
constexpr int kControllerAttempts = 3;

// An address that no replica really has: the API server takes no loopback address as an endpoint.
constexpr std::string_view kPodAddress = "10.255.0.1";

// The parts of an installation that say who may do what, and the Service that needs no pods.
bool is_wanted(const json::value& object) {
  const std::string kind = text_at(object, "/kind");
  return kind == "Namespace" || kind == "ServiceAccount" ||
         kind.starts_with("ValidatingAdmissionPolicy") ||
         text_at(object, "/apiVersion").starts_with("rbac.") ||
         (kind == "Service" && text_at(object, "/metadata/name") == "millwright-extender");
}

}  // namespace

base::Result<> apply_crds(Plane& plane) {
  const Output applied = plane.apply(SOURCE_ROOT "/manifests/crds");
  if (applied.exit_code != 0) {
    return base::fail(base::ErrorKind::Invalid, "the CRDs cannot be applied: " + applied.text);
  }
  const Output established =
      plane.kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"});
  if (established.exit_code != 0) {
    return base::fail(base::ErrorKind::Timeout, established.text);
  }
  return {};
}

base::Result<std::unique_ptr<Process>> start_millwright(Plane& plane,
                                                        const std::vector<std::string>& arguments) {
  static int runs = 0;
  ProcessSpec spec;
  spec.program = MILLWRIGHT_PROGRAM;
  spec.arguments = arguments;
  spec.log = fmt::format("{}/command-{}.log", plane.directory(), ++runs);
  return Process::start(std::move(spec));
}

Output run_millwright(Plane& plane, const std::vector<std::string>& arguments) {
  const auto process = start_millwright(plane, arguments);
  if (!process) {
    return {.exit_code = -1, .text = process.error().message};
  }
  const auto exit_code = (*process)->wait(milliseconds(30'000));
  return {.exit_code = exit_code.value_or(-1), .text = (*process)->log_text()};
}

base::Result<std::string> install_text(Plane& plane, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"install"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  Output output = run_millwright(plane, all);
  if (output.exit_code != 0) {
    return base::fail(base::ErrorKind::Invalid, "millwright install: " + output.text);
  }
  return std::move(output.text);
}

base::Result<std::vector<json::value>> install_objects(Plane& plane,
                                                       const std::vector<std::string>& arguments) {
  MW_TRY(text, install_text(plane, arguments));
  return model::parse_yaml(text);
}

base::Result<> install_account(Plane& plane, const std::string& mode) {
  const std::string account =
      fmt::format("/api/v1/namespaces/{}/serviceaccounts/millwright", kNamespace);
  if (plane.call("GET", account).status == 200) {
    return {};
  }
  MW_TRY(objects, install_objects(plane, {"--no-crds", "--mode=" + mode,
                                          "--simulated-clouds=kwok,aws,alibaba,huawei"}));
  json::array items;
  std::copy_if(objects.begin(), objects.end(), std::back_inserter(items), is_wanted);
  const json::object list{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
  const Output applied = plane.kubectl({"apply", "-f", "-"}, json::serialize(list));
  if (applied.exit_code != 0) {
    return base::fail(base::ErrorKind::Invalid, "the account cannot be made: " + applied.text);
  }
  return {};
}

base::Result<std::unique_ptr<CloudProcess>> CloudProcess::start(Plane& plane,
                                                                std::vector<std::string> flags) {
  std::unique_ptr<CloudProcess> cloud(new CloudProcess());
  cloud->loop_ = std::make_unique<base::RealLoop>();
  cloud->client_ = net::make_client(*cloud->loop_);
  for (int attempt = 0; attempt < kControllerAttempts; ++attempt) {
    const int port = free_port();
    cloud->url_ = fmt::format("http://127.0.0.1:{}", port);
    std::vector<std::string> arguments{"cloud", "--profile=kwok",
                                       "--kubeconfig=" + plane.kubeconfig(),
                                       fmt::format("--port={}", port)};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    MW_TRY(process, Process::start({.program = MILLWRIGHT_PROGRAM,
                                    .arguments = std::move(arguments),
                                    .environment = {},
                                    .log = plane.directory() + "/cloud.log",
                                    .input = {},
                                    .append_log = true}));
    cloud->process_ = std::move(process);
    const bool up = wait_until(kControllerStartLimit, [&] {
      return !cloud->process_->running() || cloud->call("list").has_value();
    });
    if (up && cloud->process_->running()) {
      return cloud;
    }
  }
  return base::fail(base::ErrorKind::Unavailable,
                    "millwright cloud did not come up; it said:\n" + cloud->process_->log_tail());
}

base::Result<std::string> CloudProcess::call(const std::string& verb) {
  net::ClientRequest request;
  request.method = "POST";
  request.url = url_ + "/kwok/" + verb;
  request.body = "{}";
  MW_TRY(response, client_->send_blocking(std::move(request)));
  if (response.status != 200) {
    return base::fail(base::ErrorKind::Unavailable, response.body);
  }
  return response.body;
}

std::vector<json::value> CloudProcess::instances() {
  const auto listed = call("list");
  if (!listed) {
    return {};
  }
  const auto answer = json::parse(*listed);
  const auto* instances = answer.as_object().if_contains("instances");
  return instances == nullptr
             ? std::vector<json::value>{}
             : std::vector<json::value>(instances->as_array().begin(), instances->as_array().end());
}

base::Result<std::unique_ptr<Controller>> Controller::start(Plane& plane,
                                                            ControllerOptions options) {
  std::unique_ptr<Controller> controller(new Controller(plane));
  controller->loop_ = std::make_unique<base::RealLoop>();
  controller->client_ = net::make_client(*controller->loop_);
  auto installed = install_account(plane, options.mode);
  if (!installed) {
    return tl::unexpected(std::move(installed).error());
  }
  std::string kubeconfig = options.kubeconfig;
  if (kubeconfig.empty()) {
    MW_TRY(own, plane.kubeconfig_of_account(std::string(kNamespace), "millwright"));
    kubeconfig = std::move(own);
  }
  auto environment = options.environment;
  environment.emplace("POD_NAMESPACE", kNamespace);
  environment.emplace("POD_IP", kPodAddress);
  environment.emplace("SCHEDULER_WIRING", options.mode);
  std::string said;
  for (int attempt = 0; attempt < kControllerAttempts; ++attempt) {
    controller->serving_port_ = free_port();
    controller->extender_port_ = free_port();
    controller->metrics_port_ = free_port();
    controller->health_port_ = free_port();
    std::vector<std::string> arguments{
        "controller", "--kubeconfig=" + kubeconfig, "--bind-address=127.0.0.1",
        "--simulated-clouds=" + options.clouds,
        fmt::format("--serving-port={}", controller->serving_port_),
        fmt::format("--extender-port={}", controller->extender_port_),
        fmt::format("--metrics-port={}", controller->metrics_port_),
        fmt::format("--health-probe-port={}", controller->health_port_), "--log-format=text",
        // MILLWRIGHT_TEST_LOG=1 shows how the controllers came to it.
        std::string("--log-level=") +
            (std::getenv("MILLWRIGHT_TEST_LOG") == nullptr ? "info" : "debug")};
    if (!options.cloud_url.empty()) {
      arguments.push_back("--simulated-cloud-url=" + options.cloud_url);
    }
    arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
    MW_TRY(process, Process::start({.program = MILLWRIGHT_PROGRAM,
                                    .arguments = std::move(arguments),
                                    .environment = environment,
                                    .log = plane.directory() + "/" + options.name + ".log",
                                    .input = {},
                                    .append_log = true}));
    controller->process_ = std::move(process);
    const bool up = wait_until(kControllerStartLimit, [&] {
      return !controller->process_->running() || controller->ready();
    });
    if (up && controller->process_->running()) {
      return controller;
    }
    said = controller->process_->log_tail();
  }
  return base::fail(base::ErrorKind::Unavailable,
                    "millwright controller did not get ready; it said:\n" + said);
}

base::Result<std::string> Controller::get(int port, const std::string& path) {
  net::ClientRequest request;
  request.url = fmt::format("http://127.0.0.1:{}{}", port, path);
  MW_TRY(response, client_->send_blocking(std::move(request)));
  if (response.status != 200) {
    return base::fail(base::ErrorKind::Unavailable, response.body);
  }
  return response.body;
}

bool Controller::ready() {
  return get(health_port_, "/readyz").has_value();
}

std::string Controller::metrics() {
  return get(metrics_port_, "/metrics").value_or("");
}

double Controller::metric(const std::string& name, const std::string& labels) {
  std::istringstream lines(metrics());
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string rest = line.starts_with(name) ? line.substr(name.size()) : std::string();
    if ((rest.starts_with("{") || rest.starts_with(" ")) &&
        rest.find(labels) != std::string::npos) {
      sum += std::strtod(rest.substr(rest.rfind(' ') + 1).c_str(), nullptr);
    }
  }
  return sum;
}

std::string Controller::certificate(const std::string& key) {
  const Answer secret =
      plane_.call("GET", fmt::format("/api/v1/namespaces/{}/secrets/millwright-certs", kNamespace));
  return text_at(secret.body, "/data/" + key);
}

net::ClientTls Controller::scheduler_tls() {
  net::ClientTls tls;
  tls.ca_pem = base::decode_base64(certificate("ca.crt")).value_or("");
  tls.certificate_pem = base::decode_base64(certificate("client.crt")).value_or("");
  tls.key_pem = base::decode_base64(certificate("client.key")).value_or("");
  return tls;
}

base::Result<std::string> Controller::ask_extender(const std::string& verb,
                                                   const json::value& arguments) {
  if (extender_client_ == nullptr) {
    extender_client_ = net::make_client(*loop_, scheduler_tls());
  }
  net::ClientRequest request;
  request.method = "POST";
  request.url = fmt::format("https://127.0.0.1:{}/scheduler/{}", extender_port_, verb);
  request.body = json::serialize(arguments);
  request.headers.set("Content-Type", "application/json");
  MW_TRY(response, extender_client_->send_blocking(std::move(request)));
  if (response.status != 200) {
    return base::fail(base::ErrorKind::Unavailable, response.body);
  }
  return response.body;
}

std::string Controller::extender(int port) {
  const json::object stanza{{"urlPrefix", fmt::format("https://127.0.0.1:{}/scheduler",
                                                      port == 0 ? extender_port_ : port)},
                            {"filterVerb", "filter"},
                            {"prioritizeVerb", "prioritize"},
                            {"preemptVerb", "preempt"},
                            {"weight", 3},
                            {"enableHTTPS", true},
                            {"tlsConfig", json::object{{"caData", certificate("ca.crt")},
                                                       {"certData", certificate("client.crt")},
                                                       {"keyData", certificate("client.key")}}},
                            {"httpTimeout", "2s"},
                            {"nodeCacheCapable", true},
                            {"ignorable", true}};
  return json::serialize(json::array{stanza});
}

base::Result<> Controller::register_webhooks(const std::string& failure_policy) {
  MW_TRY(objects, install_objects(plane_, {"--no-crds"}));
  for (auto& object : objects) {
    if (!text_at(object, "/kind").ends_with("WebhookConfiguration")) {
      continue;
    }
    for (auto& webhook : object.at("webhooks").as_array()) {
      auto& own = webhook.as_object();
      const std::string path = text_at(webhook, "/clientConfig/service/path");
      own["failurePolicy"] = failure_policy;
      own["clientConfig"] =
          json::object{{"url", fmt::format("https://127.0.0.1:{}{}", serving_port_, path)},
                       {"caBundle", certificate("ca.crt")}};
    }
    const Output applied = plane_.kubectl({"apply", "-f", "-"}, json::serialize(object));
    if (applied.exit_code != 0) {
      return base::fail(base::ErrorKind::Invalid, applied.text);
    }
  }
  return {};
}

}  // namespace millwright::plane
